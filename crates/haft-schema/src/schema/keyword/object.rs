//! `properties`, `required`, `additionalProperties`, `minProperties` and `maxProperties`: checked while an object is
//! read; and `propertyNames`, which needs the whole object.

use std::collections::HashSet;

use serde_json::Value;

use super::array::count;
use super::{ALL, Compile, Keyword, ValuePart};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::document::Instance;
use crate::schema::draft::Draft::{Draft4, Draft6, Draft202012};
use crate::schema::message::excerpt_of_text;
use crate::schema::node::{ANY, NEVER, NodeId, Openness, Property, TypeRules};
use crate::schema::problem::{CustomProblem, Problem};
use crate::schema::rule::{AppliedTo, KeywordRule};
use crate::schema::shape::Shape;
use crate::schema::types::JsonType;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("properties", ALL, Shape::SchemasByName, Compile::Rules(properties)).about(ValuePart::Members),
    // `required` is compiled together with `properties`; this row covers schemas without `properties`.
    Keyword::new("required", (Draft4, Draft4), Shape::SomeNames, Compile::Rules(properties)),
    Keyword::new("required", (Draft6, Draft202012), Shape::Names, Compile::Rules(properties)),
    Keyword::new("additionalProperties", (Draft4, Draft4), Shape::SchemaOrBoolean, Compile::Rules(additional))
        .about(ValuePart::OtherMembers),
    Keyword::new("additionalProperties", (Draft6, Draft202012), Shape::Schema, Compile::Rules(additional))
        .about(ValuePart::OtherMembers),
    Keyword::new("minProperties", ALL, Shape::Count, Compile::Rules(min)),
    Keyword::new("maxProperties", ALL, Shape::Count, Compile::Rules(max)),
    Keyword::new("propertyNames", (Draft6, Draft202012), Shape::Schema, Compile::Rules(names))
        .about(ValuePart::MemberNames),
];

/// Compiles `properties` and `required` into one list. It runs for the first of the two.
fn properties<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, _: &'a Value) {
    if !subschema.typed().object.properties.is_empty() {
        return;
    }
    let map = subschema.map;
    let mut list: Vec<Property> = Vec::new();
    for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let node = subschema.named_schema("properties", name, schema);
        if !subschema.takes(Property::bytes(name)) {
            return;
        }
        list.push(Property::new(name, node));
    }
    let is_open = list.is_empty();
    let mut required: HashSet<&str> =
        map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    for property in &mut list {
        property.required = required.remove(&*property.name);
    }
    // Required names that are not declared, in their order.
    let names = map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in names.filter(|name| required.remove(name)) {
        if !subschema.takes(Property::bytes(name)) {
            return;
        }
        list.push(Property { declared: false, required: true, ..Property::new(name, ANY) });
    }
    let others = ["additionalProperties", "patternProperties", "unevaluatedProperties"];
    let object = &mut subschema.typed().object;
    object.open = match is_open {
        _ if others.iter().any(|word| map.contains_key(*word)) => Openness::Declared,
        true => Openness::Silent,
        false => Openness::Implied,
    };
    object.set_properties(list);
}

/// Compiles `additionalProperties`. Beside `patternProperties`, that keyword checks the members that neither names.
fn additional<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let has_patterns = subschema.map.contains_key("patternProperties");
    let node = subschema.schema("additionalProperties", keyword);
    let object = &mut subschema.typed().object;
    object.covers_rest = true;
    object.open = Openness::Declared;
    if has_patterns {
        return;
    }
    object.additional = node;
    // A name that is only required has the schema of all other members.
    for property in object.properties.iter_mut().filter(|property| !property.declared) {
        property.node = node;
    }
}

fn min(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    subschema.typed().object.min = count(keyword);
}

fn max(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    subschema.typed().object.max = count(keyword);
}

fn names<'a>(subschema: &mut SubschemaCompiler<'_, 'a>, keyword: &'a Value) {
    let node = subschema.schema("propertyNames", keyword);
    subschema.rule(PropertyNames(node));
}

/// A rule that every key must be valid for the node.
#[derive(Debug)]
struct PropertyNames(NodeId);

impl KeywordRule for PropertyNames {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if value.kind() != JsonType::Object {
            return;
        }
        for (key, member) in value.members() {
            if !walk.goes_on() || !walk.work(1) {
                return;
            }
            if self.0 == NEVER || !walk.fits(self.0, key.as_instance()) {
                let words = || {
                    let expected = "an allowed key".to_owned();
                    let name = excerpt_of_text(&key.name());
                    let message =
                        format!("the key {name} is not allowed by `propertyNames` in the schema of this object");
                    CustomProblem { expected, message }
                };
                walk.report_member(key, member, &Problem::Custom { keyword: "propertyNames", words: &words });
            }
        }
    }

    fn edges(&mut self, visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {
        visit(&mut self.0, AppliedTo::ToParts);
    }
}
