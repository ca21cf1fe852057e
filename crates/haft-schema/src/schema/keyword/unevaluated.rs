//! `unevaluatedItems` and `unevaluatedProperties`: the parts of a value that no other keyword has evaluated.
//!
//! They are last in the order of keywords: the keywords beside them, and all nodes these apply, are checked first.

use serde_json::Value;

use super::{Compile, Keyword, ValuePart};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::Instance;
use crate::schema::draft::Draft::{Draft201909, Draft202012};
use crate::schema::mark::Marks;
use crate::schema::message::excerpt_of_text;
use crate::schema::node::{NEVER, NodeId, TypeRules};
use crate::schema::problem::{CustomProblem, Problem};
use crate::schema::rule::{AppliedTo, KeywordRule};
use crate::schema::shape::Shape;
use crate::schema::types::JsonType;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("unevaluatedItems", (Draft201909, Draft202012), Shape::Schema, Compile::Rules(items))
        .about(ValuePart::Items),
    Keyword::new("unevaluatedProperties", (Draft201909, Draft202012), Shape::Schema, Compile::Rules(properties))
        .about(ValuePart::OtherMembers),
];

fn items<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let node = subschema.schema("unevaluatedItems", keyword);
    subschema.rule(Unevaluated { kind: JsonType::Array, node });
}

fn properties<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let node = subschema.schema("unevaluatedProperties", keyword);
    subschema.rule(Unevaluated { kind: JsonType::Object, node });
}

/// A rule that the parts of a value that no other keyword has evaluated must be valid for the node.
#[derive(Debug)]
struct Unevaluated {
    kind: JsonType,
    node: NodeId,
}

impl KeywordRule for Unevaluated {
    fn check(&self, owner: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if value.kind() != self.kind {
            return;
        }
        let bytes = Marks::bytes(value.len());
        if walk.budget.memory(bytes).is_err() {
            return;
        }
        let mut marks = Marks::new(value.len());
        walk.mark_siblings(owner, self, value, &mut marks);
        match self.kind {
            JsonType::Array => self.check_items(value, &marks, walk),
            _ => self.check_members(value, &marks, walk),
        }
        walk.budget.release(bytes);
    }

    fn mark(&self, value: Instance<'_>, _: &mut Walk<'_, '_>, marks: &mut Marks) {
        if value.kind() == self.kind {
            marks.add_all();
        }
    }

    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        visit(&mut self.node, AppliedTo::ToParts);
    }
}

impl Unevaluated {
    fn check_items(&self, value: Instance<'_>, marks: &Marks, walk: &mut Walk<'_, '_>) {
        for (at, item) in value.items().enumerate() {
            if !walk.goes_on() || !walk.work(1) {
                return;
            }
            if marks.contains(at) {
                continue;
            }
            if self.node == NEVER {
                let words = || CustomProblem {
                    expected: "no further items".to_owned(),
                    message: format!("the items from index {at} on are not allowed; leave them out"),
                };
                walk.report(value, &Problem::Custom { keyword: "unevaluatedItems", words: &words });
                return;
            }
            walk.visit_item(self.node, at, item);
        }
    }

    fn check_members(&self, value: Instance<'_>, marks: &Marks, walk: &mut Walk<'_, '_>) {
        for (at, (key, member)) in value.members().enumerate() {
            if !walk.goes_on() || !walk.work(1) {
                return;
            }
            if marks.contains(at) {
                continue;
            }
            if self.node == NEVER {
                let words = || {
                    let name = excerpt_of_text(&key.name());
                    let message = format!("the key {name} is not allowed; leave it out");
                    CustomProblem { expected: "only declared keys".to_owned(), message }
                };
                walk.report_member(key, member, &Problem::Custom { keyword: "unevaluatedProperties", words: &words });
            } else {
                walk.visit_member(self.node, key, member);
            }
        }
    }
}
