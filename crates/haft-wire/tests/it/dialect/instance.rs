//! Instances of rendered schemas, as a model that follows the schema would write them.

use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::dialect::generated::any_json;

/// The deepest nesting of references that instances have.
const MAX_DEPTH: usize = 6;

/// Returns instances of a rendered schema.
pub(crate) fn instances(root: &Value) -> BoxedStrategy<Value> {
    of(root, root, 0)
}

fn of(root: &Value, schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        return match root.pointer(reference.trim_start_matches('#')) {
            Some(target) if depth < MAX_DEPTH => of(root, target, depth + 1),
            _ => Just(Value::Null).boxed(),
        };
    }
    let mut kinds = if let Some(branches) = schema["anyOf"].as_array() {
        branches.iter().map(|branch| of(root, branch, depth)).collect()
    } else if let (Some(values), false) = (schema["enum"].as_array(), schema["type"] == "integer") {
        vec![prop::sample::select(values.clone()).boxed()]
    } else {
        match &schema["type"] {
            Value::Array(names) => names.iter().map(|name| typed(root, schema, name, depth)).collect(),
            name => vec![typed(root, schema, name, depth)],
        }
    };
    if schema["nullable"] == true {
        kinds.push(Just(Value::Null).boxed());
    }
    proptest::strategy::Union::new(kinds).boxed()
}

fn typed(root: &Value, schema: &Value, name: &Value, depth: usize) -> BoxedStrategy<Value> {
    match name.as_str() {
        Some("object") => object(root, schema, depth),
        Some("array") => array(root, schema, depth),
        Some("string") if schema["format"] == "date" => Just(Value::from("2024-02-29")).boxed(),
        Some("string") if schema["pattern"].is_string() => "x{0,3}".prop_map(Value::from).boxed(),
        Some("string") => "[ -~]{0,3}".prop_map(Value::from).boxed(),
        Some("integer") => match schema["enum"].as_array() {
            Some(_) => (1..=3).prop_map(Value::from).boxed(),
            None => (0..100).prop_map(Value::from).boxed(),
        },
        Some("number") => any::<i16>().prop_map(Value::from).boxed(),
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("null") => Just(Value::Null).boxed(),
        _ => any_json(),
    }
}

fn object(root: &Value, schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let listed = schema["properties"].as_object().into_iter().flatten().map(|(name, member)| {
        let (name, is_required) = (name.clone(), required.contains(&name.as_str().into()));
        (any::<bool>(), of(root, member, depth))
            .prop_map(move |(is_present, value)| (is_required || is_present).then(|| (name.clone(), value)))
    });
    let listed: Vec<_> = listed.collect();
    let others = match &schema["additionalProperties"] {
        Value::Bool(false) => Just(Vec::new()).boxed(),
        open => prop::collection::vec((key(), of(root, open, depth)), 0..3).boxed(),
    };
    (listed, others)
        .prop_map(|(listed, others)| {
            let mut members: Map<String, Value> = others.into_iter().collect();
            members.extend(listed.into_iter().flatten());
            Value::Object(members)
        })
        .boxed()
}

/// Returns keys, some of which a schema may list or match.
fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{3}", "[abnx]", "[nx]_[ab]"]
}

fn array(root: &Value, schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    let bound = |keyword: &str| schema[keyword].as_u64().and_then(|bound| usize::try_from(bound).ok());
    let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(3));
    if let Some(prefix) = schema["prefixItems"].as_array() {
        let items: Vec<_> = prefix.iter().map(|item| of(root, item, depth)).collect();
        return (items, least..=most).prop_map(|(items, length)| items.into_iter().take(length).collect()).boxed();
    }
    let is_pair = schema["items"]["properties"]["key"].is_object();
    let items = prop::collection::vec(of(root, &schema["items"], depth), least..=most.max(least));
    items
        .prop_map(move |mut items| {
            // The keys of pairs differ, as the description says.
            let mut keys = Vec::new();
            items.retain(|item| {
                let is_new = !is_pair || !keys.contains(&item["key"]);
                keys.push(item["key"].clone());
                is_new
            });
            items.into()
        })
        .boxed()
}
