//! Who is asked about gated calls: a seam.
//!
//! A run asks its approver about every call whose policy demands it, after the arguments were checked. Without one such
//! calls are denied. Only a verdict on this very question counts: an error, an answer to another question or a decision
//! this version doesn't know is a no. One with arguments or an answer that the tool does not accept is rejected, and the
//! approver is asked again, at most three times in all.

use std::sync::Arc;

use super::isolation::Isolated;
use crate::cx::Cx;
use crate::handler::{BoxError, BoxFuture};
use crate::item::{ApprovalRequest, ApprovalResponse};

/// Answers questions about calls: a person at a terminal, a queue, a service. Each question comes by itself, and several
/// may be open at the same time.
///
/// A closure `Fn(ApprovalRequest, Cx)` whose future gives an [`ApprovalResponse`], an [`ApprovalAnswer`], or a `Result` of
/// one, is an approver.
///
/// ```
/// use haft_core::{ApprovalRequest, Cx, RunOptions};
///
/// let options = RunOptions::new().approvals(|request: ApprovalRequest, _cx: Cx| async move {
///     if request.arguments.contains("prod") { request.deny("not in production") } else { request.approve() }
/// });
/// # let _ = options;
/// ```
pub trait Approve: Send + Sync + 'static {
    /// Answers one question. The future is dropped when the call is cancelled.
    ///
    /// When an edit or an answer does not pass the tool's checks, the same question is asked again:
    /// [`cx.rejected_verdict()`](Cx::rejected_verdict) then has the verdict and its issues, and [`cx.attempt()`](Cx::attempt)
    /// the number of the attempt. After the third the call is `denied`.
    fn approve(
        &self,
        request: ApprovalRequest,
        cx: Cx,
    ) -> impl Future<Output = Result<ApprovalAnswer, BoxError>> + Send;
}

/// What an approver has to say.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ApprovalAnswer {
    /// Somebody decided.
    Verdict(Box<ApprovalResponse>),
    /// Somebody will, when this run is over: the call is suspended. See [`Run::suspended`](crate::Run::suspended).
    #[cfg(feature = "approval")]
    Later,
    /// Nobody will: the call is `cancelled`.
    Nobody {
        /// What the model reads.
        reason: String,
    },
}

impl ApprovalAnswer {
    /// The answer where nobody is there to be asked now.
    #[cfg(feature = "approval")]
    pub(super) fn put_off() -> Self {
        Self::Later
    }

    /// Without digests a question can't outlive its run.
    #[cfg(not(feature = "approval"))]
    pub(super) fn put_off() -> Self {
        Self::Nobody { reason: String::new() }
    }
}

/// An approver that puts every question off: calls that need approval are suspended, and the run ends without them.
///
/// See [`Suspended`](crate::Suspended) for how it goes on.
#[cfg(feature = "approval")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspend;

#[cfg(feature = "approval")]
impl Approve for Suspend {
    async fn approve(&self, _: ApprovalRequest, _: Cx) -> Result<ApprovalAnswer, BoxError> {
        Ok(ApprovalAnswer::Later)
    }
}

/// An approver with its type erased.
pub(super) trait Approver: Send + Sync {
    fn ask(self: Arc<Self>, request: ApprovalRequest, cx: Cx) -> BoxFuture<Result<ApprovalAnswer, BoxError>>;
}

impl<A: Approve> Approver for Isolated<A> {
    fn ask(self: Arc<Self>, request: ApprovalRequest, cx: Cx) -> BoxFuture<Result<ApprovalAnswer, BoxError>> {
        Box::pin(async move { self.approve(request, cx).await })
    }
}

/// What the future of an approver's closure may give.
pub trait IntoApprovalAnswer {
    /// The answer, or why there is none.
    fn into_answer(self) -> Result<ApprovalAnswer, BoxError>;
}

impl From<ApprovalResponse> for ApprovalAnswer {
    fn from(response: ApprovalResponse) -> Self {
        Self::Verdict(Box::new(response))
    }
}

impl IntoApprovalAnswer for ApprovalResponse {
    fn into_answer(self) -> Result<ApprovalAnswer, BoxError> {
        Ok(self.into())
    }
}

impl IntoApprovalAnswer for ApprovalAnswer {
    fn into_answer(self) -> Result<ApprovalAnswer, BoxError> {
        Ok(self)
    }
}

impl<A: Into<ApprovalAnswer>, E: Into<BoxError>> IntoApprovalAnswer for Result<A, E> {
    fn into_answer(self) -> Result<ApprovalAnswer, BoxError> {
        self.map(Into::into).map_err(Into::into)
    }
}

impl<F, Fut> Approve for F
where
    F: Fn(ApprovalRequest, Cx) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoApprovalAnswer> + Send,
{
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        self(request, cx).await.into_answer()
    }
}
