//! The seam for approvals that somebody other than the client's user decides.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use haft_core::internal::sha256;
use haft_core::{ApprovalRequest, Caller, RunId, ToolResult, Verdict};
use haft_executor::{ApprovalAnswer, BoxError, Cx, Suspended};
use haft_schema::canonical_text;
use haft_schema::isolation::Isolated;
use serde_json::{Value, json};

/// A call as its caller makes it again: the same caller, tool and arguments.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallKey {
    /// The caller, if it has a name.
    pub caller: Option<Caller>,
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
}

/// A run that ended because approvers decide later, for [`Approvers::keep`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PendingRun {
    /// The call.
    pub key: CallKey,
    /// The id of the run, which the client is told.
    pub run_id: RunId,
    /// The run.
    pub suspended: Suspended,
}

/// The state of a run that was kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EarlierRun {
    /// It still waits for its approvers.
    Pending(RunId),
    /// Its approvers have decided. It goes on now and must not be returned again.
    Decided {
        /// The run.
        suspended: Box<Suspended>,
        /// The verdicts.
        verdicts: Vec<Verdict>,
    },
    /// It has gone on elsewhere, and this is the result. It must not be returned again.
    Done(Box<ToolResult>),
}

/// Decides about calls that the client's user does not decide about.
///
/// A call either waits until [`approve`](Self::approve) has a verdict, or it ends as *approval pending*, with the run's id, and
/// [`keep`](Self::keep) stores the run. If the caller makes the same call again, [`earlier`](Self::earlier) finds it.
pub trait Approvers: Send + Sync + 'static {
    /// Answers one request. The default is [`Later`](ApprovalAnswer::Later). The future is dropped when the call is
    /// cancelled.
    fn approve(
        &self,
        request: ApprovalRequest,
        cx: Cx,
    ) -> impl Future<Output = Result<ApprovalAnswer, BoxError>> + Send {
        let _ = (request, cx);
        async { Ok(ApprovalAnswer::Later) }
    }

    /// Stores a run whose approvers decide later. If that fails, the call is denied.
    fn keep(&self, run: PendingRun) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// Returns what has become of a run with this call, and takes it out of the store unless it is pending.
    fn earlier(&self, key: &CallKey) -> impl Future<Output = Result<Option<EarlierRun>, BoxError>> + Send;
}

impl CallKey {
    /// Returns a digest of the call, such as for the name of a file.
    #[must_use]
    pub fn digest(&self) -> String {
        let Self { caller, tool, arguments } = self;
        sha256(&canonical_text(&json!([caller.as_ref().map(Caller::as_str), tool, arguments])))
    }
}

/// Approvers with their type erased.
pub(super) trait AnyApprovers: Send + Sync {
    fn ask(self: Arc<Self>, request: ApprovalRequest, cx: Cx) -> BoxFuture<'static, Result<ApprovalAnswer, BoxError>>;
    fn store(self: Arc<Self>, run: PendingRun) -> BoxFuture<'static, Result<(), BoxError>>;
    fn find(self: Arc<Self>, key: CallKey) -> BoxFuture<'static, Result<Option<EarlierRun>, BoxError>>;
}

impl<A: Approvers> AnyApprovers for Isolated<A> {
    fn ask(self: Arc<Self>, request: ApprovalRequest, cx: Cx) -> BoxFuture<'static, Result<ApprovalAnswer, BoxError>> {
        Box::pin(async move { self.approve(request, cx).await })
    }

    fn store(self: Arc<Self>, run: PendingRun) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move { self.keep(run).await })
    }

    fn find(self: Arc<Self>, key: CallKey) -> BoxFuture<'static, Result<Option<EarlierRun>, BoxError>> {
        Box::pin(async move { self.earlier(&key).await })
    }
}

impl fmt::Debug for dyn AnyApprovers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Approvers(..)")
    }
}
