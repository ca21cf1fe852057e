//! Policies that decide which calls require approval.
//!
//! A policy is part of the definition of a tool and decides by decoded arguments. It can only require approval; it can
//! neither approve nor deny a call. Every doubt requires approval: arguments of an unexpected shape, or an error in the
//! policy.

use std::any::TypeId;
use std::error::Error;
use std::fmt;
use std::future::ready;
use std::sync::Arc;

use haft_core::history::History;
use haft_core::{CallId, Caller, Decider, NAMESPACE_SEPARATOR, ToolCall, ToolId, ToolName};
use haft_schema::isolation::Isolated;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cx::Cx;
use crate::handler::{BoxError, BoxFuture};
use crate::scope::RunScope;
use crate::service::{MissingService, Services};
use crate::tool::Tool;
use crate::tool::arguments::CallArguments;

/// A rule that decides which calls of a tool require approval.
///
/// ```
/// use haft_executor::{ApprovalPolicy, Tool};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Transfer { cents: u64 }
///
/// let tool = Tool::new("transfer")
///     .needs_approval(ApprovalPolicy::when(|transfer: Transfer, _cx| transfer.cents > 10_000))
///     .define()?;
/// assert!(!tool.approval().is_never());
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
#[derive(Clone, Default)]
pub struct ApprovalPolicy(PolicyRule);

/// The context of a policy's decision, besides the arguments.
///
/// ```
/// use haft_executor::{ApprovalCx, ApprovalPolicy};
/// use serde::Deserialize;
///
/// struct Threshold { cents: u64 }
///
/// #[derive(Deserialize)]
/// struct Transfer { cents: u64 }
///
/// let policy = ApprovalPolicy::when(|transfer: Transfer, cx: ApprovalCx| {
///     cx.service::<Threshold>().map(|threshold| transfer.cents > threshold.cents)
/// });
/// # let _ = policy;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApprovalCx {
    /// The id of the call.
    pub call_id: CallId,
    /// The name of the tool.
    pub tool: ToolName,
    /// The id of the tool, if it is known.
    id: Option<ToolId>,
    /// The Rust type of the tool, if it has one.
    rust_type: Option<TypeId>,
    /// The caller on whose behalf the call is made.
    pub caller: Option<Caller>,
    /// The conversation up to the call.
    pub messages: History,
    /// Holds the services and extensions.
    scope: Option<Arc<RunScope>>,
}

/// The decision of a policy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ApprovalNeed {
    /// The call may run.
    NotNeeded,
    /// The call requires approval.
    Needed,
    /// The call requires approval by the rule with this name, which the request then has as
    /// [`ApprovalRule::Other`](haft_core::ApprovalRule::Other).
    NeededBy(String),
    /// The call requires approval by this party, and by the rule with this name if it has one. See
    /// [`decided_by`](Self::decided_by).
    NeededFrom {
        /// The party that decides.
        decider: Decider,
        /// The rule's name.
        rule: Option<String>,
    },
    /// The policy failed, so the call requires approval.
    Undecided {
        /// The policy's error.
        error: Arc<dyn Error + Send + Sync>,
        /// The party that decides about the call all the same.
        decider: Option<Decider>,
    },
}

/// An error of a policy that could not decide.
#[derive(Debug)]
struct PolicyError(Isolated<BoxError>);

/// The return value of a policy function: a decision, or a future of one.
///
/// A decision is a `bool`, where `true` requires approval, an [`ApprovalNeed`], or a `Result` of either, whose error
/// requires approval. `M` is the form of the decision, which is inferred: an [`ApprovalNeed`], or a future of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the decision of an approval policy",
    label = "not a decision",
    note = "return a `bool` (true: approval is required), an `ApprovalNeed`, a `Result` of either, or a future of one of them"
)]
pub trait IntoApprovalNeed<M>: Send + 'static {
    /// Returns the decision, now or later.
    fn into_need(self) -> BoxFuture<ApprovalNeed>;
}

pub(super) type PolicyFn = dyn Fn(&CallArguments<'_>, ApprovalCx) -> BoxFuture<ApprovalNeed> + Send + Sync;

#[derive(Clone, Default)]
enum PolicyRule {
    #[default]
    Never,
    Always,
    When(Arc<PolicyFn>),
    /// Both are asked, in this order, until one requires approval.
    Either(Arc<(ApprovalPolicy, ApprovalPolicy)>),
    /// The other policy decides whether approval is required, and this party whether it is given.
    DecidedBy(Arc<ApprovalPolicy>, Decider),
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

    /// Requires approval for the calls for which the function returns `true`, [`ApprovalNeed::Needed`] or an error. The
    /// function may be asynchronous.
    ///
    /// ```
    /// use haft_executor::{ApprovalCx, ApprovalPolicy};
    ///
    /// let large = ApprovalPolicy::when(|cents: u64, _cx| cents > 10_000);
    /// let unknown_caller = ApprovalPolicy::when(|_: u64, cx: ApprovalCx| async move { cx.caller.is_none() });
    /// let no_more_than_allowed = ApprovalPolicy::when(|cents: u64, _cx| {
    ///     let allowed: u64 = std::env::var("ALLOWED_CENTS")?.parse()?;
    ///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(cents > allowed)
    /// });
    /// # let _ = (large, unknown_caller, no_more_than_allowed);
    /// ```
    ///
    /// The function gets the arguments exactly as the handler does. If its type would receive a rounded number, as a
    /// [`Value`] or a float does for an integer beyond 64 bits, the function is not called and the call requires
    /// approval.
    #[must_use]
    pub fn when<P, F, R, M>(decide: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P, ApprovalCx) -> R + Send + Sync + 'static,
        R: IntoApprovalNeed<M>,
    {
        let decide = Isolated::new(decide);
        Self(PolicyRule::When(Arc::new(move |arguments, cx| match arguments.decode::<P>() {
            Ok(params) => decide(params, cx).into_need(),
            Err(error) => Box::pin(ready(ApprovalNeed::undecided(error))),
        })))
    }

    /// Requires approval for the calls for which this policy or another one requires it. The other one is not asked if
    /// this one does, so this one names the party that decides.
    ///
    /// ```
    /// use haft_executor::ApprovalPolicy;
    ///
    /// let large = ApprovalPolicy::when(|cents: u64, _cx| cents > 10_000);
    /// let odd = ApprovalPolicy::when(|cents: u64, _cx| cents % 2 == 1);
    /// let either = large.or(odd);
    /// assert!(!either.is_never() && !either.is_always());
    /// assert!(either.or(ApprovalPolicy::always()).is_always());
    /// ```
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self.0, other.0) {
            (PolicyRule::Never, other) => Self(other),
            (own, PolicyRule::Never) => Self(own),
            (PolicyRule::Always, _) => Self::always(),
            (own, other) => Self(PolicyRule::Either(Arc::new((Self(own), Self(other))))),
        }
    }

    /// Names the party that decides about the calls for which this policy requires approval.
    ///
    /// ```
    /// use haft_core::Decider;
    /// use haft_executor::ApprovalPolicy;
    ///
    /// let policy = ApprovalPolicy::always().decided_by(Decider::Approvers);
    /// assert!(policy.is_always());
    /// ```
    ///
    /// Whoever runs the call reads it in [`ApprovalRequest::decider`](haft_core::ApprovalRequest::decider), and asks that
    /// party: a server asks its client, or other people. Without it, the server chooses.
    #[must_use]
    pub fn decided_by(self, decider: Decider) -> Self {
        match self.0 {
            PolicyRule::Never => Self::never(),
            rule => Self(PolicyRule::DecidedBy(Arc::new(Self(rule)), decider)),
        }
    }

    /// Reports whether no call ever requires approval.
    #[must_use]
    pub fn is_never(&self) -> bool {
        matches!(self.0, PolicyRule::Never)
    }

    /// Reports whether every call requires approval.
    #[must_use]
    pub fn is_always(&self) -> bool {
        match &self.0 {
            PolicyRule::Never | PolicyRule::When(_) => false,
            PolicyRule::Always => true,
            PolicyRule::Either(policies) => policies.0.is_always() || policies.1.is_always(),
            PolicyRule::DecidedBy(policy, _) => policy.is_always(),
        }
    }

    /// Reports whether every call requires approval, and nothing more can be said about any.
    pub(crate) fn is_plainly_always(&self) -> bool {
        matches!(self.0, PolicyRule::Always)
    }

    /// Creates a policy from a function that reads the arguments itself.
    pub(super) fn from_fn(decide: Arc<PolicyFn>) -> Self {
        Self(PolicyRule::When(decide))
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
            PolicyRule::Either(policies) => {
                let deciding = policies.0.decide(arguments, cx.clone());
                let other = policies.1.decide(arguments, cx);
                Err(Box::pin(async move {
                    let need = deciding.await;
                    if need.is_needed() { need } else { other.await }
                }) as BoxFuture<ApprovalNeed>)
            }
            PolicyRule::DecidedBy(policy, decider) => {
                let (deciding, decider) = (policy.decide(arguments, cx), *decider);
                Err(Box::pin(async move { deciding.await.decided_by(decider) }) as BoxFuture<ApprovalNeed>)
            }
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
    /// Reports whether the call is of the tool with this name or id. The name may be behind a namespace.
    pub(super) fn is_about(&self, name: &str) -> bool {
        let is_namespaced = || {
            let namespace = self.tool.as_str().strip_suffix(name).filter(|_| !name.is_empty());
            namespace.is_some_and(|namespace| {
                let namespace = namespace.strip_suffix(NAMESPACE_SEPARATOR).or_else(|| namespace.strip_suffix('/'));
                namespace.is_some_and(|namespace| !namespace.is_empty())
            })
        };
        self.tool == *name || self.id.as_ref().is_some_and(|id| id.as_str() == name) || is_namespaced()
    }

    /// Reports whether the call is of the tool that this type defines.
    pub(super) fn is_of_type(&self, tool: TypeId) -> bool {
        self.rust_type == Some(tool)
    }

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
            id: cx.and_then(Cx::tool).map(|tool| tool.id().clone()),
            rust_type: cx.and_then(Cx::tool).and_then(Tool::rust_type),
            caller: cx.and_then(Cx::caller).cloned(),
            messages: cx.map(Cx::shared_messages).unwrap_or_default(),
            scope: cx.and_then(Cx::shared_scope).cloned(),
        }
    }

    /// Returns the service of this type, of the run or of the toolkit. Services of a middleware are not among them: it
    /// runs after the decision.
    pub fn service<T: ?Sized + 'static>(&self) -> Result<&T, MissingService> {
        self.services().get()
    }

    /// Returns the services of the run and of the toolkit.
    #[must_use]
    pub fn services(&self) -> &Services {
        self.scope.as_ref().map_or(Services::none(), |scope| &scope.services)
    }

    /// Returns the value of this type that the application attached to the run.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.scope.as_ref()?.extensions.get().ok()
    }

    /// Sets the services, to call a policy directly.
    #[must_use]
    pub fn with_services(mut self, services: Services) -> Self {
        Arc::make_mut(self.scope.get_or_insert_default()).services = services;
        self
    }

    /// Attaches a value, one per type, to call a policy directly.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let scope = Arc::make_mut(self.scope.get_or_insert_default());
        scope.extensions = std::mem::take(&mut scope.extensions).with(value);
        self
    }
}

impl<T: Into<ApprovalNeed> + Send + 'static> IntoApprovalNeed<ApprovalNeed> for T {
    fn into_need(self) -> BoxFuture<ApprovalNeed> {
        Box::pin(ready(self.into()))
    }
}

impl<F> IntoApprovalNeed<BoxFuture<ApprovalNeed>> for F
where
    F: Future<Output: Into<ApprovalNeed>> + Send + 'static,
{
    fn into_need(self) -> BoxFuture<ApprovalNeed> {
        Box::pin(async move { self.await.into() })
    }
}

/// `true` requires approval.
impl From<bool> for ApprovalNeed {
    fn from(is_needed: bool) -> Self {
        if is_needed { Self::Needed } else { Self::NotNeeded }
    }
}

/// An error requires approval.
impl<T: Into<Self>, E: Into<BoxError>> From<Result<T, E>> for ApprovalNeed {
    fn from(decided: Result<T, E>) -> Self {
        match decided {
            Ok(need) => need.into(),
            Err(error) => Self::undecided(error),
        }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the approval policy failed: {}", *self.0)
    }
}

impl Error for PolicyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&**self.0)
    }
}

impl ApprovalNeed {
    /// Reports whether the call requires approval.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        !matches!(self, Self::NotNeeded)
    }

    /// Names the party that decides about the call, if it requires approval. Without one, whoever runs the call does.
    ///
    /// ```
    /// use haft_core::Decider;
    /// use haft_executor::{ApprovalNeed, ApprovalPolicy};
    ///
    /// let large = ApprovalPolicy::when(|cents: u64, _cx| {
    ///     ApprovalNeed::from(cents > 10_000).decided_by(Decider::Approvers)
    /// });
    /// # let _ = large;
    /// ```
    #[must_use]
    pub fn decided_by(self, decider: Decider) -> Self {
        match self {
            Self::NotNeeded => Self::NotNeeded,
            Self::Needed => Self::NeededFrom { decider, rule: None },
            Self::NeededBy(rule) => Self::NeededFrom { decider, rule: Some(rule) },
            Self::NeededFrom { rule, .. } => Self::NeededFrom { decider, rule },
            Self::Undecided { error, .. } => Self::Undecided { error, decider: Some(decider) },
        }
    }

    pub(crate) fn undecided(error: impl Into<BoxError>) -> Self {
        Self::Undecided { error: Arc::new(PolicyError(Isolated::new(error.into()))), decider: None }
    }
}

impl fmt::Debug for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            PolicyRule::Never => "ApprovalPolicy::never()",
            PolicyRule::Always => "ApprovalPolicy::always()",
            PolicyRule::When(_) => "ApprovalPolicy::when(..)",
            PolicyRule::Either(_) => "ApprovalPolicy::or(..)",
            PolicyRule::DecidedBy(..) => "ApprovalPolicy::decided_by(..)",
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
    async fn a_policy_names_the_party_that_decides_also_when_it_fails() {
        let failing = ApprovalPolicy::when(|_: u8, _| Err::<bool, _>("no idea")).decided_by(Decider::Approvers);
        let ApprovalNeed::Undecided { decider, .. } = ask(&failing, json!(1)).await else { panic!("it decided") };
        assert_eq!(decider, Some(Decider::Approvers));
        let large = ApprovalPolicy::when(|n: u8, _| n > 3).decided_by(Decider::Approvers);
        let either = large.or(ApprovalPolicy::always());
        assert!(either.is_always() && !either.is_plainly_always());
        assert!(matches!(ask(&either, json!(4)).await, ApprovalNeed::NeededFrom { decider: Decider::Approvers, .. }));
        assert!(matches!(ask(&either, json!(3)).await, ApprovalNeed::Needed));
        assert!(!ask(&ApprovalPolicy::never().decided_by(Decider::Client), json!(3)).await.is_needed());
    }

    #[tokio::test]
    async fn a_failing_policy_requires_approval() {
        let policy = ApprovalPolicy::when(|n: u8, _| async move { if n == 0 { Err("no idea") } else { Ok(false) } });
        let undecided = ask(&policy, json!(0)).await;
        assert!(undecided.is_needed());
        assert!(matches!(undecided, ApprovalNeed::Undecided { error, .. } if error.to_string().ends_with(": no idea")));
        assert!(!ask(&policy, json!(1)).await.is_needed());
    }

    #[tokio::test]
    async fn a_function_decides_now_or_later_in_every_form() {
        let decisions: [(ApprovalPolicy, bool); 7] = [
            (ApprovalPolicy::when(|n: u8, _| n > 3), true),
            (ApprovalPolicy::when(|n: u8, _| n > 4), false),
            (ApprovalPolicy::when(|_: u8, _| ApprovalNeed::NotNeeded), false),
            (ApprovalPolicy::when(|_: u8, _| async { ApprovalNeed::Needed }), true),
            (ApprovalPolicy::when(|n: u8, _| n.checked_sub(5).map(|_| false).ok_or("too small")), true),
            (ApprovalPolicy::when(|_: u8, _| Ok::<_, String>(ApprovalNeed::NotNeeded)), false),
            (ApprovalPolicy::when(|_: u8, _| async { Err::<ApprovalNeed, _>("no idea") }), true),
        ];
        for (index, (policy, expected)) in decisions.iter().enumerate() {
            assert_eq!(ask(policy, json!(4)).await.is_needed(), *expected, "{index}");
        }
    }

    #[tokio::test]
    async fn a_policy_finds_services_and_extensions() {
        let policy = ApprovalPolicy::when(|n: u8, cx: ApprovalCx| {
            let most = cx.service::<u8>().copied()?;
            Ok::<_, MissingService>(n > most && cx.extension::<&str>().is_none())
        });
        let cx = || ApprovalCx::new(&ToolCall::new("c1", "t", "{}"));
        let need = policy.needs_approval(&json!(4), cx()).await;
        assert!(matches!(need, ApprovalNeed::Undecided { error, .. } if error.to_string().contains("`u8`")));
        let with_service = cx().with_services(Services::new().with(3_u8));
        assert!(matches!(policy.needs_approval(&json!(4), with_service.clone()).await, ApprovalNeed::Needed));
        assert!(!policy.needs_approval(&json!(3), with_service.clone()).await.is_needed());
        assert!(!policy.needs_approval(&json!(4), with_service.with_extension("trusted")).await.is_needed());
    }

    #[tokio::test]
    async fn either_of_two_policies_requires_approval() {
        let named = ApprovalPolicy::when(|n: u8, _| match n {
            1 => ApprovalNeed::NeededBy("one".to_owned()),
            2 => ApprovalNeed::NotNeeded,
            _ => ApprovalNeed::Needed,
        });
        let unreadable = ApprovalPolicy::when(|_: bool, _| false);
        let either = named.clone().or(unreadable);
        assert!(matches!(ask(&either, json!(1)).await, ApprovalNeed::NeededBy(rule) if rule == "one"));
        assert!(matches!(ask(&either, json!(2)).await, ApprovalNeed::Undecided { .. }));
        assert!(matches!(ask(&either, json!(3)).await, ApprovalNeed::Needed));
        assert!(!ask(&named.clone().or(ApprovalPolicy::never()), json!(2)).await.is_needed());
        assert!(!ask(&ApprovalPolicy::never().or(named.clone()), json!(2)).await.is_needed());
        assert!(
            ApprovalPolicy::always().or(named.clone()).is_always() && named.or(ApprovalPolicy::always()).is_always()
        );
        assert!(ApprovalPolicy::never().or(ApprovalPolicy::never()).is_never());
    }

    #[tokio::test]
    async fn arguments_that_the_policy_cannot_read_require_approval() {
        let policy = ApprovalPolicy::when(|_: u8, _| async { false });
        assert!(matches!(ask(&policy, json!("text")).await, ApprovalNeed::Undecided { .. }));
    }
}
