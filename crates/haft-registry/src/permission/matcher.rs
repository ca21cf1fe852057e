//! The part of a rule that is decided once per tool: patterns on its full name, and conditions on its hints.

use std::fmt;

use haft_core::Annotations;

use super::pattern::ToolPattern;
use crate::name::FullName;

/// The tools that a rule is about.
#[derive(Clone, Debug)]
pub(super) struct ToolMatcher {
    patterns: Box<[ToolPattern]>,
    /// The patterns in lower case, for a rule that restricts.
    folded: Option<Box<[ToolPattern]>>,
    hints: HintConditions,
}

/// The effect of a matcher's rule, which decides about names that differ only in case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchEffect {
    /// The rule permits: a name must match exactly.
    Permits,
    /// The rule denies or asks. A name that differs from a matching one only in case counts as an attempt to evade the
    /// rule, so it matches too.
    Restricts,
}

/// The hints that a tool must have. Unset ones don't matter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HintConditions {
    pub(super) readonly: Option<bool>,
    pub(super) destructive: Option<bool>,
    pub(super) idempotent: Option<bool>,
    pub(super) open_world: Option<bool>,
}

/// A full name as text, made once for all rules it is compared with.
pub(super) struct NameText {
    exact: String,
    folded: String,
}

impl NameText {
    pub(super) fn of(name: &FullName) -> Self {
        let exact = name.to_string();
        Self { folded: exact.to_ascii_lowercase(), exact }
    }

    /// Returns the name as it is written.
    pub(super) fn exact(&self) -> &str {
        &self.exact
    }
}

impl ToolMatcher {
    pub(super) fn new(patterns: Vec<ToolPattern>, hints: HintConditions, effect: MatchEffect) -> Self {
        let folded = match effect {
            MatchEffect::Permits => None,
            MatchEffect::Restricts => Some(patterns.iter().map(ToolPattern::to_lowercase).collect()),
        };
        Self { patterns: patterns.into(), folded, hints }
    }

    pub(super) fn patterns(&self) -> &[ToolPattern] {
        &self.patterns
    }

    /// Returns the hint conditions as a person would write them, or `None` without any.
    pub(super) fn hints_text(&self) -> Option<String> {
        let HintConditions { readonly, destructive, idempotent, open_world } = self.hints;
        let hints = [
            ("readonly", readonly),
            ("destructive", destructive),
            ("idempotent", idempotent),
            ("open-world", open_world),
        ];
        let text =
            |(hint, expected): (&str, Option<bool>)| Some(format!("{}{hint}", if expected? { "" } else { "not " }));
        let texts: Vec<String> = hints.into_iter().filter_map(text).collect();
        (!texts.is_empty()).then(|| texts.join(" and "))
    }

    pub(super) fn matches(&self, name: &NameText, annotations: &Annotations) -> bool {
        self.hints.hold(annotations) && self.matches_name(name)
    }

    pub(super) fn matches_name(&self, name: &NameText) -> bool {
        match &self.folded {
            None => self.patterns.iter().any(|pattern| pattern.matches_text(&name.exact)),
            Some(folded) => folded.iter().any(|pattern| pattern.matches_text(&name.folded)),
        }
    }
}

impl HintConditions {
    /// Reports whether a tool has the hints. A tool without hints counts as the most dangerous one.
    fn hold(self, annotations: &Annotations) -> bool {
        let Self { readonly, destructive, idempotent, open_world } = self;
        readonly.is_none_or(|expected| annotations.readonly() == expected)
            && destructive.is_none_or(|expected| annotations.may_destroy() == expected)
            && idempotent.is_none_or(|expected| annotations.idempotent() == expected)
            && open_world.is_none_or(|expected| annotations.open_world() == expected)
    }
}

/// Writes the patterns and conditions as a person would, such as `github/* if readonly`.
impl fmt::Display for ToolMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, pattern) in self.patterns.iter().enumerate() {
            write!(f, "{}{pattern}", if index == 0 { "" } else { ", " })?;
        }
        self.hints_text().map_or(Ok(()), |hints| write!(f, " if {hints}"))
    }
}
