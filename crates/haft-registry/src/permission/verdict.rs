//! The permissions' decision about one tool, as far as it does not depend on a call's arguments.

use super::Unlisted;
use super::expression::{EvaluationError, ExpressionInput};
use super::rule::{PermissionRule, RuleEffect};

/// The rule that a denial names if no rule matches.
pub(super) const DEFAULT_RULE: &str = "default";

/// The decision about one tool.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    /// Every call is allowed.
    Allowed,
    /// Every call is denied, by this rule.
    Denied(Option<PermissionRule>),
    /// The arguments decide.
    ByArguments(ArgumentRules),
}

/// The rules that decide about a call by its arguments.
#[derive(Clone, Debug)]
pub(super) struct ArgumentRules {
    /// The rules that deny.
    deny: Vec<PermissionRule>,
    allow: Allowing,
}

/// A denial because of a call's arguments, for the operator.
pub(super) struct ArgumentDenial {
    /// The rule's name: of the default if no rule denied the call, but none of those that could have allowed it did.
    pub(super) rule: String,
    /// The reason why a rule could not be evaluated, or why none allowed the call.
    pub(super) detail: Option<String>,
}

#[derive(Clone, Debug)]
enum Allowing {
    /// A rule allows every call.
    Every,
    /// One of these rules must allow a call. Never empty.
    By(Vec<PermissionRule>),
}

impl Verdict {
    /// Decides by the rules that match a tool.
    pub(super) fn of<'r>(matching: impl Iterator<Item = &'r PermissionRule>, unlisted: Unlisted) -> Self {
        let (mut allow, mut deny) = (Vec::new(), Vec::new());
        for rule in matching {
            match rule.effect() {
                RuleEffect::Allow => allow.push(rule),
                RuleEffect::Deny => deny.push(rule),
            }
        }
        if let Some(rule) = deny.iter().find(|rule| !rule.is_conditional()) {
            return Self::Denied(Some((*rule).clone()));
        }
        match unlisted {
            Unlisted::Denied if allow.is_empty() => Self::Denied(None),
            Unlisted::Denied => Self::remaining(&allow, &deny, allow.iter().any(|rule| !rule.is_conditional())),
            Unlisted::Allowed => Self::remaining(&allow, &deny, true),
        }
    }

    /// Decides by conditional denials and by rules that allow.
    fn remaining(allow: &[&PermissionRule], deny: &[&PermissionRule], allows_all: bool) -> Self {
        let owned = |rules: &[&PermissionRule]| rules.iter().map(|rule| (*rule).clone()).collect::<Vec<_>>();
        match (allows_all, deny) {
            (true, []) => Self::Allowed,
            (true, _) => Self::ByArguments(ArgumentRules { deny: owned(deny), allow: Allowing::Every }),
            (false, _) => Self::ByArguments(ArgumentRules { deny: owned(deny), allow: Allowing::By(owned(allow)) }),
        }
    }
}

impl ArgumentRules {
    /// Decides about a call.
    pub(super) fn decide(&self, input: &ExpressionInput<'_>) -> Result<(), ArgumentDenial> {
        for rule in &self.deny {
            match evaluate(rule, input) {
                Ok(false) => {}
                Ok(true) => return Err(ArgumentDenial { rule: rule.name().to_owned(), detail: None }),
                Err(error) => {
                    return Err(ArgumentDenial { rule: rule.name().to_owned(), detail: Some(error.to_string()) });
                }
            }
        }
        let Allowing::By(rules) = &self.allow else { return Ok(()) };
        let (mut unmet, mut details) = (Vec::new(), Vec::new());
        for rule in rules {
            match evaluate(rule, input) {
                Ok(true) => return Ok(()),
                Ok(false) => unmet.push(format!("`{}`", rule.name())),
                Err(error) => details.push(format!("`{}` can't be evaluated: {error}", rule.name())),
            }
        }
        match unmet.as_slice() {
            [] => {}
            [one] => details
                .insert(0, format!("the arguments don't meet the condition of {one}, which could allow the call")),
            many => {
                let many = many.join(", ");
                details.insert(0, format!("the arguments meet no condition of {many}, which could allow the call"));
            }
        }
        Err(ArgumentDenial { rule: DEFAULT_RULE.to_owned(), detail: Some(details.join("; ")) })
    }

    /// Returns the rules' names, to deny a call whose arguments are not known.
    pub(super) fn names(&self) -> String {
        let allow: &[PermissionRule] = match &self.allow {
            Allowing::Every => &[],
            Allowing::By(rules) => rules,
        };
        joined(self.deny.iter().chain(allow))
    }
}

/// Evaluates a rule's condition.
fn evaluate(rule: &PermissionRule, input: &ExpressionInput<'_>) -> Result<bool, EvaluationError> {
    rule.when().map_or(Ok(true), |when| when.evaluate(input))
}

/// Returns rule names as one text.
fn joined<'r>(rules: impl Iterator<Item = &'r PermissionRule>) -> String {
    rules.map(PermissionRule::name).collect::<Vec<_>>().join(", ")
}
