//! Approval rules: calls that require approval in addition to the tool's own policy.

use std::fmt;
use std::sync::Arc;

use haft_core::Decider;
use haft_executor::{ApprovalNeed, ApprovalPolicy, Tool};
use serde::de::IgnoredAny;

use super::build::{MAX_RULES, RuleSource, compile};
use super::condition::{self, ConditionFinding, RuleView};
use super::expression::{EvaluationError, ExpressionInput, RuleExpression};
use super::matcher::{MatchEffect, NameText, ToolMatcher};
use super::rule::UnmatchedRule;
use super::setting::AskSettings;
use crate::kind::{EntryError, EntryFault};
use crate::name::FullName;

/// Rules that require approval for tool calls. Cloning is cheap.
///
/// The rules can only add to what a tool requires by itself. An expression that fails requires approval.
#[derive(Clone, Debug, Default)]
pub struct AskRules(Arc<[Arc<AskRule>]>);

/// A rule that requires approval.
#[derive(Clone, Debug)]
struct AskRule {
    name: Box<str>,
    /// The JSON Pointer to the rule in its settings.
    pointer: Box<str>,
    matcher: ToolMatcher,
    when: Option<RuleExpression>,
    approve: Option<Decider>,
}

/// The error for a rule that can't be evaluated for a call.
#[derive(Debug, thiserror::Error)]
#[error("the approval rule `{rule}` can't be evaluated")]
struct UndecidedRule {
    rule: Box<str>,
    #[source]
    error: EvaluationError,
}

impl AskRules {
    /// Checks rules and reports all faults. A fault's pointer begins with its rule's index.
    pub fn new(settings: &[AskSettings]) -> Result<Self, EntryError> {
        if settings.len() > MAX_RULES {
            return Err(EntryError::at("", format!("there are more than {MAX_RULES} approval rules; use patterns")));
        }
        let mut faults: Vec<EntryFault> = Vec::new();
        let rules: Vec<Arc<AskRule>> = settings
            .iter()
            .enumerate()
            .filter_map(|(index, rule)| {
                let form = RuleSource::of_ask(rule);
                let pointer = format!("/{index}");
                let compiled = compile(&form, "ask", MatchEffect::Restricts, &pointer, &mut faults)?;
                Some(Arc::new(AskRule {
                    name: compiled.name.into(),
                    pointer: pointer.into(),
                    matcher: compiled.matcher,
                    when: compiled.when,
                    approve: rule.approve,
                }))
            })
            .collect();
        EntryError::check(faults)?;
        Ok(Self(rules.into()))
    }

    /// Adds other rules behind these.
    #[must_use]
    pub fn and(&self, others: &Self) -> Self {
        Self(self.0.iter().chain(&*others.0).cloned().collect())
    }

    /// Returns the same rules with their file's name before their own names.
    #[must_use]
    pub fn of_file(&self, file: &str) -> Self {
        let renamed = |rule: &Arc<AskRule>| AskRule { name: super::in_file(file, &rule.name), ..(**rule).clone() };
        Self(self.0.iter().map(renamed).map(Arc::new).collect())
    }

    /// Returns the policy that the rules add to a tool, or `None` if no rule matches it.
    #[must_use]
    pub fn policy_for(&self, name: &FullName, tool: &Tool) -> Option<ApprovalPolicy> {
        let rules: Vec<&AskRule> = self.rules_for(name, tool).collect();
        // Unset is stricter than `client`: over HTTP it means the approvers.
        [Some(Decider::Approvers), None, Some(Decider::Client)]
            .into_iter()
            .filter_map(|decider| {
                let of_decider: Vec<&AskRule> = rules.iter().filter(|rule| rule.approve == decider).copied().collect();
                let policy = policy(name, &of_decider)?;
                Some(decider.map_or(policy.clone(), |decider| policy.decided_by(decider)))
            })
            .reduce(ApprovalPolicy::or)
    }

    /// Returns the names of the rules that match a tool with at least some arguments.
    pub fn matching<'a>(&'a self, name: &'a FullName, tool: &'a Tool) -> impl Iterator<Item = &'a str> {
        self.rules_for(name, tool).map(|rule| &*rule.name)
    }

    /// Returns the rules whose patterns match none of these names. They may be misspelt.
    pub fn unmatched_rules<'n>(&self, names: impl IntoIterator<Item = &'n FullName>) -> Vec<UnmatchedRule<'_>> {
        let names: Vec<NameText> = names.into_iter().map(NameText::of).collect();
        let is_unmatched = |rule: &&Arc<AskRule>| !names.iter().any(|name| rule.matcher.matches_name(name));
        self.0.iter().filter(is_unmatched).map(|rule| rule.as_unmatched()).collect()
    }

    /// Compares the rules' conditions with the tools that their patterns match, as
    /// [`Permissions::condition_findings`](super::Permissions::condition_findings) does.
    pub fn condition_findings<'t>(
        &self,
        tools: impl IntoIterator<Item = (&'t FullName, &'t Tool)>,
    ) -> Vec<ConditionFinding<'_>> {
        condition::findings(self.0.iter().map(|rule| rule.view()), tools)
    }

    fn rules_for<'a>(&'a self, name: &FullName, tool: &'a Tool) -> impl Iterator<Item = &'a AskRule> + use<'a> {
        let name = NameText::of(name);
        self.0.iter().map(|rule| &**rule).filter(move |rule| rule.matcher.matches(&name, tool.annotations()))
    }
}

impl AskRule {
    fn as_unmatched(&self) -> UnmatchedRule<'_> {
        UnmatchedRule { name: &self.name, pointer: &self.pointer, patterns: self.matcher.patterns() }
    }

    fn view(&self) -> RuleView<'_> {
        RuleView { name: &self.name, pointer: &self.pointer, matcher: &self.matcher, when: self.when.as_ref() }
    }

    fn is_unconditional(&self) -> bool {
        self.when.is_none()
    }
}

/// Creates the policy for the rules about a tool that leave the decision to the same party; `None` without rules.
fn policy(name: &FullName, rules: &[&AskRule]) -> Option<ApprovalPolicy> {
    if let Some(rule) = rules.iter().find(|rule| rule.is_unconditional()) {
        return Some(unconditional(&rule.name));
    }
    let conditions: Option<Vec<_>> = rules.iter().map(|rule| Some((rule.name.clone(), rule.when.clone()?))).collect();
    conditions.filter(|conditions| !conditions.is_empty()).map(|conditions| conditional(name, conditions))
}

/// Creates the policy for a rule without a condition.
fn unconditional(rule: &str) -> ApprovalPolicy {
    let rule = rule.to_owned();
    ApprovalPolicy::when(move |_: IgnoredAny, _| ApprovalNeed::NeededBy(rule.clone()))
}

/// Creates the policy for rules that all have a condition.
fn conditional(name: &FullName, conditions: Vec<(Box<str>, RuleExpression)>) -> ApprovalPolicy {
    let name = name.to_string();
    ApprovalPolicy::when(move |arguments: serde_json::Value, cx: haft_executor::ApprovalCx| {
        let caller = cx.caller.as_ref().map(haft_core::Caller::as_str);
        let input = ExpressionInput::new(&arguments).tool(&name).caller(caller).groups(cx.extension());
        let mut undecided = None;
        for (rule, when) in &conditions {
            match when.evaluate(&input) {
                Ok(true) => return Ok(ApprovalNeed::NeededBy(rule.to_string())),
                Ok(false) => {}
                Err(error) => undecided = Some(UndecidedRule { rule: rule.clone(), error }),
            }
        }
        undecided.map_or(Ok(ApprovalNeed::NotNeeded), Err)
    })
}

/// Writes the rules' names.
impl fmt::Display for AskRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|rule| &*rule.name).collect();
        f.write_str(&names.join(", "))
    }
}
