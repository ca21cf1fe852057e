//! `minLength`, `maxLength` and `pattern`: checked while a string is read. Lengths count characters, not bytes.

use std::borrow::Cow;

use serde_json::Value;

use super::array::count;
use super::{ALL, Compile, Keyword};
use crate::schema::budget::{BudgetSpent, WorkBudget};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::Instance;
use crate::schema::message::{in_quotes, listed as words};
use crate::schema::pattern::Pattern;
use crate::schema::problem::{AllowedValues, Problem};
use crate::schema::shape::Shape;
use crate::schema::sorted::Sorted;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("minLength", ALL, Shape::Count, Compile::Rules(min)),
    Keyword::new("maxLength", ALL, Shape::Count, Compile::Rules(max)),
    Keyword::new("pattern", ALL, Shape::Text, Compile::Rules(pattern)),
];

fn min(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    subschema.typed().string.min = count(keyword);
}

fn max(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    subschema.typed().string.max = count(keyword);
}

fn pattern(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    let source = keyword.as_str().unwrap_or_default();
    match Pattern::compile(source, subschema.budget()) {
        Ok(pattern) => subschema.typed().string.pattern = Some(pattern.into()),
        Err(fault) => subschema.fault("pattern", fault.to_string()),
    }
}

/// Rules for strings.
#[derive(Debug)]
pub(in crate::schema) struct StringRule {
    min: usize,
    max: usize,
    pattern: Option<Box<Pattern>>,
    literals: Option<StringLiterals>,
    /// The `format` of the strings. It is shown, not checked.
    format: Option<Box<str>>,
}

/// The allowed strings.
#[derive(Debug)]
struct StringLiterals {
    listed: Box<[Box<str>]>,
    /// Used only for lists that are too long for a linear search.
    index: Sorted,
    /// The list as a rejection quotes it.
    words: Box<str>,
}

/// Lists with more strings than this are searched by an index.
const MANY: usize = 16;

impl Default for StringRule {
    fn default() -> Self {
        Self { min: 0, max: usize::MAX, pattern: None, literals: None, format: None }
    }
}

impl StringRule {
    /// Reports whether there are no rules.
    pub(in crate::schema) fn is_bare(&self) -> bool {
        let Self { min, max, pattern, literals, format: _ } = self;
        *min == 0 && *max == usize::MAX && pattern.is_none() && literals.is_none()
    }

    pub(in crate::schema) fn format(&self) -> Option<&str> {
        self.format.as_deref()
    }

    pub(in crate::schema) fn set_format(&mut self, format: &str) {
        self.format = Some(format.into());
    }

    pub(in crate::schema) fn has_literals(&self) -> bool {
        self.literals.is_some()
    }

    pub(in crate::schema) fn literals(&self) -> Option<&[Box<str>]> {
        self.literals.as_ref().map(|literals| &*literals.listed)
    }

    pub(in crate::schema) fn set_literals<'a>(&mut self, literals: impl Iterator<Item = &'a str>) {
        let listed: Box<[Box<str>]> = literals.map(Box::from).collect();
        let index = if listed.len() > MANY { Sorted::new(listed.len(), |at| &listed[at]) } else { Sorted::default() };
        let words = words(&AllowedValues::of(listed.iter().map(|literal| Cow::Owned(in_quotes(literal))))).into();
        self.literals = Some(StringLiterals { listed, index, words });
    }

    /// Reports whether a string is valid. `budget` is used only if a pattern has to be matched.
    pub(in crate::schema) fn fits(&self, text: &str, budget: &mut WorkBudget) -> Result<bool, BudgetSpent> {
        if !self.is_listed(text) || self.length_problem(text).is_some() {
            return Ok(false);
        }
        self.pattern.as_ref().map_or(Ok(true), |pattern| pattern.is_match(text, budget))
    }

    /// Reports all problems of a string.
    pub(in crate::schema) fn check(&self, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if self.is_bare() {
            return;
        }
        let Some(text) = value.string() else { return };
        if !walk.work(text.len() / 64) {
            return;
        }
        if !self.is_listed(&text) {
            let Some(StringLiterals { listed, words, .. }) = &self.literals else { return };
            let keyword = if listed.len() == 1 { "const" } else { "enum" };
            walk.report(value, &Problem::OneOf { keyword, listed: Cow::Borrowed(words), count: listed.len() });
            return;
        }
        if let Some(problem) = self.length_problem(&text) {
            walk.report(value, &problem);
        }
        if let Some(pattern) = &self.pattern
            && pattern.is_match(&text, walk.budget) == Ok(false)
        {
            walk.report(value, &Problem::Pattern(pattern.source()));
        }
    }

    pub(in crate::schema) fn is_listed(&self, text: &str) -> bool {
        match &self.literals {
            None => true,
            Some(StringLiterals { listed, index, .. }) if listed.len() > MANY => {
                index.find(text, |at| &listed[at]).is_some()
            }
            Some(StringLiterals { listed, .. }) => listed.iter().any(|literal| &**literal == text),
        }
    }

    fn length_problem(&self, text: &str) -> Option<Problem<'static>> {
        // A character has at most four bytes, so most strings need not be counted.
        if (self.min == 0 || text.len() >= self.min.saturating_mul(4)) && text.len() <= self.max {
            return None;
        }
        let length = text.chars().count();
        if length < self.min {
            return Some(Problem::Length { keyword: "minLength", bound: "at least", count: self.min, length });
        }
        (length > self.max).then_some(Problem::Length {
            keyword: "maxLength",
            bound: "at most",
            count: self.max,
            length,
        })
    }
}
