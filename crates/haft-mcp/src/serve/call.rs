//! The way of one `tools/call`.
//!
//! ```text
//! name ─> visible? ─> limits ─> state? ─┬─ none: a new run, or the earlier one that approvers have decided about
//!                                       └─ opened: the run that waited, with the client's answers
//!         ┌─────────────────────────────────┘
//!         └─> run ─┬─ done: the result
//!                  ├─ suspended: the client is asked, or approvers are
//!                  └─ asks: the run is kept in memory, and the client is asked
//! ```
//!
//! Everything that decides about a call is in its run. This only chooses whom to ask.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use haft_core::{ApprovalId, Decider, FailureKind, RunId, ToolFailure, Verdict};
use haft_executor::{ApprovalAnswer, Cancellation, Dispatch, Run, RunOptions, Suspended};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, InputRequest, InputRequests,
    InputRequiredResult, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::access::CallerAccess;
use super::approvers::{CallKey, EarlierRun, PendingRun};
use super::asking::{CallApprover, decider};
use super::client_link::{LogLevel, ServedClient};
use super::form::Form;
use super::listing::{ServedTool, ServedTools};
use super::live_call::{LiveCall, Step};
use super::reply::{self, ReplyForm};
use super::server_state::ServerState;
use super::state::{InvalidState, StateBinding};

/// The kind of a call that somebody else has to approve.
const APPROVAL_PENDING: &str = "approval_pending";
/// The kind of a call that a server does not take because it ends.
const SHUTTING_DOWN: &str = "shutting_down";

/// A call of a client.
struct IncomingCall<'a> {
    server: &'a Arc<ServerState>,
    access: &'a CallerAccess,
    options: RunOptions,
    tools: &'a ServedTools,
    tool: &'a ServedTool,
    arguments: Value,
    form: ReplyForm,
    decider: Decider,
    is_modern: bool,
    level: Option<LogLevel>,
    cx: &'a RequestContext<RoleServer>,
}

/// The state that a client keeps for a call that waits.
#[derive(Serialize, Deserialize)]
enum Waiting {
    /// The whole run.
    Suspended(Box<Suspended>),
    /// The id of a run in memory.
    Parked(String),
}

/// A call that has begun.
enum Begun {
    Live(Box<LiveCall>),
    Finished(CallToolResult),
}

/// Reports whether a request is of the era in which clients are asked by results.
pub(super) fn is_modern(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Runs a call. An error is one of the protocol: what the model should read is a result.
pub(super) async fn call(
    server: &Arc<ServerState>,
    access: &CallerAccess,
    decider: Decider,
    level: Option<LogLevel>,
    params: CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let options = server.options_of(access);
    let tools = server.tools();
    // A hidden tool and one that does not exist are the same.
    let Some(tool) = tools.find(&params.name, &options) else {
        return Err(ErrorData::invalid_params(format!("unknown tool: {}", params.name), None));
    };
    let is_modern = is_modern(cx);
    let form = ReplyForm { any_structure: is_modern, has_schema: tool.definition.output_schema.is_some() };
    let _open = server.lifecycle.enter();
    if server.lifecycle.is_closing() {
        let failure = ToolFailure::new(FailureKind::from(SHUTTING_DOWN), "the server is shutting down").not_started();
        return Ok(reply::write_failure(&failure.retryable(), form).into());
    }
    let _slot = match server.admit(access) {
        Ok(slot) => slot,
        Err(failure) => return Ok(reply::write_failure(&failure, form).into()),
    };
    let arguments = Value::Object(params.arguments.unwrap_or_default());
    let incoming = IncomingCall {
        server,
        access,
        options,
        tools: &tools,
        tool,
        arguments,
        form,
        decider,
        is_modern,
        level: if is_modern { cx.meta.log_level().map(Into::into) } else { level },
        cx,
    };
    let begun = match params.request_state {
        Some(state) => incoming.go_on(&state, params.input_responses.unwrap_or_default())?,
        // Requests that have names may be answered before they are made.
        None => match incoming.begin().await {
            Begun::Live(mut live) => {
                live.answer(params.input_responses.unwrap_or_default());
                Begun::Live(live)
            }
            finished @ Begun::Finished(_) => finished,
        },
    };
    match begun {
        Begun::Live(live) => incoming.finish(*live).await,
        Begun::Finished(result) => Ok(result.into()),
    }
}

impl IncomingCall<'_> {
    /// Starts the call, or goes on with an earlier one that approvers have decided about.
    async fn begin(&self) -> Begun {
        if let Some(approvers) = &self.server.approvers {
            let found = Arc::clone(approvers).find(self.key()).await;
            let found = found.unwrap_or_else(|error| {
                tracing::error!(%error, tool = self.tool.tool.name(), "the runs that wait for approval can't be read");
                None
            });
            match found {
                None => {}
                Some(EarlierRun::Pending(run_id)) => return Begun::Finished(self.failed(&pending(&run_id))),
                Some(EarlierRun::Done(result)) => return Begun::Finished(reply::write(&result, self.form)),
                Some(EarlierRun::Decided { suspended, verdicts }) => {
                    return self.resume(*suspended, verdicts, HashMap::new());
                }
            }
        }
        // The id is unique, as the id of the run is.
        let call = self.tools.call(self.tool, "call".to_owned(), self.arguments.to_string());
        self.live(HashMap::new(), |options| self.tools.snapshot().run_calls(vec![call.into()], options))
    }

    /// Goes on with a call that waited.
    fn go_on(&self, state: &str, answers: BTreeMap<String, Value>) -> Result<Begun, ErrorData> {
        let invalid = |error: InvalidState| ErrorData::invalid_params(error.to_string(), None);
        match self.server.seal.open::<Waiting>(state, &self.binding()).map_err(invalid)? {
            Waiting::Parked(id) => {
                let mut live = self.server.parked.take(&id).ok_or_else(|| invalid(InvalidState))?;
                live.answer(answers);
                Ok(Begun::Live(Box::new(live)))
            }
            Waiting::Suspended(suspended) => {
                let (mut verdicts, mut dismissed) = (Vec::new(), HashMap::new());
                for (request, form) in self.forms(&suspended) {
                    let Some(answer) = answers.get(request.request_id.as_str()) else { continue };
                    match form.read(request, answer) {
                        ApprovalAnswer::Verdict(verdict) => verdicts.push(*verdict),
                        ApprovalAnswer::NoAnswer { reason } => {
                            drop(dismissed.insert(request.request_id.clone(), reason));
                        }
                        _ => {}
                    }
                }
                Ok(self.resume(*suspended, verdicts, dismissed))
            }
        }
    }

    fn resume(&self, suspended: Suspended, verdicts: Vec<Verdict>, dismissed: HashMap<ApprovalId, String>) -> Begun {
        self.live(dismissed, |options| self.tools.snapshot().resume_calls(suspended, verdicts, options))
    }

    fn live(&self, dismissed: HashMap<ApprovalId, String>, run: impl FnOnce(RunOptions) -> Run) -> Begun {
        let name = self.cx.client_info().map(|client| client.name);
        let link = ServedClient::new(name, self.cx.client_capabilities(), self.level);
        let approver = CallApprover {
            client: link.0.clone(),
            default: self.decider,
            is_modern: self.is_modern,
            approvers: self.server.approvers.clone(),
            dismissed,
        };
        let cancellation = Cancellation::new();
        let own = RunOptions::new().approvals(approver).service(link.0.clone()).cancellation(cancellation.clone());
        let run = run(self.options.clone().merge(own));
        Begun::Live(Box::new(LiveCall::new(run, link, cancellation)))
    }

    /// Runs the call until it is done or waits, and says so.
    async fn finish(&self, mut live: LiveCall) -> Result<CallToolResponse, ErrorData> {
        match live.drive(self.cx, self.is_modern).await {
            Step::Done(result) => match live.missing().filter(|_| self.is_modern && !result.is_ok()) {
                Some(missing) => Err(ErrorData::missing_required_client_capability(missing.clone())),
                None => Ok(reply::write(&result, self.form).into()),
            },
            Step::Asks => {
                let requests = live.requests();
                let limits = &self.server.limits;
                match self.server.parked.park(live, limits.waiting, limits.answer_within) {
                    Some(id) => self.input_required(requests, &Waiting::Parked(id)),
                    None => Ok(self.failed(&too_many()).into()),
                }
            }
            Step::Suspended(suspended) => {
                let is_for_others = |request| decider(request, self.decider) == Decider::Approvers;
                if suspended.pending().any(is_for_others) {
                    return Ok(self.failed(&self.keep(*suspended).await).into());
                }
                let requests = self
                    .forms(&suspended)
                    .map(|(request, form)| (request.request_id.to_string(), InputRequest::Elicitation(form.request())));
                let requests = requests.collect();
                self.input_required(requests, &Waiting::Suspended(suspended))
            }
        }
    }

    /// Returns the requests that the client may answer, with their forms.
    fn forms<'s>(
        &self,
        suspended: &'s Suspended,
    ) -> impl Iterator<Item = (&'s haft_core::ApprovalRequest, Form)> + use<'s, '_> {
        let capabilities = self.cx.client_capabilities();
        let own = suspended.pending().filter(|request| decider(request, self.decider) == Decider::Client);
        own.filter_map(move |request| {
            Some((request, Form::of(request, Some(&self.tool.tool), capabilities.as_ref(), None).ok()?))
        })
    }

    fn input_required(&self, requests: InputRequests, waiting: &Waiting) -> Result<CallToolResponse, ErrorData> {
        let sealed = self.server.seal.seal(waiting, &self.binding(), self.server.limits.answer_within);
        let state = sealed.ok_or_else(|| ErrorData::internal_error("the call's state can't be sealed", None))?;
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }

    /// Hands a run to the approvers' store.
    async fn keep(&self, suspended: Suspended) -> ToolFailure {
        let run_id = suspended.run_id().cloned().unwrap_or_else(RunId::random);
        let run = PendingRun { key: self.key(), run_id: run_id.clone(), suspended };
        let kept = match &self.server.approvers {
            Some(approvers) => Arc::clone(approvers).store(run).await,
            None => Err("there are no approvers".into()),
        };
        match kept {
            Ok(()) => pending(&run_id),
            Err(error) => {
                tracing::error!(%error, tool = self.tool.tool.name(), "a run that waits for approval can't be kept");
                ToolFailure::new(FailureKind::Denied, "the call requires approval, and it could not be requested")
                    .cause(error)
            }
        }
    }

    fn key(&self) -> CallKey {
        CallKey {
            caller: self.access.caller().cloned(),
            tool: self.tool.tool.name().to_owned(),
            arguments: self.arguments.clone(),
        }
    }

    fn binding(&self) -> StateBinding<'_> {
        StateBinding {
            caller: self.access.caller(),
            tool: self.tool.tool.id().as_str(),
            definition: self.tool.tool.definition_digest(),
            arguments: &self.arguments,
        }
    }

    fn failed(&self, failure: &ToolFailure) -> CallToolResult {
        reply::write_failure(failure, self.form)
    }
}

fn pending(run_id: &RunId) -> ToolFailure {
    let message = format!(
        "somebody else has to approve this call, which has not run yet; its run is `{run_id}`. Make the same call again \
         later to learn the outcome"
    );
    ToolFailure::new(FailureKind::from(APPROVAL_PENDING), message).not_started().retryable()
}

fn too_many() -> ToolFailure {
    ToolFailure::new(
        FailureKind::InputRequired,
        "the call asks a question, and too many calls wait for answers already",
    )
}
