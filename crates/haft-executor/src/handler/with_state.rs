//! Handlers with a state of their own.

use crate::cx::Cx;

/// Gives a handler a state that its tool captures: each call gets a clone, so share what is large or changes by an
/// `Arc`. The function fits every step that attaches a handler, and `params` may be left to inference where the tool has
/// its type.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use haft_core::ToolCall;
/// use haft_executor::{Tool, Toolkit, with_state};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let total = Arc::new(AtomicU64::new(0));
/// let add = Tool::new("add").handler(with_state(Arc::clone(&total), |total, n: u64, _cx| async move {
///     total.fetch_add(n, Ordering::Relaxed) + n
/// }))?;
/// let kit: Toolkit = Toolkit::new().with(add)?;
/// kit.run_call(&ToolCall::new("c1", "add", "40")).await;
/// assert_eq!(kit.run_call(&ToolCall::new("c2", "add", "2")).await.to_model_text(), "42");
/// assert_eq!(total.load(Ordering::Relaxed), 42);
/// # Ok(())
/// # }
/// ```
///
/// If different toolkits or runs provide different values, use a [service](crate::Services) instead.
pub fn with_state<S, A, R>(
    state: S,
    handler: impl Fn(S, A, Cx) -> R + Send + Sync + 'static,
) -> impl Fn(A, Cx) -> R + Send + Sync + 'static
where
    S: Clone + Send + Sync + 'static,
    A: 'static,
    R: 'static,
{
    move |params, cx| handler(state.clone(), params, cx)
}
