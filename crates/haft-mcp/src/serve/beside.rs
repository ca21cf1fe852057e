//! The application's own handler, for everything that is no tool: prompts, resources, completion.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::{ClientNotification, ClientRequest, ErrorData, ServerConfig, ServerResult, SubscriptionFilter};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler, Service};

/// A handler of rmcp with its type erased.
pub(super) trait Beside: Send + Sync {
    fn config(&self) -> ServerConfig;
    fn accepts(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter>;
    fn listens(self: Arc<Self>, subscription: SubscriptionContext) -> BoxFuture<'static, Result<(), ErrorData>>;
    fn request(
        self: Arc<Self>,
        request: ClientRequest,
        cx: RequestContext<RoleServer>,
    ) -> BoxFuture<'static, Result<ServerResult, ErrorData>>;
    fn notify(
        self: Arc<Self>,
        notification: ClientNotification,
        cx: NotificationContext<RoleServer>,
    ) -> BoxFuture<'static, ()>;
}

/// The handler of an application that has none.
pub(super) struct Alone;

impl ServerHandler for Alone {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(rmcp::model::ServerCapabilities::default())
    }
}

impl<H: ServerHandler> Beside for H {
    fn config(&self) -> ServerConfig {
        ServerHandler::get_info(self)
    }

    fn accepts(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.accepted_subscription_filter(requested)
    }

    fn listens(self: Arc<Self>, subscription: SubscriptionContext) -> BoxFuture<'static, Result<(), ErrorData>> {
        Box::pin(async move { self.listen(subscription).await })
    }

    fn request(
        self: Arc<Self>,
        request: ClientRequest,
        cx: RequestContext<RoleServer>,
    ) -> BoxFuture<'static, Result<ServerResult, ErrorData>> {
        Box::pin(async move { self.handle_request(request, cx).await })
    }

    fn notify(
        self: Arc<Self>,
        notification: ClientNotification,
        cx: NotificationContext<RoleServer>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(async move { drop(self.handle_notification(notification, cx).await) })
    }
}
