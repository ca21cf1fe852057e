//! Who is asked about gated calls: a seam.
//!
//! A run asks its approver about every call whose policy demands it, after the arguments were checked. Without one such
//! calls are denied. Only a plain yes to this very question lets a call run: an error, an answer to another question or
//! a decision this version doesn't know is a no.

use std::sync::Arc;

use crate::cx::Cx;
use crate::handler::{BoxError, BoxFuture};
use crate::item::{ApprovalRequest, ApprovalResponse};

/// Answers questions about calls, one at a time: a person at a terminal, a queue, a service.
///
/// A closure `Fn(ApprovalRequest, Cx) -> impl Future<Output = Result<ApprovalResponse, _>>` is an approver.
///
/// ```
/// use haft_core::{ApprovalDecision, ApprovalRequest, ApprovalResponse, BoxError, Cx, RunOptions};
///
/// let options = RunOptions::new().approvals(|request: ApprovalRequest, _cx: Cx| async move {
///     let decision =
///         if request.arguments.contains("prod") { ApprovalDecision::Denied } else { ApprovalDecision::Approved };
///     Ok::<_, BoxError>(ApprovalResponse::new(request.request_id, decision))
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

impl<F, Fut, E> Approve for F
where
    F: Fn(ApprovalRequest, Cx) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ApprovalResponse, E>> + Send,
    E: Into<BoxError>,
{
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalResponse, BoxError> {
        self(request, cx).await.map_err(Into::into)
    }
}
