//! `contains`, `minContains` and `maxContains`.

use serde_json::Value;

use super::array::count;
use super::{Compile, Keyword, ValuePart};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::Instance;
use crate::schema::draft::Draft::{Draft6, Draft201909, Draft202012};
use crate::schema::mark::Marks;
use crate::schema::node::{NodeId, TypeRules};
use crate::schema::problem::{CustomProblem, Problem};
use crate::schema::rule::{AppliedTo, KeywordRule};
use crate::schema::shape::Shape;
use crate::schema::types::JsonType;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("contains", (Draft6, Draft202012), Shape::Schema, Compile::Rules(compile)).about(ValuePart::Items),
    Keyword::new("minContains", (Draft201909, Draft202012), Shape::Count, Compile::Nothing),
    Keyword::new("maxContains", (Draft201909, Draft202012), Shape::Count, Compile::Nothing),
];

fn compile<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let node = subschema.schema("contains", keyword);
    let (map, draft) = (subschema.map, subschema.draft);
    let bound = |word: &str| map.get(word).filter(|_| draft >= Draft201909).map(count);
    let (min, max) = (bound("minContains").unwrap_or(1), bound("maxContains").unwrap_or(usize::MAX));
    subschema.rule(Contains { node, min, max, evaluates: draft >= Draft202012 });
}

/// A rule that between `min` and `max` items must be valid for the node.
#[derive(Debug)]
struct Contains {
    node: NodeId,
    min: usize,
    max: usize,
    /// Set if the matching items count as evaluated.
    evaluates: bool,
}

impl KeywordRule for Contains {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if value.kind() != JsonType::Array {
            return;
        }
        let mut fitting = 0;
        for item in value.items() {
            if !walk.work(1) {
                return;
            }
            fitting += usize::from(walk.fits(self.node, item));
            if fitting > self.max || (fitting >= self.min && self.max == usize::MAX) {
                break;
            }
        }
        let (keyword, bound, count) = match fitting {
            _ if fitting < self.min && self.min == 1 => ("contains", "at least", 1),
            _ if fitting < self.min => ("minContains", "at least", self.min),
            _ if fitting > self.max => ("maxContains", "at most", self.max),
            _ => return,
        };
        let words = || {
            let items = if count == 1 { "item" } else { "items" };
            let expected = format!("{bound} {count} {items} of a certain form");
            let message = format!("must have {expected}; look at `contains` in the schema of this value");
            CustomProblem { expected, message }
        };
        walk.report(value, &Problem::Custom { keyword, words: &words });
    }

    fn mark(&self, value: Instance<'_>, walk: &mut Walk<'_, '_>, marks: &mut Marks) {
        if !self.evaluates || value.kind() != JsonType::Array {
            return;
        }
        for (at, item) in value.items().enumerate() {
            if walk.work(1) && walk.fits(self.node, item) {
                marks.add(at);
            }
        }
    }

    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        visit(&mut self.node, AppliedTo::ToParts);
    }
}
