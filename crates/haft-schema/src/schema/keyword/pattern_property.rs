//! `patternProperties`: rules for members by a pattern of their key.

use serde_json::Value;

use super::{ALL, Compile, Keyword, ValuePart};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::{Instance, MemberKey};
use crate::schema::mark::Marks;
use crate::schema::message::{clipped, excerpt_of_text};
use crate::schema::node::{ANY, NEVER, NodeId, TypeRules};
use crate::schema::pattern::Pattern;
use crate::schema::problem::{CustomProblem, Problem};
use crate::schema::rule::{AppliedTo, KeywordRule};
use crate::schema::shape::Shape;
use crate::schema::types::JsonType;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] =
    &[Keyword::new("patternProperties", ALL, Shape::SchemasByName, Compile::Rules(compile))
        .about(ValuePart::MatchingMembers)];

fn compile<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let mut patterns = Vec::new();
    for (source, schema) in keyword.as_object().into_iter().flatten() {
        let node = subschema.named_schema("patternProperties", source, schema);
        match Pattern::compile(source, subschema.budget()) {
            Ok(pattern) => patterns.push((pattern, node)),
            Err(fault) => subschema.fault("patternProperties", format!("the pattern {}: {fault}", clipped(source))),
        }
    }
    let map = subschema.map;
    let additional = map.get("additionalProperties");
    let additional = additional.map_or(ANY, |schema| subschema.schema("additionalProperties", schema));
    subschema.rule(PatternProperties { patterns, additional });
}

/// A rule that members whose key matches a pattern must be valid for its node; undeclared members that match no
/// pattern, for another node.
#[derive(Debug)]
struct PatternProperties {
    patterns: Vec<(Pattern, NodeId)>,
    additional: NodeId,
}

impl PatternProperties {
    /// Returns the nodes whose pattern matches a key. An exhausted budget ends the walk, so the result is ignored then.
    fn matching(&self, key: &str, walk: &mut Walk<'_, '_>) -> Vec<NodeId> {
        let matches = |(pattern, _): &&(Pattern, NodeId)| pattern.is_match(key, walk.budget).unwrap_or_default();
        self.patterns.iter().filter(matches).map(|(_, node)| *node).collect()
    }

    fn check_additional(&self, key: MemberKey<'_>, member: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if self.additional != NEVER {
            walk.visit_member(self.additional, key, member);
            return;
        }
        let words = || {
            let name = excerpt_of_text(&key.name());
            let sources: Vec<&str> =
                self.patterns.iter().map(|(pattern, _)| clipped(pattern.source())).take(4).collect();
            let message = format!("the key {name} is not allowed; keys must match {}", sources.join(" or "));
            CustomProblem { expected: "only declared keys".to_owned(), message }
        };
        walk.report_member(key, member, &Problem::Custom { keyword: "additionalProperties", words: &words });
    }
}

impl KeywordRule for PatternProperties {
    fn check(&self, owner: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if value.kind() != JsonType::Object {
            return;
        }
        for (at, (key, member)) in value.members().enumerate() {
            if !walk.goes_on() || !walk.work(1) {
                return;
            }
            let name = key.name();
            let matching = self.matching(&name, walk);
            for node in &matching {
                walk.visit_member(*node, key, member);
            }
            let declared = owner.object.find(&name, at).map(|at| &owner.object.properties[at]);
            if matching.is_empty() && declared.is_none_or(|property| !property.declared) {
                self.check_additional(key, member, walk);
            }
        }
    }

    fn mark(&self, value: Instance<'_>, walk: &mut Walk<'_, '_>, marks: &mut Marks) {
        if value.kind() != JsonType::Object {
            return;
        }
        for (at, (key, _)) in value.members().enumerate() {
            if walk.work(1) && !self.matching(&key.name(), walk).is_empty() {
                marks.add(at);
            }
        }
    }

    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        self.patterns.iter_mut().for_each(|(_, node)| visit(node, AppliedTo::ToParts));
        visit(&mut self.additional, AppliedTo::ToParts);
    }
}
