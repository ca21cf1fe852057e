//! Rule conditions that can never hold, or that read what is never there.
//!
//! A misspelt condition in a rule that denies or asks is a hole that nobody sees: the rule is there and never applies.
//! So the hints and members that a rule reads are compared with the tools that its patterns match.

use haft_executor::Tool;
use haft_schema::nearest;

use super::expression::{AccessKind, ArgumentAccess, RuleExpression};
use super::matcher::{NameText, ToolMatcher};
use super::parameter::{MissingMember, Presence, presence};
use super::pattern::ToolPattern;
use crate::name::FullName;

/// A rule's condition that can't be right for the tools that the rule is about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConditionFinding<'r> {
    /// The rule's name: its own, or its text.
    pub rule: &'r str,
    /// The JSON Pointer to the rule, or to its condition, in the settings it was built from.
    pub pointer: String,
    /// The rule's patterns.
    pub patterns: &'r [ToolPattern],
    /// The finding's severity.
    pub severity: ConditionSeverity,
    /// The finding, and what to do.
    pub message: String,
}

/// The severity of a [`ConditionFinding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConditionSeverity {
    /// The condition may be misspelt.
    Warning,
    /// The condition tests for a member that none of the rule's tools can have, so it never applies.
    Fault,
}

/// The parts of a rule that are compared with tools.
pub(super) struct RuleView<'r> {
    pub(super) name: &'r str,
    pub(super) pointer: &'r str,
    pub(super) matcher: &'r ToolMatcher,
    pub(super) when: Option<&'r RuleExpression>,
}

/// Compares rules with tools. Rules whose patterns match no tool are left to
/// [`unmatched_rules`](super::Permissions::unmatched_rules).
pub(super) fn findings<'r, 't>(
    rules: impl Iterator<Item = RuleView<'r>>,
    tools: impl IntoIterator<Item = (&'t FullName, &'t Tool)>,
) -> Vec<ConditionFinding<'r>> {
    let tools: Vec<(NameText, &Tool)> = tools.into_iter().map(|(name, tool)| (NameText::of(name), tool)).collect();
    rules.flat_map(|rule| rule.findings(&tools)).collect()
}

impl<'r> RuleView<'r> {
    fn findings(&self, tools: &[(NameText, &Tool)]) -> Vec<ConditionFinding<'r>> {
        if self.when.is_none() && self.matcher.hints_text().is_none() {
            return Vec::new();
        }
        let named: Vec<&(NameText, &Tool)> = tools.iter().filter(|(name, _)| self.matcher.matches_name(name)).collect();
        let matched: Vec<_> =
            named.iter().filter(|(name, tool)| self.matcher.matches(name, tool.annotations())).collect();
        if matched.is_empty() {
            return self
                .matcher
                .hints_text()
                .filter(|_| !named.is_empty())
                .map(|hints| self.by_hints(&hints, named.len()))
                .into_iter()
                .collect();
        }
        self.by_members(&matched.into_iter().map(|(name, tool)| (name.exact(), *tool)).collect::<Vec<_>>())
    }

    /// Returns the finding for a rule whose hints no matching tool has.
    fn by_hints(&self, hints: &str, count: usize) -> ConditionFinding<'r> {
        let tools = if count == 1 {
            "the tool that its patterns match".to_owned()
        } else {
            format!("all {count} tools that its patterns match")
        };
        let message = format!(
            "matches no tool: its condition \"{hints}\" excludes {tools}; a tool without hints counts as destructive, \
             open-world, not readonly and not idempotent, so mark the tools or change the condition"
        );
        self.finding(self.pointer.to_owned(), ConditionSeverity::Warning, message)
    }

    fn finding(&self, pointer: String, severity: ConditionSeverity, message: String) -> ConditionFinding<'r> {
        ConditionFinding { rule: self.name, pointer, patterns: self.matcher.patterns(), severity, message }
    }
}

impl<'r> RuleView<'r> {
    /// Returns the findings for members that none of the rule's tools declares.
    fn by_members(&self, tools: &[(&str, &Tool)]) -> Vec<ConditionFinding<'r>> {
        let accesses = self.when.map(RuleExpression::accesses).unwrap_or_default();
        let mut absent: Vec<AbsentMember> = Vec::new();
        for found in accesses.iter().filter_map(|access| AbsentMember::find(access, tools)) {
            match absent.iter_mut().find(|known| known.member.path == found.member.path) {
                // A test says more than the reads that it guards.
                Some(known) if found.kind == AccessKind::Test => known.kind = found.kind,
                Some(_) => {}
                None => absent.push(found),
            }
        }
        let pointer = format!("{}/when", self.pointer);
        absent.iter().map(|absent| self.finding(pointer.clone(), absent.severity(), absent.message(tools))).collect()
    }
}

/// A member that none of a rule's tools declares.
struct AbsentMember {
    member: MissingMember,
    kind: AccessKind,
    certainty: Certainty,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// No arguments can have the member.
    Impossible,
    /// Some tool accepts members that it does not declare.
    Undeclared,
}

impl AbsentMember {
    fn find(access: &ArgumentAccess, tools: &[(&str, &Tool)]) -> Option<Self> {
        let mut found: Option<Self> = None;
        for (_, tool) in tools {
            let (member, certainty) = match presence(tool, &access.path) {
                Presence::Possible => return None,
                Presence::Undeclared(member) => (member, Certainty::Undeclared),
                Presence::Impossible(member) => (member, Certainty::Impossible),
            };
            match &mut found {
                None => found = Some(Self { member, kind: access.kind, certainty }),
                Some(known) => {
                    known.member.declared.extend(member.declared);
                    if certainty == Certainty::Undeclared {
                        known.certainty = certainty;
                    }
                }
            }
        }
        found
    }

    fn severity(&self) -> ConditionSeverity {
        match (self.kind, self.certainty) {
            (AccessKind::Test, Certainty::Impossible) => ConditionSeverity::Fault,
            (AccessKind::Read, _) | (AccessKind::Test, Certainty::Undeclared) => ConditionSeverity::Warning,
        }
    }

    fn message(&self, tools: &[(&str, &Tool)]) -> String {
        let MissingMember { path, name, declared } = &self.member;
        let who = match tools {
            [(only, _)] => format!("`{only}`"),
            several => format!("none of the {} tools that the rule matches", several.len()),
        };
        let (accepts, declares) = match tools {
            [_] => ("accepts no", "does not declare"),
            _ => ("accepts", "declares"),
        };
        let advice = match nearest(name, declared.iter().map(String::as_str)).first() {
            Some(close) => format!("did you mean `{close}`?"),
            None => "check the name".to_owned(),
        };
        match (self.kind, self.certainty) {
            (AccessKind::Test, Certainty::Impossible) => {
                format!("the test for `{path}` is never true: {who} {accepts} `{name}`; {advice}")
            }
            (AccessKind::Read, Certainty::Impossible) => {
                format!("`{path}` can't be read, so the condition fails: {who} {accepts} `{name}`; {advice}")
            }
            (_, Certainty::Undeclared) => format!("{who} {declares} `{path}`, which may be misspelt; {advice}"),
        }
    }
}
