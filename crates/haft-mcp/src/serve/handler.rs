//! The server as `rmcp` drives it: one handler per session, or per request where there are no sessions.
//!
//! rmcp never answers a request whose handler panics, so no panic reaches it.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use haft_core::Decider;
use haft_executor::ToolSource;
use http::request::Parts;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest, CompleteRequest,
    CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult, ErrorData, Extensions,
    GetPromptRequest, GetPromptRequestParams, GetPromptResponse, ListPromptsRequest, ListPromptsResult,
    ListResourceTemplatesRequest, ListResourceTemplatesResult, ListResourcesRequest, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig, ServerResult, SetLevelRequestParams, SubscribeRequest, SubscribeRequestParams, SubscriptionFilter,
    Tool, UnsubscribeRequest, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::access::CallerAccess;
use super::call;
use super::client_link::LogLevel;
use super::http::current_access;
use super::server_state::ServerState;

/// A connection, a session or a request.
pub(super) struct ServedHandler {
    server: Arc<ServerState>,
    from: RequestOrigin,
    /// The party that decides about approvals, unless a rule says otherwise.
    decider: Decider,
    /// The least level of log messages that a client of the old era has asked for.
    level: Mutex<LogLevel>,
    /// Cancelled with the session.
    ended: CancellationToken,
    _ends: DropGuard,
}

/// The place that says who a request is from.
#[derive(Clone, Debug)]
pub(super) enum RequestOrigin {
    /// The connection: all its requests are from one caller.
    Connection(CallerAccess),
    /// The HTTP request.
    Http,
}

impl ServedHandler {
    pub(super) fn new(server: Arc<ServerState>, from: RequestOrigin, decider: Decider) -> Self {
        let ended = server.lifecycle.ended().child_token();
        let ends = ended.clone().drop_guard();
        Self { server, from, decider, level: Mutex::new(LogLevel::Info), ended, _ends: ends }
    }

    fn access(&self, extensions: &Extensions) -> Result<CallerAccess, ErrorData> {
        let access = match &self.from {
            RequestOrigin::Connection(access) => Some(access.clone()),
            RequestOrigin::Http => extensions.get::<Parts>().and_then(|parts| parts.extensions.get().cloned()),
        };
        access.ok_or_else(|| ErrorData::invalid_request("the request is from nobody known", None))
    }

    fn level(&self) -> LogLevel {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn page(&self, cursor: Option<&str>, access: &CallerAccess) -> Result<ListToolsResult, ErrorData> {
        let server = &self.server;
        let page = server.tools().page(cursor, server.page_size, &server.options_of(access))?;
        let mut listed = ListToolsResult::with_all_items(page.tools);
        listed.next_cursor = page.next;
        listed.ttl_ms = Some(u64::try_from(server.ttl.as_millis()).unwrap_or(u64::MAX));
        let is_public = page.is_complete_view && !server.has_callers;
        listed.cache_scope = Some(if is_public { CacheScope::Public } else { CacheScope::Private });
        Ok(listed)
    }

    /// Passes a request on to the application's handler.
    async fn beside(
        &self,
        request: impl Into<ClientRequest>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let beside = Arc::clone(&self.server.beside);
        caught(beside.request(request.into(), cx)).await
    }

    async fn notify_beside(&self, notification: impl Into<ClientNotification>, cx: NotificationContext<RoleServer>) {
        let noticed = Arc::clone(&self.server.beside).notify(notification.into(), cx);
        drop(AssertUnwindSafe(noticed).catch_unwind().await);
    }

    /// Tells a client of the old era about changes of the tools, until its session ends.
    fn watch(&self, cx: &NotificationContext<RoleServer>) {
        let (source, peer, ended) = (Arc::clone(&self.server.source), cx.peer.clone(), self.ended.clone());
        tokio::spawn(async move {
            let mut seen = source.snapshot().generation();
            loop {
                tokio::select! {
                    () = ended.cancelled() => return,
                    () = source.changed(seen) => {}
                }
                seen = source.snapshot().generation();
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Runs what must not panic.
async fn caught<T>(answering: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    AssertUnwindSafe(answering).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!("a request was not answered because of a panic");
        Err(ErrorData::internal_error("internal error", None))
    })
}

fn unexpected() -> ErrorData {
    ErrorData::internal_error("the handler gave another answer than was asked for", None)
}

/// Passes requests on that the application's handler answers.
macro_rules! beside {
    ($($method:ident($params:ty, $request:ident) -> $answer:ty { $($result:ident)|+ })*) => {
        $(async fn $method(&self, params: $params, cx: RequestContext<RoleServer>) -> Result<$answer, ErrorData> {
            match self.beside($request::new(params), cx).await? {
                $(ServerResult::$result(answer) => Ok(answer.into()),)+
                _ => Err(unexpected()),
            }
        })*
    };
}

fn listing<P, R: Default>(params: Option<P>, with_param: impl Fn(P) -> R) -> R {
    params.map_or_else(R::default, with_param)
}

impl ServerHandler for ServedHandler {
    fn get_info(&self) -> ServerConfig {
        self.server.config.clone()
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = params.and_then(|params| params.cursor);
        caught(async { self.page(cursor.as_deref(), &self.access(&cx.extensions)?) }).await
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answering = async {
            let access = self.access(&cx.extensions)?;
            call::call(&self.server, &access, self.decider, Some(self.level()), params, &cx).await
        };
        caught(answering).await
    }

    /// Returns a definition for the check of headers. It is asked within the request alone, and only for its caller.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let access = current_access()?;
        let tools = self.server.tools();
        tools.find(name, &self.server.options_of(&access)).map(|tool| tool.definition.clone())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = self.server.beside.accepts(requested).unwrap_or_default();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let access = self.access(&subscription.request_context().extensions)?;
        let _slot = self.server.admit_stream(&access).map_err(|_| {
            ErrorData::new(rmcp::model::ErrorCode(-32000), "you have as many subscriptions as you may have", None)
        })?;
        let (source, sink) = (Arc::clone(&self.server.source), subscription.sink().clone());
        let cancelled = subscription.request_context().ct.clone();
        let tools = async {
            let mut seen = source.snapshot().generation();
            while subscription_has_tools(&sink) {
                source.changed(seen).await;
                seen = source.snapshot().generation();
                if sink.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
            std::future::pending::<()>().await;
        };
        let beside = async {
            let listening = Arc::clone(&self.server.beside).listens(subscription);
            drop(AssertUnwindSafe(listening).catch_unwind().await);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = tools => {}
            () = beside => {}
            () = cancelled.cancelled() => {}
            () = self.server.lifecycle.closing() => {}
        }
        Ok(())
    }

    async fn set_level(&self, params: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = params.level.into();
        Ok(())
    }

    beside! {
        complete(CompleteRequestParams, CompleteRequest) -> CompleteResult { CompleteResult }
        get_prompt(GetPromptRequestParams, GetPromptRequest) -> GetPromptResponse { GetPromptResult | InputRequiredResult }
        read_resource(ReadResourceRequestParams, ReadResourceRequest) -> ReadResourceResponse { ReadResourceResult | InputRequiredResult }
    }

    async fn list_prompts(
        &self,
        params: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        match self.beside(listing(params, ListPromptsRequest::with_param), cx).await? {
            ServerResult::ListPromptsResult(listed) => Ok(listed),
            _ => Err(unexpected()),
        }
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        match self.beside(listing(params, ListResourcesRequest::with_param), cx).await? {
            ServerResult::ListResourcesResult(listed) => Ok(listed),
            _ => Err(unexpected()),
        }
    }

    async fn list_resource_templates(
        &self,
        params: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        match self.beside(listing(params, ListResourceTemplatesRequest::with_param), cx).await? {
            ServerResult::ListResourceTemplatesResult(listed) => Ok(listed),
            _ => Err(unexpected()),
        }
    }

    async fn subscribe(&self, params: SubscribeRequestParams, cx: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.beside(SubscribeRequest::new(params), cx).await.map(drop)
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.beside(UnsubscribeRequest::new(params), cx).await.map(drop)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        match self.beside(request, cx).await? {
            ServerResult::CustomResult(answer) => Ok(answer),
            _ => Err(unexpected()),
        }
    }

    async fn on_custom_notification(&self, notification: CustomNotification, cx: NotificationContext<RoleServer>) {
        self.notify_beside(notification, cx).await;
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        self.watch(&cx);
        self.notify_beside(rmcp::model::InitializedNotification::default(), cx).await;
    }
}

fn subscription_has_tools(sink: &rmcp::service::SubscriptionSink) -> bool {
    sink.accepted().tools_list_changed == Some(true)
}
