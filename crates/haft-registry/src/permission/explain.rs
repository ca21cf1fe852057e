//! Permission explanations, for people.

use std::fmt;

use haft_core::Annotations;

use super::Permissions;
use super::matcher::NameText;
use super::rule::PermissionRule;
use super::verdict::Verdict;
use crate::name::FullName;

/// The rules that match a tool, and what they decide.
///
/// ```
/// use haft_core::Annotations;
/// use haft_registry::PermissionSettings;
///
/// let permissions = PermissionSettings::new().allow("github/*").deny("github/delete_*").build()?;
/// let explanation = permissions.explain(&"github/delete_repo".parse()?, &Annotations::new());
/// assert_eq!(explanation.to_string(), "denied by the rule `deny github/delete_*`");
/// assert!(explanation.is_denied());
/// assert_eq!(explanation.rules.len(), 2);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PermissionExplanation {
    /// The decision before a call's arguments are known.
    pub outcome: PermissionOutcome,
    /// The matching rules, in the order they were written.
    pub rules: Vec<PermissionRule>,
}

/// The permissions' decision about a tool before a call's arguments are known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionOutcome {
    /// Every call is allowed.
    Allowed,
    /// Every call is denied.
    Denied {
        /// The rule's name, which is `default` if no rule matches.
        rule: String,
    },
    /// A call's arguments decide.
    ByArguments {
        /// The names of the rules that are evaluated for each call.
        rules: String,
    },
}

impl PermissionExplanation {
    /// Reports whether every call is denied.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self.outcome, PermissionOutcome::Denied { .. })
    }

    pub(super) fn new(permissions: &Permissions, name: &FullName, annotations: &Annotations) -> Self {
        let rules: Vec<PermissionRule> = permissions.matching(&NameText::of(name), annotations).cloned().collect();
        let outcome = match Verdict::of(rules.iter(), permissions.0.unlisted) {
            Verdict::Allowed => PermissionOutcome::Allowed,
            Verdict::Denied(rule) => PermissionOutcome::Denied {
                rule: rule.as_ref().map_or(&*permissions.0.default_rule, PermissionRule::name).to_owned(),
            },
            Verdict::ByArguments(rules) => PermissionOutcome::ByArguments { rules: rules.names() },
        };
        Self { outcome, rules }
    }
}

impl PermissionExplanation {
    /// Returns the explanation for both: each must allow a call.
    pub(crate) fn and(self, other: Self) -> Self {
        use PermissionOutcome::{Allowed, ByArguments, Denied};
        let outcome = match (self.outcome, other.outcome) {
            (denied @ Denied { .. }, _) | (_, denied @ Denied { .. }) => denied,
            (Allowed, other) | (other, Allowed) => other,
            (ByArguments { rules }, ByArguments { rules: others }) => {
                ByArguments { rules: format!("{rules}, {others}") }
            }
        };
        Self { outcome, rules: self.rules.into_iter().chain(other.rules).collect() }
    }
}

impl fmt::Display for PermissionExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            PermissionOutcome::Allowed => f.write_str("allowed"),
            PermissionOutcome::Denied { rule } if self.rules.is_empty() => {
                write!(f, "denied by the rule `{rule}`, as no rule matches")
            }
            PermissionOutcome::Denied { rule } => write!(f, "denied by the rule `{rule}`"),
            PermissionOutcome::ByArguments { rules } => write!(f, "decided by the arguments: {rules}"),
        }
    }
}
