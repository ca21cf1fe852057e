//! `minLength`, `maxLength` and `pattern`: checked while a string is read. Lengths count characters, not bytes.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::array::count;
use super::{ALL, Compile, Keyword};
use crate::schema::budget::{Budget, Spent};
use crate::schema::compile::Subschema;
use crate::schema::document::Instance;
use crate::schema::message::in_quotes;
use crate::schema::pattern::Pattern;
use crate::schema::problem::{Listed, Problem};
use crate::schema::shape::Shape;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("minLength", ALL, Shape::Count, Compile::Rules(min)),
    Keyword::new("maxLength", ALL, Shape::Count, Compile::Rules(max)),
    Keyword::new("pattern", ALL, Shape::Text, Compile::Rules(pattern)),
];

fn min(subschema: &mut Subschema<'_, '_>, keyword: &Value) {
    subschema.typed().string.min = count(keyword);
}

fn max(subschema: &mut Subschema<'_, '_>, keyword: &Value) {
    subschema.typed().string.max = count(keyword);
}

fn pattern(subschema: &mut Subschema<'_, '_>, keyword: &Value) {
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
    literals: Option<Literals>,
    /// The name of the form that such strings have. It is shown, not checked.
    format: Option<Box<str>>,
}

/// The strings that are allowed.
#[derive(Debug)]
struct Literals {
    listed: Box<[Box<str>]>,
    /// Only for lists too long to scan.
    index: Option<Box<HashSet<Box<str>>>>,
}

/// Lists with more strings than this are looked up by hash.
const MANY: usize = 16;

impl Default for StringRule {
    fn default() -> Self {
        Self { min: 0, max: usize::MAX, pattern: None, literals: None, format: None }
    }
}

impl StringRule {
    /// Reports whether there is any rule at all.
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
        let index = (listed.len() > MANY).then(|| Box::new(listed.iter().cloned().collect()));
        self.literals = Some(Literals { listed, index });
    }

    /// Reports whether a string fits. `budget` is made when a pattern has to be matched.
    pub(in crate::schema) fn fits(&self, text: &str, budget: &mut Budget) -> Result<bool, Spent> {
        if !self.is_listed(text) || self.length_problem(text).is_some() {
            return Ok(false);
        }
        self.pattern.as_ref().map_or(Ok(true), |pattern| pattern.is_match(text, budget))
    }

    /// Reports everything that is wrong with a string.
    pub(in crate::schema) fn check(&self, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if self.is_bare() {
            return;
        }
        let Some(text) = value.string() else { return };
        if !walk.work(text.len() / 64) {
            return;
        }
        if !self.is_listed(&text) {
            let literals = if walk.wants_words() { self.listed() } else { Listed::default() };
            let keyword = if literals.count == 1 { "const" } else { "enum" };
            walk.report(value, &Problem::OneOf { keyword, literals });
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

    /// Returns the strings that are allowed, as a rejection lists them.
    pub(in crate::schema) fn listed(&self) -> Listed<'_> {
        let literals = self.literals().unwrap_or_default().iter();
        Listed::of(literals.map(|literal| Cow::Owned(in_quotes(literal))))
    }

    pub(in crate::schema) fn is_listed(&self, text: &str) -> bool {
        match &self.literals {
            None => true,
            Some(Literals { index: Some(index), .. }) => index.contains(text),
            Some(Literals { listed, index: None }) => listed.iter().any(|literal| &**literal == text),
        }
    }

    fn length_problem(&self, text: &str) -> Option<Problem<'static>> {
        // A character has at most four bytes: most strings need not be counted.
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
