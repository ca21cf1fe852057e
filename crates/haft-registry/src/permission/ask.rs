//! Approval rules: which calls require approval, besides those that the tool itself requires it for.

use std::fmt;
use std::sync::Arc;

use haft_core::{ApprovalPolicy, Tool};

use super::build::{RuleSource, compile};
#[cfg(feature = "cel")]
use super::expression::{EvaluationError, ExpressionInput, RuleExpression};
use super::matcher::{MatchEffect, ToolMatcher};
use super::setting::AskSettings;
use crate::implementation::{EntryError, EntryFault};
use crate::name::FullName;

/// Rules that require approval for calls of tools. Cloning is cheap.
///
/// The rules can only add to what a tool requires by itself. An expression that fails requires approval.
#[derive(Clone, Debug, Default)]
pub struct AskRules(Arc<[AskRule]>);

/// A rule that requires approval.
#[derive(Debug)]
struct AskRule {
    name: Box<str>,
    matcher: ToolMatcher,
    #[cfg(feature = "cel")]
    when: Option<RuleExpression>,
}

/// The error of a rule that can't be evaluated for a call.
#[cfg(feature = "cel")]
#[derive(Debug, thiserror::Error)]
#[error("the approval rule `{rule}` can't be evaluated")]
struct UndecidedRule {
    rule: Box<str>,
    #[source]
    error: EvaluationError,
}

impl AskRules {
    /// Checks rules, and reports all faults. The pointer of a fault begins with the index of its rule.
    pub fn new(settings: &[AskSettings]) -> Result<Self, EntryError> {
        let mut faults: Vec<EntryFault> = Vec::new();
        let rules: Vec<AskRule> = settings
            .iter()
            .enumerate()
            .filter_map(|(index, rule)| {
                let form = RuleSource::of_ask(rule);
                let compiled = compile(&form, "ask", MatchEffect::Restricts, &format!("/{index}"), &mut faults)?;
                Some(AskRule {
                    name: compiled.name.into(),
                    matcher: compiled.matcher,
                    #[cfg(feature = "cel")]
                    when: compiled.when,
                })
            })
            .collect();
        EntryError::check(faults)?;
        Ok(Self(rules.into()))
    }

    /// Returns the policy that the rules add to a tool; `None` if no rule matches it.
    #[must_use]
    pub fn policy_for(&self, name: &FullName, tool: &Tool) -> Option<ApprovalPolicy> {
        let matching = |rule: &&AskRule| rule.matcher.matches(name, tool.annotations());
        let rules: Vec<&AskRule> = self.0.iter().filter(matching).collect();
        if rules.is_empty() {
            return None;
        }
        #[cfg(feature = "cel")]
        if let Some(conditions) = rules.iter().map(|rule| Some((rule.name.clone(), rule.when.clone()?))).collect() {
            return Some(conditional(name, conditions));
        }
        Some(ApprovalPolicy::always())
    }

    /// Returns the names of the rules that match a tool, with some arguments at least.
    pub fn matching<'a>(&'a self, name: &'a FullName, tool: &'a Tool) -> impl Iterator<Item = &'a str> {
        let matching = |rule: &&AskRule| rule.matcher.matches(name, tool.annotations());
        self.0.iter().filter(matching).map(|rule| &*rule.name)
    }

    /// Returns the names of the rules whose patterns match none of these tools, which may be misspelt.
    pub fn unmatched_rules<'n>(&self, names: impl IntoIterator<Item = &'n FullName>) -> Vec<&str> {
        let names: Vec<&FullName> = names.into_iter().collect();
        let is_unmatched = |rule: &&AskRule| !names.iter().any(|name| rule.matcher.matches_name(name));
        self.0.iter().filter(is_unmatched).map(|rule| &*rule.name).collect()
    }
}

/// Creates the policy of rules that all have a condition.
#[cfg(feature = "cel")]
fn conditional(name: &FullName, conditions: Vec<(Box<str>, RuleExpression)>) -> ApprovalPolicy {
    let name = name.to_string();
    ApprovalPolicy::when(move |arguments: serde_json::Value, cx: haft_core::ApprovalCx| {
        let caller = cx.caller.as_ref().map(haft_core::Caller::as_str);
        let input = ExpressionInput::new(&arguments).tool(&name).caller(caller);
        let mut undecided = None;
        for (rule, when) in &conditions {
            match when.evaluate(&input) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) => undecided = Some(UndecidedRule { rule: rule.clone(), error }),
            }
        }
        undecided.map_or(Ok(false), Err)
    })
}

/// Writes the names of the rules.
impl fmt::Display for AskRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|rule| &*rule.name).collect();
        f.write_str(&names.join(", "))
    }
}
