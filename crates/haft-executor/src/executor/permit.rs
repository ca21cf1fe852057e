//! Permits: an extension point that decides which caller may call which tool.
//!
//! A run asks its permits about every call of a known tool, twice: before the arguments are read, and about the decoded
//! arguments, before approval is requested. All of them must allow the call. They are asked in the order in which they
//! were added, one after the other; the first denial decides. Without a permit all calls are allowed. A permit that
//! fails or panics denies the call.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use haft_core::{Caller, ToolCall};
use haft_schema::isolation::{Isolated, isolated};

use super::option::RunOptions;
use crate::cx::Cx;
use crate::handler::{BoxError, BoxFuture};
use crate::tool::Tool;
use crate::tool::arguments::CallArguments;

/// Decides whether a call may run.
///
/// A closure `Fn(&Tool, &ToolCall, &Cx)` that returns a [`Permission`], or a `Result` of one, is a permit.
///
/// ```
/// use haft_executor::{Cx, Permission, RunOptions, Tool};
/// use haft_core::ToolCall;
///
/// let options = RunOptions::new().permit(|tool: &Tool, _: &ToolCall, _: &Cx| {
///     if tool.annotations().may_destroy() { Permission::denied("nothing may be destroyed") } else { Permission::Allowed }
/// });
/// # let _ = options;
/// ```
///
/// Use [`may_destroy`](haft_core::Annotations::may_destroy), not [`destructive`](haft_core::Annotations::destructive): the
/// latter is the hint in its emitted form, which is `true` for a readonly tool that doesn't set it.
pub trait Permit: Send + Sync + 'static {
    /// Decides whether this call may run, or surface if it has no handler here. The context names the caller.
    fn permit(&self, tool: &Tool, call: &ToolCall, cx: &Cx) -> Permitting;

    /// Decides whether this call may run with these arguments, which are valid. It is called after [`permit`], before
    /// approval is requested, and again for arguments that a person edited; not for calls that the provider executes.
    ///
    /// The default allows every call and reads nothing. A permit that wraps another one must pass this method on, too,
    /// or the other is never asked about arguments. A permit that overrides it decides on exactly what would run: the
    /// arguments are read a second time when it reads them, and a middleware that changes them afterwards ends the call
    /// as `denied`.
    ///
    /// ```
    /// use haft_executor::{BoxError, CallArguments, Cx, Permission, Permit, Permitting, Tool};
    /// use haft_core::ToolCall;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Transfer { cents: u64 }
    ///
    /// struct SmallTransfers;
    ///
    /// impl SmallTransfers {
    ///     fn check(&self, arguments: &CallArguments<'_>) -> Result<Permission, BoxError> {
    ///         // Arguments that can't be read are an error, and an error denies.
    ///         let transfer: Transfer = arguments.decode()?;
    ///         if transfer.cents <= 10_000 { return Ok(Permission::Allowed); }
    ///         Ok(Permission::denied("at most 100 euros").by_rule("small-transfers"))
    ///     }
    /// }
    ///
    /// impl Permit for SmallTransfers {
    ///     fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
    ///         Permission::Allowed.into()
    ///     }
    ///
    ///     fn permits_arguments(
    ///         &self,
    ///         tool: &Tool,
    ///         _: &ToolCall,
    ///         arguments: &CallArguments<'_>,
    ///         _: &Cx,
    ///     ) -> Permitting {
    ///         if tool.name() == "transfer" { self.check(arguments).into() } else { Permission::Allowed.into() }
    ///     }
    /// }
    /// ```
    ///
    /// [`permit`]: Self::permit
    fn permits_arguments(&self, tool: &Tool, call: &ToolCall, arguments: &CallArguments<'_>, cx: &Cx) -> Permitting {
        let _ = (tool, call, arguments, cx);
        Permitting(PermitDecision::Unchecked)
    }

    /// Reports whether the caller may know of the tool. This is the only way to hide tools: a hidden tool is not
    /// listed, never suggested, and unknown to the caller; [`permit`](Permit::permit) is not called for it. A tool is
    /// visible only if every permit of the run sees it.
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
        /// The name of the rule that denied the call, for the operator: it is part of the failure's cause and the field
        /// `haft.rule` of the call's span. The model never reads it.
        rule: Option<String>,
        /// More about the denial, for the operator: it is part of the failure's cause. The model never reads it.
        detail: Option<String>,
    },
}

/// A permit's decision: immediate, or a future.
#[must_use = "a decision has no effect unless it is returned or awaited"]
pub struct Permitting(pub(super) PermitDecision);

pub(super) enum PermitDecision {
    /// Allowed without regard to the arguments: the default of [`Permit::permits_arguments`].
    Unchecked,
    Now(Result<Permission, BoxError>),
    Later(BoxFuture<Result<Permission, BoxError>>),
}

impl Permission {
    /// Denies the call for this reason.
    pub fn denied(reason: impl Into<String>) -> Self {
        Self::Denied { reason: reason.into(), rule: None, detail: None }
    }

    /// Names the rule that denied the call, for the operator. A permission that allows stays as it is.
    ///
    /// ```
    /// use haft_executor::Permission;
    ///
    /// let denied = Permission::denied("nothing may be deleted").by_rule("no-deletes");
    /// assert!(matches!(denied, Permission::Denied { rule: Some(rule), .. } if rule == "no-deletes"));
    /// assert_eq!(Permission::Allowed.by_rule("no-deletes"), Permission::Allowed);
    /// ```
    #[must_use]
    pub fn by_rule(self, rule: impl Into<String>) -> Self {
        match self {
            Self::Allowed => Self::Allowed,
            Self::Denied { reason, detail, .. } => Self::Denied { reason, rule: Some(rule.into()), detail },
        }
    }

    /// Adds more about the denial for the operator, such as why a rule could not be evaluated. A permission that allows
    /// stays as it is.
    ///
    /// ```
    /// use haft_executor::{Cx, Permission, RunOptions, Tool, Toolkit};
    /// use haft_core::ToolCall;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new().with(Tool::new("pay").handler(|(), _cx| async {})?)?;
    /// let permit = |_: &Tool, _: &ToolCall, _: &Cx| {
    ///     Permission::denied("not now").by_rule("office-hours").detail("the clock is not set")
    /// };
    /// let result = kit.run_call_with(&ToolCall::new("c1", "pay", ""), &RunOptions::new().permit(permit)).await;
    /// let failure = result.failure().unwrap();
    /// assert_eq!(failure.message, "not now");
    /// assert_eq!(failure.cause_chain().unwrap(), "denied by the rule `office-hours`: the clock is not set");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn detail(self, detail: impl Into<String>) -> Self {
        match self {
            Self::Allowed => Self::Allowed,
            Self::Denied { reason, rule, .. } => Self::Denied { reason, rule, detail: Some(detail.into()) },
        }
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
            PermitDecision::Unchecked => Box::pin(ready(Ok(Permission::Allowed))),
            PermitDecision::Now(decision) => Box::pin(ready(decision)),
            PermitDecision::Later(decision) => decision,
        }
    }
}

impl RunOptions {
    /// Returns the permits that decide about calls of a tool: those of the tool, then those of the run.
    pub(super) fn permits_of<'a>(&'a self, tool: &'a Tool) -> impl Iterator<Item = &'a Arc<dyn Permit>> {
        tool.permits().iter().chain(self.permits.as_slice())
    }

    /// Reports whether the caller may know of a tool: every permit of the tool and of these options must
    /// [see](Permit::sees) it.
    #[must_use]
    pub fn sees(&self, tool: &Tool) -> bool {
        let caller = self.caller_ref();
        self.permits_of(tool).all(|permit| isolated(|| permit.sees(tool, caller)).unwrap_or_default())
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

    fn permits_arguments(&self, tool: &Tool, call: &ToolCall, arguments: &CallArguments<'_>, cx: &Cx) -> Permitting {
        P::permits_arguments(self, tool, call, arguments, cx)
    }

    fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
        P::sees(self, tool, caller)
    }
}

impl fmt::Debug for Permitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            PermitDecision::Unchecked => f.write_str("Permitting(unchecked)"),
            PermitDecision::Now(decision) => f.debug_tuple("Permitting").field(decision).finish(),
            PermitDecision::Later(_) => f.write_str("Permitting(later)"),
        }
    }
}
