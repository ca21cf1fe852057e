//! Permits: an extension point that decides which caller may call which tool.
//!
//! A run checks its permit for every call of a known tool, before the arguments are read. Without a permit all calls
//! are allowed. A permit that fails or panics denies the call.

use std::fmt;
use std::future::ready;

use crate::call::ToolCall;
use crate::cx::{Caller, Cx};
use crate::handler::{BoxError, BoxFuture};
use crate::isolation::Isolated;
use crate::tool::Tool;

/// Decides whether a call may run.
///
/// A closure `Fn(&Tool, &ToolCall, &Cx)` that returns a [`Permission`], or a `Result` of one, is a permit.
///
/// ```
/// use haft_core::{Cx, Permission, RunOptions, Tool, ToolCall};
///
/// let options = RunOptions::new().permit(|tool: &Tool, _: &ToolCall, _: &Cx| {
///     if tool.annotations().may_destroy() { Permission::denied("nothing may be destroyed") } else { Permission::Allowed }
/// });
/// # let _ = options;
/// ```
///
/// Use [`may_destroy`](crate::Annotations::may_destroy), not [`destructive`](crate::Annotations::destructive): the
/// latter is the hint in its emitted form, which is `true` for a readonly tool that doesn't set it.
pub trait Permit: Send + Sync + 'static {
    /// Decides whether this call may run, or surface if it has no handler here. The context names the caller.
    fn permit(&self, tool: &Tool, call: &ToolCall, cx: &Cx) -> Permitting;

    /// Reports whether the caller may know of the tool. This is the only way to hide tools: a hidden tool is not
    /// listed, never suggested, and unknown to the caller; [`permit`](Permit::permit) is not called for it.
    fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
        let _ = (tool, caller);
        true
    }
}

/// The decision of a permit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permission {
    /// The call may run.
    Allowed,
    /// The call may not run.
    Denied {
        /// The reason, for the model. A blank reason is replaced.
        reason: String,
    },
}

/// A permit's decision: immediate, or a future.
#[must_use = "a decision has no effect unless it is returned or awaited"]
pub struct Permitting(pub(super) PermitDecision);

pub(super) enum PermitDecision {
    Now(Result<Permission, BoxError>),
    Later(BoxFuture<Result<Permission, BoxError>>),
}

impl Permission {
    /// Denies the call for this reason.
    pub fn denied(reason: impl Into<String>) -> Self {
        Self::Denied { reason: reason.into() }
    }
}

impl Permitting {
    /// Creates a decision that is made by a future.
    pub fn later<F, E>(decision: F) -> Self
    where
        F: Future<Output = Result<Permission, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self(PermitDecision::Later(Box::pin(async move { decision.await.map_err(Into::into) })))
    }

    /// Waits for the decision.
    pub fn decided(self) -> impl Future<Output = Result<Permission, BoxError>> + Send + 'static {
        match self.0 {
            PermitDecision::Now(decision) => Box::pin(ready(decision)),
            PermitDecision::Later(decision) => decision,
        }
    }
}

impl From<Permission> for Permitting {
    fn from(permission: Permission) -> Self {
        Self(PermitDecision::Now(Ok(permission)))
    }
}

impl<E: Into<BoxError>> From<Result<Permission, E>> for Permitting {
    fn from(decision: Result<Permission, E>) -> Self {
        Self(PermitDecision::Now(decision.map_err(Into::into)))
    }
}

impl<F, P> Permit for F
where
    F: Fn(&Tool, &ToolCall, &Cx) -> P + Send + Sync + 'static,
    P: Into<Permitting>,
{
    fn permit(&self, tool: &Tool, call: &ToolCall, cx: &Cx) -> Permitting {
        self(tool, call, cx).into()
    }
}

impl<P: Permit> Permit for Isolated<P> {
    fn permit(&self, tool: &Tool, call: &ToolCall, cx: &Cx) -> Permitting {
        P::permit(self, tool, call, cx)
    }

    fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
        P::sees(self, tool, caller)
    }
}

impl fmt::Debug for Permitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            PermitDecision::Now(decision) => f.debug_tuple("Permitting").field(decision).finish(),
            PermitDecision::Later(_) => f.write_str("Permitting(later)"),
        }
    }
}
