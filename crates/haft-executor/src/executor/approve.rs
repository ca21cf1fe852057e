//! Approvers: an extension point that decides about calls that require approval.
//!
//! A run sends an approval request for every call whose policy requires approval, after the arguments were checked.
//! Without an approver such calls are denied. Only a verdict on this very request approves the call: an error, a
//! verdict on another request or an unknown decision denies it. A verdict with arguments or an answer that the tool
//! does not accept is rejected, and the request is sent again, at most three times in all.

use std::sync::Arc;

use haft_core::{ApprovalRequest, Verdict};
use haft_schema::isolation::Isolated;

use crate::cx::Cx;
use crate::handler::{BoxError, BoxFuture};

/// Decides about approval requests: a person at a terminal, a queue, a service. Each request is a separate call, and
/// several may be pending at the same time.
///
/// A closure `Fn(ApprovalRequest, Cx)` is an approver if its future returns a [`Verdict`], an [`ApprovalAnswer`], or a
/// `Result` with one of them. An error denies the call.
///
/// ```
/// use haft_core::ApprovalRequest;
/// use haft_executor::{Cx, RunOptions};
///
/// let options = RunOptions::new().approvals(|request: ApprovalRequest, _cx: Cx| async move {
///     if request.arguments.contains("prod") { request.deny("not in production") } else { request.approve() }
/// });
/// # let _ = options;
/// ```
pub trait Approve: Send + Sync + 'static {
    /// Answers one approval request. The future is dropped when the call is cancelled.
    ///
    /// If an edit or an answer does not pass the tool's checks, the same request is sent again:
    /// [`cx.rejected_verdict()`](Cx::rejected_verdict) then returns the verdict and its issues, and
    /// [`cx.attempt()`](Cx::attempt) the number of the attempt. After the third attempt the call is `denied`.
    fn approve(
        &self,
        request: ApprovalRequest,
        cx: Cx,
    ) -> impl Future<Output = Result<ApprovalAnswer, BoxError>> + Send;
}

/// The answer of an approver.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ApprovalAnswer {
    /// A verdict.
    Verdict(Box<Verdict>),
    /// The verdict will come after this run: the call is suspended. See [`Run::suspended`](crate::Run::suspended).
    Later,
    /// There will be no verdict: the call is `cancelled`.
    NoAnswer {
        /// The reason, for the model.
        reason: String,
    },
}

impl ApprovalAnswer {
    /// Returns the answer for a request that no approver can take now.
    pub(super) fn deferred() -> Self {
        Self::Later
    }
}

/// An approver that defers every request: calls that require approval are suspended, and the run ends without them.
///
/// See [`Suspended`](crate::Suspended) for how to resume them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspend;

impl Approve for Suspend {
    async fn approve(&self, _: ApprovalRequest, _: Cx) -> Result<ApprovalAnswer, BoxError> {
        Ok(ApprovalAnswer::Later)
    }
}

/// An approver with its type erased.
pub(super) trait Approver: Send + Sync {
    fn request(self: Arc<Self>, request: ApprovalRequest, cx: Cx) -> BoxFuture<Result<ApprovalAnswer, BoxError>>;
}

impl<A: Approve> Approver for Isolated<A> {
    fn request(self: Arc<Self>, request: ApprovalRequest, cx: Cx) -> BoxFuture<Result<ApprovalAnswer, BoxError>> {
        Box::pin(async move { self.approve(request, cx).await })
    }
}

impl From<Verdict> for ApprovalAnswer {
    fn from(response: Verdict) -> Self {
        Self::Verdict(Box::new(response))
    }
}

/// The answer of an approver closure that may fail.
impl<A: Into<ApprovalAnswer>, E: Into<BoxError>> TryFrom<Result<A, E>> for ApprovalAnswer {
    type Error = BoxError;

    fn try_from(answered: Result<A, E>) -> Result<Self, BoxError> {
        answered.map(Into::into).map_err(Into::into)
    }
}

impl<F, Fut> Approve for F
where
    F: Fn(ApprovalRequest, Cx) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: TryInto<ApprovalAnswer, Error: Into<BoxError>>> + Send,
{
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        self(request, cx).await.try_into().map_err(Into::into)
    }
}
