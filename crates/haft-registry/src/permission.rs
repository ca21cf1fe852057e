//! Permissions: rules that decide which tools may be called, with which arguments, and which calls require approval.
//!
//! ```text
//! PermissionSettings ──build──> Permissions ──permit_for(full name, tool)──> ToolPermit ──> permit, arguments, sees
//! [AskSettings]      ──new────> AskRules    ──policy_for(full name, tool)──> ApprovalPolicy
//! ```
//!
//! Rules match the found tool's canonical full name, never the spelling that was asked for and never a later name, so
//! an alias for a denied tool is denied. Patterns and hints are matched once per tool; a call evaluates only the
//! remaining expressions. Hints are claims by a tool's author: a rule that allows by them trusts the author.
//!
//! Three rules never change. What no rule allows is denied. A rule that denies overrules every rule that allows,
//! wherever it is written. And every doubt denies: an expression that fails, is not a boolean or would take too long
//! neither allows a call nor prevents a denial. Permissions from a surrounding [scope](Permissions::scope) apply in
//! addition, so a nested scope can only narrow.
//!
//! A denial names its rule for the operator. The model reads only that the call is not permitted.

mod ambient;
mod ask;
mod build;
mod condition;
mod explain;
mod expression;
mod groups;
mod matcher;
mod parameter;
mod pattern;
mod permit;
mod rule;
mod run_permit;
mod setting;
mod verdict;

use std::fmt;
use std::sync::Arc;

use haft_core::Annotations;
use haft_executor::{Ambient, AmbientScope, Tool};

pub use self::ambient::AmbientPermissions;
pub use self::ask::AskRules;
pub use self::condition::{ConditionFinding, ConditionSeverity};
pub use self::explain::{PermissionExplanation, PermissionOutcome};
pub use self::expression::{
    EvaluationError, ExpressionError, ExpressionFault, ExpressionInput, MAX_EXPRESSION_COST, MAX_EXPRESSION_LEN,
    RuleExpression,
};
pub use self::groups::CallerGroups;
use self::matcher::NameText;
pub use self::pattern::{MAX_PATTERN_LEN, ToolPattern, ToolPatternError, ToolPatternFault};
pub use self::permit::ToolPermit;
pub use self::rule::{PermissionRule, RuleEffect, UnmatchedRule};
pub use self::run_permit::RunPermit;
pub use self::setting::{AskSettings, PatternList, PermissionSettings, RuleSetSettings, RuleSettings};
use self::verdict::Verdict;
use crate::name::FullName;

/// Rules that decide which tools may be called. Cloning is cheap.
///
/// ```
/// use haft_executor::{RunOptions, Tool, Toolkit};
/// use haft_core::ToolCall;
/// use haft_registry::PermissionSettings;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let permissions = PermissionSettings::new().allow("math/*").deny("math/random").build()?;
///
/// let add = Tool::new("add").handler(|(), _cx| async { 3 })?;
/// let permit = permissions.permit_for(&"math/add".parse()?, &add);
/// let kit: Toolkit = [add].into_iter().collect();
/// let results = kit.run_with([ToolCall::new("1", "add", "{}")], RunOptions::new().permit(permit)).collect_results().await;
/// assert!(results[0].is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Permissions(Arc<PermissionTable>);

/// The permission rules, without their sets.
struct PermissionTable {
    /// The rules, in the order they were written.
    rules: Box<[PermissionRule]>,
    visibility: Visibility,
    unlisted: Unlisted,
    /// The name that denials use when no rule allows.
    default_rule: Box<str>,
}

/// The decision about calls that no rule allows and none denies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unlisted {
    /// They are denied.
    Denied,
    /// They are allowed: the rules only deny.
    Allowed,
}

/// The visibility of tools that are denied whatever the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    /// They are listed, and a call is denied.
    Shown,
    /// They are unknown.
    Hidden,
}

impl Permissions {
    /// Returns the rules: the settings' own, then those from the sets in use.
    #[must_use]
    pub fn rules(&self) -> &[PermissionRule] {
        &self.0.rules
    }

    /// Reports whether tools without any permitted call are unknown instead of denied.
    #[must_use]
    pub fn hides_denied(&self) -> bool {
        match self.0.visibility {
            Visibility::Hidden => true,
            Visibility::Shown => false,
        }
    }

    /// Returns only the denying rules, as permissions that allow everything else. They narrow other permissions, and
    /// permit nothing beyond those.
    ///
    /// ```
    /// use haft_core::Annotations;
    /// use haft_registry::PermissionSettings;
    ///
    /// let denials = PermissionSettings::new().allow("math/*").deny("math/random").build()?.denials();
    /// assert!(denials.explain(&"math/random".parse()?, &Annotations::new()).is_denied());
    /// assert!(!denials.explain(&"other/tool".parse()?, &Annotations::new()).is_denied());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn denials(&self) -> Self {
        let PermissionTable { rules, visibility, default_rule, .. } = &*self.0;
        let rules = rules.iter().filter(|rule| rule.effect() == RuleEffect::Deny).cloned().collect();
        let (visibility, default_rule) = (*visibility, default_rule.clone());
        Self(Arc::new(PermissionTable { rules, visibility, unlisted: Unlisted::Allowed, default_rule }))
    }

    /// Returns the same rules with their file's name before their own names.
    #[must_use]
    pub fn of_file(&self, file: &str) -> Self {
        let PermissionTable { rules, visibility, unlisted, default_rule } = &*self.0;
        let rules = rules.iter().map(|rule| rule.of_file(file)).collect();
        let (visibility, unlisted) = (*visibility, *unlisted);
        let default_rule = in_file(file, default_rule);
        Self(Arc::new(PermissionTable { rules, visibility, unlisted, default_rule }))
    }

    /// Creates a tool's permit, which also asks the permissions from the scope around each call.
    ///
    /// The rules are matched now, with the tool's current full name and hints. Calling the tool under another name
    /// later makes no difference.
    #[must_use]
    pub fn permit_for(&self, name: &FullName, tool: &Tool) -> ToolPermit {
        ToolPermit::new([self], name, tool)
    }

    /// Creates a permit for the [options](haft_executor::RunOptions::permit) of a run, beside the permissions that its
    /// tools carry. So one caller of a server may have fewer tools than another.
    ///
    /// The rules match the full names that the tools have in the run's source, such as an
    /// [`Executor`](crate::Executor). A tool with any other name is denied.
    ///
    /// ```
    /// use haft_executor::{Dispatch, RunOptions, Tool};
    /// use haft_registry::{Executor, PermissionSettings, Registry, Workspace};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let read = Tool::new("read").handler(|(), _cx| async { "text" })?;
    /// let write = Tool::new("write").handler(|(), _cx| async { "written" })?;
    /// let project = Workspace::builder().toolbox("files").tool(read).tool(write).build()?;
    /// let executor = Executor::new(Registry::builder().workspace(project).build()?);
    ///
    /// let readers = PermissionSettings::new().allow("files/read").hide_denied().build()?;
    /// let options = RunOptions::new().permit(readers.for_run());
    /// let listed: Vec<_> = executor.list(&options).iter().map(|tool| tool.name.clone()).collect();
    /// assert_eq!(listed, ["files/read"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn for_run(&self) -> RunPermit {
        RunPermit::new(self.clone())
    }

    /// Runs a future with these permissions, in addition to those from surrounding scopes.
    ///
    /// ```
    /// use haft_registry::{AmbientPermissions, PermissionSettings};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let reader = PermissionSettings::new().allow("files/read").build()?;
    /// let count = reader.scope(async { AmbientPermissions::current().iter().count() }).await;
    /// assert_eq!(count, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "futures do nothing unless polled"]
    pub fn scope<F: Future>(&self, future: F) -> AmbientScope<F> {
        self.ambient().scope(future)
    }

    /// Runs code with these permissions, in addition to those from surrounding scopes.
    pub fn sync_scope<T>(&self, code: impl FnOnce() -> T) -> T {
        self.ambient().sync_scope(code)
    }

    /// Explains to a person which rules match a tool and what they decide.
    #[must_use]
    pub fn explain(&self, name: &FullName, annotations: &Annotations) -> PermissionExplanation {
        PermissionExplanation::new(self, name, annotations)
    }

    /// Returns the rules whose patterns match none of these names. They may be misspelt.
    pub fn unmatched_rules<'n>(&self, names: impl IntoIterator<Item = &'n FullName>) -> Vec<UnmatchedRule<'_>> {
        let names: Vec<NameText> = names.into_iter().map(NameText::of).collect();
        let is_unmatched = |rule: &&PermissionRule| !names.iter().any(|name| rule.matches_name(name));
        self.rules().iter().filter(is_unmatched).map(PermissionRule::as_unmatched).collect()
    }

    /// Compares the rules' conditions with the tools that their patterns match, and returns those that can't be right:
    /// hints that no such tool has, and members that none declares.
    ///
    /// ```
    /// use haft_executor::Tool;
    /// use haft_registry::{ConditionSeverity, PermissionSettings, RuleSettings};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// #[serde(deny_unknown_fields)]
    /// struct Payment {
    ///     amount: u64,
    /// }
    ///
    /// let pay = Tool::new("pay").handler(|payment: Payment, _cx| async move { payment.amount })?;
    /// let misspelt = RuleSettings::tools("bank/*").when("has(args.ammount) && args.ammount > 100");
    /// let permissions = PermissionSettings::new().allow("bank/*").deny(misspelt).build()?;
    /// let name = "bank/pay".parse()?;
    /// let findings = permissions.condition_findings([(&name, &pay)]);
    /// assert_eq!(findings[0].severity, ConditionSeverity::Fault);
    /// assert!(findings[0].message.ends_with("did you mean `amount`?"));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn condition_findings<'t>(
        &self,
        tools: impl IntoIterator<Item = (&'t FullName, &'t Tool)>,
    ) -> Vec<ConditionFinding<'_>> {
        condition::findings(self.rules().iter().map(PermissionRule::view), tools)
    }

    /// Returns what the rules decide about a tool.
    fn verdict(&self, name: &FullName, annotations: &Annotations) -> Verdict {
        Verdict::of(self.matching(&NameText::of(name), annotations), self.0.unlisted)
    }

    /// Returns the rules that are about a tool.
    fn matching(&self, name: &NameText, annotations: &Annotations) -> impl Iterator<Item = &PermissionRule> {
        self.rules().iter().filter(|rule| rule.is_about(name, annotations))
    }

    fn ambient(&self) -> Ambient {
        Ambient::current().with(AmbientPermissions::current().narrowed(self.clone()))
    }

    /// Reports whether both are the same value, not only equal ones.
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PermissionTable { rules, visibility, unlisted, .. } = &*self.0;
        let mut fields = f.debug_struct("Permissions");
        fields.field("rules", rules).field("visibility", visibility).field("unlisted", unlisted).finish()
    }
}

/// Returns a rule's name with its file's name.
fn in_file(file: &str, rule: &str) -> Box<str> {
    format!("{file}: {rule}").into()
}
