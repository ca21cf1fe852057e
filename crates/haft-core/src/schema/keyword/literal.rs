//! `enum` and `const`: the values that are allowed, one by one.

use std::borrow::Cow;

use serde_json::Value;

use super::{ALL, Compile, Keyword};
use crate::schema::budget::{Budget, Spent};
use crate::schema::compile::Subschema;
use crate::schema::document::{Document, Fingerprints, Instance, ReadOptions, same, sort_work};
use crate::schema::draft::Draft::{Draft6, Draft202012};
use crate::schema::message::clipped;
use crate::schema::node::Typed;
use crate::schema::problem::{Listed, Problem};
use crate::schema::rule::Rule;
use crate::schema::shape::Shape;
use crate::schema::types::Types;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("enum", ALL, Shape::Literals, Compile::Rules(any_literal)),
    Keyword::new("const", (Draft6, Draft202012), Shape::Any, Compile::Rules(one_literal)),
];

fn any_literal<'a>(subschema: &mut Subschema<'_, 'a>, keyword: &'a Value) {
    if let Some(literals) = keyword.as_array() {
        compile(subschema, "enum", literals);
    }
}

fn one_literal<'a>(subschema: &mut Subschema<'_, 'a>, keyword: &'a Value) {
    compile(subschema, "const", std::slice::from_ref(keyword));
}

fn compile(subschema: &mut Subschema<'_, '_>, keyword: &'static str, literals: &[Value]) {
    let are_strings = literals.iter().all(Value::is_string);
    let typed = subschema.typed();
    if are_strings && !typed.string.has_literals() {
        typed.string.set_literals(literals.iter().filter_map(Value::as_str));
        typed.types = typed.types.intersect(Types::STRING);
        return;
    }
    match Literals::new(keyword, literals, subschema.budget()) {
        Ok(rule) => subschema.rule(rule),
        Err(Spent) => subschema.fault(keyword, "holds more than can be compared with"),
    }
}

/// The values that are allowed.
#[derive(Debug)]
struct Literals {
    keyword: &'static str,
    /// All of them, as one array.
    document: Document<'static>,
    fingerprints: Fingerprints,
    /// The hash and the id of each, sorted.
    by_hash: Vec<(u64, u32)>,
}

impl Literals {
    fn new(keyword: &'static str, literals: &[Value], budget: &mut Budget) -> Result<Self, Spent> {
        let fingerprints = Fingerprints::new();
        let text = serde_json::to_string(literals).map_err(|_| Spent)?;
        budget.memory(text.len() + literals.len() * size_of::<(u64, u32)>())?;
        let options = ReadOptions { max_depth: usize::MAX };
        let document = Document::read_owned(text, options, budget).map_err(|_| Spent)?;
        let mut by_hash = Vec::with_capacity(literals.len());
        for literal in document.root().items() {
            by_hash.push((fingerprints.of(literal, budget)?, literal.id()));
        }
        budget.work(sort_work(by_hash.len()))?;
        by_hash.sort_unstable();
        Ok(Self { keyword, document, fingerprints, by_hash })
    }

    fn contains(&self, value: Instance<'_>, budget: &mut Budget) -> Result<bool, Spent> {
        let hash = self.fingerprints.of(value, budget)?;
        let first = self.by_hash.partition_point(|(other, _)| *other < hash);
        for (_, id) in self.by_hash[first..].iter().take_while(|(other, _)| *other == hash) {
            if let Some(literal) = self.document.instance(*id)
                && same(literal, value, budget)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn listed(&self) -> Listed<'_> {
        let literals = self.document.root().items().take(Listed::MOST);
        let first = literals.map(|literal| Cow::Borrowed(clipped(literal.raw()))).collect();
        Listed { first, count: self.by_hash.len() }
    }
}

impl Rule for Literals {
    fn check(&self, _: &Typed, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if self.contains(value, walk.budget) == Ok(false) {
            let literals = if walk.wants_words() { self.listed() } else { Listed::default() };
            walk.report(value, &Problem::OneOf { keyword: self.keyword, literals });
        }
    }
}
