//! `enum` and `const`: the values that are allowed, one by one.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::{ALL, Compile, Keyword};
use crate::schema::budget::{Budget, Spent};
use crate::schema::compile::Subschema;
use crate::schema::document::{Document, Fingerprints, Instance, ReadOptions, same};
use crate::schema::draft::Draft::{Draft6, Draft202012};
use crate::schema::node::Typed;
use crate::schema::problem::Problem;
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
    documents: Vec<Document<'static>>,
    fingerprints: Fingerprints,
    by_hash: HashMap<u64, Vec<usize>>,
}

impl Literals {
    fn new(keyword: &'static str, literals: &[Value], budget: &mut Budget) -> Result<Self, Spent> {
        let fingerprints = Fingerprints::new();
        let mut documents = Vec::with_capacity(literals.len());
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        for literal in literals {
            let options = ReadOptions { max_depth: usize::MAX };
            let document = Document::read_owned(literal.to_string(), options, budget).map_err(|_| Spent)?;
            by_hash.entry(fingerprints.of(document.root(), budget)?).or_default().push(documents.len());
            documents.push(document);
        }
        Ok(Self { keyword, documents, fingerprints, by_hash })
    }

    fn contains(&self, value: Instance<'_>, budget: &mut Budget) -> Result<bool, Spent> {
        let hash = self.fingerprints.of(value, budget)?;
        for at in self.by_hash.get(&hash).into_iter().flatten() {
            if same(self.documents[*at].root(), value, budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Rule for Literals {
    fn check(&self, _: &Typed, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if self.contains(value, walk.budget) == Ok(false) {
            let literals = if walk.wants_words() {
                self.documents.iter().map(|document| Cow::Borrowed(document.text())).collect()
            } else {
                Vec::new()
            };
            walk.report(value, &Problem::OneOf { keyword: self.keyword, literals });
        }
    }
}
