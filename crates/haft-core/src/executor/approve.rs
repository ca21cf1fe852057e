//! Who is asked about gated calls: a seam.
//!
//! A run asks its approver about every call whose policy demands it, after the arguments were checked. Without one such
//! calls are denied. Only a plain yes to this very question lets a call run: an error, an answer to another question or
//! a decision this version doesn't know is a no.

use std::sync::Arc;

use crate::cx::Cx;
use crate::handler::{BoxError, BoxFuture};
use crate::item::{ApprovalRequest, ApprovalResponse};

/// Answers questions about calls: a person at a terminal, a queue, a service. Each question comes by itself, and several
/// may be open at the same time.
///
/// A closure `Fn(ApprovalRequest, Cx)` whose future gives an [`ApprovalResponse`], or a `Result` of one, is an approver.
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
    /// Answers one question. The future is dropped when the call is called off.
    fn approve(
        &self,
        request: ApprovalRequest,
        cx: Cx,
    ) -> impl Future<Output = Result<ApprovalResponse, BoxError>> + Send;
}

/// An approver with its type erased.
pub(super) trait Approver: Send + Sync {
    fn ask(self: Arc<Self>, request: ApprovalRequest, cx: Cx) -> BoxFuture<Result<ApprovalResponse, BoxError>>;
}

impl<A: Approve> Approver for A {
    fn ask(self: Arc<Self>, request: ApprovalRequest, cx: Cx) -> BoxFuture<Result<ApprovalResponse, BoxError>> {
        Box::pin(async move { self.approve(request, cx).await })
    }
}

/// What an approver's closure came to: a response, or an error.
#[derive(Debug)]
pub struct ApprovalAnswer(Result<ApprovalResponse, BoxError>);

impl From<ApprovalResponse> for ApprovalAnswer {
    fn from(response: ApprovalResponse) -> Self {
        Self(Ok(response))
    }
}

impl<E: Into<BoxError>> From<Result<ApprovalResponse, E>> for ApprovalAnswer {
    fn from(answer: Result<ApprovalResponse, E>) -> Self {
        Self(answer.map_err(Into::into))
    }
}

impl<F, Fut> Approve for F
where
    F: Fn(ApprovalRequest, Cx) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: Into<ApprovalAnswer>> + Send,
{
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalResponse, BoxError> {
        self(request, cx).await.into().0
    }
}
