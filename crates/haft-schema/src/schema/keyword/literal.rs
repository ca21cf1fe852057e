//! `enum` and `const`: lists of allowed values.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::{ALL, Compile, Keyword};
use crate::schema::budget::{BudgetSpent, WorkBudget};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::{Document, Fingerprints, Instance, ReadOptions, all_differ, same, sort_work};
use crate::schema::draft::Draft::{Draft6, Draft202012};
use crate::schema::message::{clipped, listed};
use crate::schema::node::TypeRules;
use crate::schema::problem::{AllowedValues, Problem};
use crate::schema::rule::KeywordRule;
use crate::schema::shape::Shape;
use crate::schema::types::Types;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("enum", ALL, Shape::Literals, Compile::Rules(any_literal)),
    Keyword::new("const", (Draft6, Draft202012), Shape::Any, Compile::Rules(one_literal)),
];

fn any_literal<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    if let Some(literals) = keyword.as_array() {
        compile(subschema, "enum", literals);
    }
}

fn one_literal<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    compile(subschema, "const", std::slice::from_ref(keyword));
}

fn compile(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &'static str, literals: &[Value]) {
    let are_strings = literals.iter().all(Value::is_string);
    let typed = subschema.typed();
    if are_strings && !typed.string.has_literals() {
        typed.string.set_literals(literals.iter().filter_map(Value::as_str));
        typed.types = typed.types.intersect(Types::STRING);
        return;
    }
    match Literals::new(keyword, literals, subschema.budget()) {
        Ok(rule) => subschema.rule(rule),
        Err(BudgetSpent) => subschema.fault(keyword, "has more values than can be compared; shorten the list"),
    }
}

/// The allowed values.
#[derive(Debug)]
pub(super) struct Literals {
    keyword: &'static str,
    /// All of them, as one array.
    document: Document<'static>,
    fingerprints: Fingerprints,
    /// The hash and the id of each, sorted.
    by_hash: Vec<(u64, u32)>,
}

impl Literals {
    pub(super) fn new<V: Serialize>(
        keyword: &'static str,
        literals: &[V],
        budget: &mut WorkBudget,
    ) -> Result<Self, BudgetSpent> {
        let fingerprints = Fingerprints::new();
        let text = serde_json::to_string(literals).map_err(|_| BudgetSpent)?;
        budget.memory(text.len() + literals.len() * size_of::<(u64, u32)>())?;
        let options = ReadOptions { max_depth: usize::MAX };
        let document = Document::read_owned(text, options, budget).map_err(|_| BudgetSpent)?;
        let mut by_hash = Vec::with_capacity(literals.len());
        for literal in document.root().items() {
            by_hash.push((fingerprints.of(literal, budget)?, literal.id()));
        }
        budget.work(sort_work(by_hash.len()))?;
        by_hash.sort_unstable();
        Ok(Self { keyword, document, fingerprints, by_hash })
    }

    /// Reports whether no two of them are equal.
    pub(super) fn are_different(&self, budget: &mut WorkBudget) -> Result<bool, BudgetSpent> {
        all_differ(self.document.root(), budget)
    }

    fn contains(&self, value: Instance<'_>, budget: &mut WorkBudget) -> Result<bool, BudgetSpent> {
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

    fn listed(&self) -> AllowedValues<'_> {
        let literals = self.document.root().items().take(AllowedValues::MOST);
        let first = literals.map(|literal| Cow::Borrowed(clipped(literal.raw()))).collect();
        AllowedValues { first, count: self.by_hash.len() }
    }
}

impl KeywordRule for Literals {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if self.contains(value, walk.budget) == Ok(false) {
            let listed = if walk.collects_issues() { listed(&self.listed()).into() } else { Cow::Borrowed("") };
            walk.report(value, &Problem::OneOf { keyword: self.keyword, listed, count: self.by_hash.len() });
        }
    }
}
