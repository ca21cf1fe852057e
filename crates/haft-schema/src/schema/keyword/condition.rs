//! `if`, `then` and `else`.

use serde_json::Value;

use super::{Compile, Keyword, ValuePart};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::Instance;
use crate::schema::draft::Draft::{Draft7, Draft202012};
use crate::schema::mark::Marks;
use crate::schema::node::{ANY, NodeId, TypeRules};
use crate::schema::rule::{AppliedTo, KeywordRule};
use crate::schema::shape::Shape;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("if", (Draft7, Draft202012), Shape::Schema, Compile::Rules(compile)).about(ValuePart::Value),
    Keyword::new("then", (Draft7, Draft202012), Shape::Schema, Compile::Nothing).about(ValuePart::Value),
    Keyword::new("else", (Draft7, Draft202012), Shape::Schema, Compile::Nothing).about(ValuePart::Value),
];

fn compile<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let map = subschema.map;
    let condition = subschema.schema("if", keyword);
    let [then, otherwise] =
        ["then", "else"].map(|word| map.get(word).map_or(ANY, |schema| subschema.schema(word, schema)));
    subschema.rule(Condition { tested: condition, then, otherwise });
}

/// A rule that a value accepted by the first node must be accepted by the second, and any other by the third.
#[derive(Debug)]
struct Condition {
    tested: NodeId,
    then: NodeId,
    otherwise: NodeId,
}

impl KeywordRule for Condition {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        let applied = if walk.fits(self.tested, value) { self.then } else { self.otherwise };
        walk.visit(applied, value);
    }

    fn mark(&self, value: Instance<'_>, walk: &mut Walk<'_, '_>, marks: &mut Marks) {
        if walk.fits(self.tested, value) {
            walk.mark(self.tested, value, marks);
            walk.mark(self.then, value, marks);
        } else {
            walk.mark(self.otherwise, value, marks);
        }
    }

    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        for node in [&mut self.tested, &mut self.then, &mut self.otherwise] {
            visit(node, AppliedTo::InPlace);
        }
    }
}
