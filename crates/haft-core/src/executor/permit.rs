//! Who may call what: a seam.
//!
//! A run asks its permit about every call of a known tool, before the arguments are read. Without one everything is
//! allowed. A permit that fails, or panics, has allowed nothing.

use std::fmt;
use std::future::ready;

use super::isolation::Isolated;
use crate::call::ToolCall;
use crate::cx::{Caller, Cx};
use crate::handler::{BoxError, BoxFuture};
use crate::tool::Tool;

/// Decides whether a call may run.
///
/// A closure `Fn(&Tool, &ToolCall, &Cx)` that gives a [`Permission`], or a `Result` of one, is a permit.
///
/// ```
/// use haft_core::{Permission, RunOptions, Tool, ToolCall, Cx};
///
/// let options = RunOptions::new().permit(|tool: &Tool, _: &ToolCall, _: &Cx| {
///     if tool.annotations().may_destroy() { Permission::denied("nothing may be destroyed") } else { Permission::Allowed }
/// });
/// # let _ = options;
/// ```
///
/// Ask [`may_destroy`](crate::Annotations::may_destroy), not [`destructive`](crate::Annotations::destructive): the latter is
/// the hint as it is emitted, which is `true` for a readonly tool that says nothing more.
pub trait Permit: Send + Sync + 'static {
    /// Decides whether this call may run, or surface if nobody runs it here. The context names the caller.
    fn permit(&self, tool: &Tool, call: &ToolCall, cx: &Cx) -> Permitting;

    /// Whether the caller may know of the tool: the one way to hide tools. One that is not seen is not listed, never suggested, and to its caller
    /// unknown: [`permit`](Permit::permit) is not asked about it.
    fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
        let _ = (tool, caller);
        true
    }
}

/// What a permit decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permission {
    /// The call may run.
    Allowed,
    /// The call may not run.
    Denied {
        /// Why, for the model. A blank reason is replaced.
        reason: String,
    },
}

/// A permit's decision: there at once, or later.
#[must_use = "a decision that nobody waits for decides nothing"]
pub struct Permitting(pub(super) Decision);

pub(super) enum Decision {
    Now(Result<Permission, BoxError>),
    Later(BoxFuture<Result<Permission, BoxError>>),
}

impl Permission {
    /// The call may not run, for this reason.
    pub fn denied(reason: impl Into<String>) -> Self {
        Self::Denied { reason: reason.into() }
    }
}

impl Permitting {
    /// A decision that takes a while.
    pub fn later<F, E>(decision: F) -> Self
    where
        F: Future<Output = Result<Permission, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self(Decision::Later(Box::pin(async move { decision.await.map_err(Into::into) })))
    }

    /// The decision, waited for.
    pub fn decided(self) -> impl Future<Output = Result<Permission, BoxError>> + Send + 'static {
        match self.0 {
            Decision::Now(decision) => Box::pin(ready(decision)),
            Decision::Later(decision) => decision,
        }
    }
}

impl From<Permission> for Permitting {
    fn from(permission: Permission) -> Self {
        Self(Decision::Now(Ok(permission)))
    }
}

impl<E: Into<BoxError>> From<Result<Permission, E>> for Permitting {
    fn from(decision: Result<Permission, E>) -> Self {
        Self(Decision::Now(decision.map_err(Into::into)))
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
            Decision::Now(decision) => f.debug_tuple("Permitting").field(decision).finish(),
            Decision::Later(_) => f.write_str("Permitting(later)"),
        }
    }
}
