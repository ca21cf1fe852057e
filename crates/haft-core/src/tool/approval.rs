//! Policies that decide which calls require approval.
//!
//! A policy is part of the definition of a tool and decides by decoded arguments. It can only require approval; it can
//! neither approve nor deny a call. Every doubt requires approval: arguments of an unexpected shape, or an error in the
//! policy.

use std::error::Error;
use std::fmt;
use std::future::ready;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::CallArguments;
use crate::call::{CallId, ToolCall};
use crate::cx::{Caller, Cx};
use crate::handler::{BoxError, BoxFuture};
use crate::history::History;
use crate::isolation::Isolated;
use crate::tool::ToolName;

/// A rule that decides which calls of a tool require approval.
///
/// ```
/// use haft_core::{ApprovalPolicy, Tool};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Transfer { cents: u64 }
///
/// let tool = Tool::new("transfer")
///     .needs_approval(ApprovalPolicy::when(|transfer: Transfer, _cx| async move { transfer.cents > 10_000 }))
///     .define()?;
/// assert!(!tool.approval().is_never());
/// # Ok::<_, haft_core::DefinitionError>(())
/// ```
#[derive(Clone, Default)]
pub struct ApprovalPolicy(PolicyRule);

/// The context of a policy's decision, besides the arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApprovalCx {
    /// The id of the call.
    pub call_id: CallId,
    /// The name of the tool.
    pub tool: ToolName,
    /// The caller on whose behalf the call is made.
    pub caller: Option<Caller>,
    /// The conversation up to the call.
    pub messages: History,
}

/// The decision of a policy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ApprovalNeed {
    /// The call may run.
    NotNeeded,
    /// The call requires approval.
    Needed,
    /// The policy failed, so the call requires approval.
    Undecided(PolicyError),
}

/// An error of a policy that could not decide.
#[derive(Clone, Debug)]
pub struct PolicyError(Arc<Isolated<BoxError>>);

type PolicyFn = dyn Fn(&CallArguments<'_>, ApprovalCx) -> BoxFuture<ApprovalNeed> + Send + Sync;

#[derive(Clone, Default)]
enum PolicyRule {
    #[default]
    Never,
    Always,
    When(Arc<PolicyFn>),
}

impl ApprovalPolicy {
    /// Requires no approval. This is the default.
    #[must_use]
    pub fn never() -> Self {
        Self(PolicyRule::Never)
    }

    /// Requires approval for every call.
    #[must_use]
    pub fn always() -> Self {
        Self(PolicyRule::Always)
    }

    /// Requires approval for the calls for which the function returns `true`.
    ///
    /// The function gets the arguments exactly as the handler does. If its type would receive a rounded number, as a
    /// [`Value`] or a float does for an integer beyond 64 bits, the function is not called and the call requires
    /// approval.
    #[must_use]
    pub fn when<P, F, Fut>(decide: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P, ApprovalCx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        Self::try_when(move |params, cx| {
            let needed = decide(params, cx);
            async move { Ok::<_, BoxError>(needed.await) }
        })
    }

    /// Requires approval for the calls for which the function returns `true` or an error.
    #[must_use]
    pub fn try_when<P, F, Fut, E>(decide: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P, ApprovalCx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<bool, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let decide = Isolated::new(decide);
        Self(PolicyRule::When(Arc::new(move |arguments, cx| match arguments.decode::<P>() {
            Ok(params) => {
                let needed = decide(params, cx);
                Box::pin(async move { ApprovalNeed::from_answer(needed.await.map_err(Into::into)) })
            }
            Err(error) => Box::pin(ready(ApprovalNeed::from_answer(Err(error)))),
        })))
    }

    /// Reports whether no call ever requires approval.
    #[must_use]
    pub fn is_never(&self) -> bool {
        matches!(self.0, PolicyRule::Never)
    }

    /// Reports whether every call requires approval.
    #[must_use]
    pub fn is_always(&self) -> bool {
        matches!(self.0, PolicyRule::Always)
    }

    /// Decides whether a call with these decoded arguments requires approval.
    pub fn needs_approval(
        &self,
        arguments: &Value,
        cx: ApprovalCx,
    ) -> impl Future<Output = ApprovalNeed> + Send + 'static + use<> {
        self.decide(&CallArguments::from_tree(arguments), cx)
    }

    /// Decides whether a call requires approval.
    pub(crate) fn decide(
        &self,
        arguments: &CallArguments<'_>,
        cx: ApprovalCx,
    ) -> impl Future<Output = ApprovalNeed> + Send + 'static + use<> {
        let decided = match &self.0 {
            PolicyRule::Never => Ok(ApprovalNeed::NotNeeded),
            PolicyRule::Always => Ok(ApprovalNeed::Needed),
            PolicyRule::When(decide) => Err(decide(arguments, cx)),
        };
        async move {
            match decided {
                Ok(need) => need,
                Err(deciding) => deciding.await,
            }
        }
    }
}

impl ApprovalCx {
    /// Creates the context of a call without a caller and without a conversation.
    #[must_use]
    pub fn new(call: &ToolCall) -> Self {
        Self::of(call, None)
    }

    /// Creates the context of a call from the context of its handler.
    pub(crate) fn of(call: &ToolCall, cx: Option<&Cx>) -> Self {
        Self {
            call_id: call.call_id.clone(),
            tool: call.name.as_str().into(),
            caller: cx.and_then(Cx::caller).cloned(),
            messages: cx.map(Cx::shared_messages).unwrap_or_default(),
        }
    }
}

impl PolicyError {
    pub(crate) fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self::of(error.into())
    }

    fn of(error: BoxError) -> Self {
        Self(Arc::new(Isolated::new(error)))
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the approval policy failed: {}", **self.0)
    }
}

impl Error for PolicyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&***self.0)
    }
}

impl ApprovalNeed {
    /// Reports whether the call requires approval.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        !matches!(self, Self::NotNeeded)
    }

    fn from_answer(answer: Result<bool, BoxError>) -> Self {
        match answer {
            Ok(false) => Self::NotNeeded,
            Ok(true) => Self::Needed,
            Err(error) => Self::Undecided(PolicyError::of(error)),
        }
    }
}

impl fmt::Debug for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            PolicyRule::Never => "ApprovalPolicy::never()",
            PolicyRule::Always => "ApprovalPolicy::always()",
            PolicyRule::When(_) => "ApprovalPolicy::when(..)",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn ask(policy: &ApprovalPolicy, arguments: Value) -> ApprovalNeed {
        policy.needs_approval(&arguments, ApprovalCx::new(&ToolCall::new("c1", "t", "{}"))).await
    }

    #[tokio::test]
    async fn the_fixed_policies_ignore_the_arguments() {
        assert!(!ask(&ApprovalPolicy::never(), json!({})).await.is_needed());
        assert!(ask(&ApprovalPolicy::always(), json!({})).await.is_needed());
        assert!(ApprovalPolicy::default().is_never());
    }

    #[tokio::test]
    async fn a_function_decides_on_the_decoded_arguments_and_the_call() {
        let policy = ApprovalPolicy::when(|n: u8, cx| async move { n > 3 && cx.call_id == "c1" });
        assert!(matches!(ask(&policy, json!(4)).await, ApprovalNeed::Needed));
        assert!(matches!(ask(&policy, json!(3)).await, ApprovalNeed::NotNeeded));
    }

    #[tokio::test]
    async fn a_failing_policy_requires_approval() {
        let policy =
            ApprovalPolicy::try_when(|n: u8, _| async move { if n == 0 { Err("no idea") } else { Ok(false) } });
        let undecided = ask(&policy, json!(0)).await;
        assert!(undecided.is_needed());
        assert!(matches!(undecided, ApprovalNeed::Undecided(error) if error.to_string().ends_with(": no idea")));
        assert!(!ask(&policy, json!(1)).await.is_needed());
    }

    #[tokio::test]
    async fn arguments_that_the_policy_cannot_read_require_approval() {
        let policy = ApprovalPolicy::when(|_: u8, _| async { false });
        assert!(matches!(ask(&policy, json!("text")).await, ApprovalNeed::Undecided(_)));
    }
}
