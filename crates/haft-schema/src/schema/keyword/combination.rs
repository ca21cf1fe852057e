//! `allOf` and `not`.

use serde_json::Value;

use super::{ALL, Compile, Keyword, ValuePart};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::Instance;
use crate::schema::mark::Marks;
use crate::schema::node::{NodeId, TypeRules};
use crate::schema::problem::{CustomProblem, Problem};
use crate::schema::rule::{AppliedTo, KeywordRule};
use crate::schema::shape::Shape;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("allOf", ALL, Shape::Schemas, Compile::Rules(all_of)).about(ValuePart::Value),
    Keyword::new("not", ALL, Shape::Schema, Compile::Rules(not)).about(ValuePart::Value),
];

fn all_of<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let Some(schemas) = keyword.as_array() else { return };
    for node in subschema.schemas("allOf", schemas) {
        subschema.also(node);
    }
}

fn not<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let node = subschema.schema("not", keyword);
    subschema.rule(Not(node));
}

/// A rule that every one of these nodes must accept the value.
#[derive(Debug)]
pub(in crate::schema) struct AllOf(pub(in crate::schema) Vec<NodeId>);

impl KeywordRule for AllOf {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        self.0.iter().for_each(|node| walk.visit(*node, value));
    }

    fn mark(&self, value: Instance<'_>, walk: &mut Walk<'_, '_>, marks: &mut Marks) {
        self.0.iter().for_each(|node| walk.mark(*node, value, marks));
    }

    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        self.0.iter_mut().for_each(|node| visit(node, AppliedTo::InPlace));
    }

    fn all_of(&self) -> &[NodeId] {
        &self.0
    }
}

/// A rule that the node must reject the value.
#[derive(Debug)]
struct Not(NodeId);

impl KeywordRule for Not {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if walk.fits(self.0, value) {
            let words = || CustomProblem {
                expected: "another value".to_owned(),
                message: "has a form that is not allowed here; look at the schema of this value".to_owned(),
            };
            walk.report(value, &Problem::Custom { keyword: "not", words: &words });
        }
    }

    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        visit(&mut self.0, AppliedTo::InPlace);
    }
}
