//! A permission rule: whom it is about, and what it decides.

use std::fmt;
use std::sync::Arc;

use haft_core::Annotations;

use super::condition::RuleView;
use super::expression::RuleExpression;
use super::matcher::{NameText, ToolMatcher};
use super::pattern::ToolPattern;
use crate::name::FullName;

/// The longest expression in an unnamed rule's name, in characters.
const SHOWN: usize = 80;

/// A rule that allows or denies tool calls. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct PermissionRule(Arc<RuleParts>);

#[derive(Clone, Debug)]
pub(super) struct RuleParts {
    pub(super) name: Box<str>,
    /// The JSON Pointer to the rule in its settings.
    pub(super) pointer: Box<str>,
    pub(super) effect: RuleEffect,
    pub(super) matcher: ToolMatcher,
    pub(super) when: Option<RuleExpression>,
}

/// A rule whose patterns match no tool. It may be misspelt.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct UnmatchedRule<'r> {
    /// The rule's name: its own, or its text.
    pub name: &'r str,
    /// The JSON Pointer to the rule in the settings it was built from.
    pub pointer: &'r str,
    /// The patterns, one of which would have to match.
    pub patterns: &'r [ToolPattern],
}

/// A permission rule's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleEffect {
    /// Calls are allowed unless another rule denies them.
    Allow,
    /// Calls are denied.
    Deny,
}

impl PermissionRule {
    pub(super) fn new(parts: RuleParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns the same rule with its file's name before its own.
    pub(super) fn of_file(&self, file: &str) -> Self {
        Self::new(RuleParts { name: super::in_file(file, self.name()), ..(*self.0).clone() })
    }

    /// Returns the name that denials use for the rule: its own, or its text. If the rule is not from the workspace's
    /// own file, the name begins with the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the effect.
    #[must_use]
    pub fn effect(&self) -> RuleEffect {
        self.0.effect
    }

    /// Returns the patterns, one of which must match.
    #[must_use]
    pub fn patterns(&self) -> &[ToolPattern] {
        self.0.matcher.patterns()
    }

    /// Returns the expression that must be true for a call.
    #[must_use]
    pub fn when(&self) -> Option<&RuleExpression> {
        self.0.when.as_ref()
    }

    /// Reports whether the rule is about this tool with at least some arguments.
    #[must_use]
    pub fn matches(&self, name: &FullName, annotations: &Annotations) -> bool {
        self.is_about(&NameText::of(name), annotations)
    }

    pub(super) fn is_about(&self, name: &NameText, annotations: &Annotations) -> bool {
        self.0.matcher.matches(name, annotations)
    }

    pub(super) fn matches_name(&self, name: &NameText) -> bool {
        self.0.matcher.matches_name(name)
    }

    pub(super) fn as_unmatched(&self) -> UnmatchedRule<'_> {
        let RuleParts { name, pointer, matcher, .. } = &*self.0;
        UnmatchedRule { name, pointer, patterns: matcher.patterns() }
    }

    /// Returns the parts that are compared with tools.
    pub(super) fn view(&self) -> RuleView<'_> {
        let RuleParts { name, pointer, matcher, .. } = &*self.0;
        RuleView { name, pointer, matcher, when: self.when() }
    }

    /// Reports whether the rule depends on the arguments.
    pub(super) fn is_conditional(&self) -> bool {
        self.0.when.is_some()
    }
}

impl fmt::Display for RuleEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        })
    }
}

/// Writes the rule as a person would, such as `allow github/* if readonly`.
impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.effect, self.0.matcher)?;
        if let Some(when) = &self.0.when {
            write!(f, " when {when}")?;
        }
        Ok(())
    }
}

/// Returns an unnamed rule's name: its text, with a long expression shortened.
pub(super) fn default_name(effect: &str, matcher: &ToolMatcher, when: Option<&RuleExpression>) -> String {
    let condition = when.map_or_else(String::new, |when| {
        let source = when.source();
        let shown: String = source.chars().take(SHOWN).collect();
        let mark = if shown.len() < source.len() { "…" } else { "" };
        format!(" when {shown}{mark}")
    });
    format!("{effect} {matcher}{condition}")
}
