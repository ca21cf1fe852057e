//! Over generated types and values, on every dialect: whatever is encoded is valid by the rendered schema and decodes to
//! the original, and whatever follows the rendered schema decodes to a valid value, or the losses say why not.

use haft_core::{CodecError, Dialect, LossKind, Rendered, Schema};
use haft_wire::GeminiDialect;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestCaseResult, TestRunner};
use serde_json::{Map, Value, json};

use crate::checker::{breaches, dialects};
use crate::generated::{GeneratedType, typed_value};
use crate::instance::instances;
use crate::seeded::for_all;

const CASES: u32 = 150;

fn render(dialect: &dyn Dialect, schema: &Schema) -> Rendered {
    let rendered =
        dialect.render(schema).unwrap_or_else(|fault| panic!("{}: {fault}\n{}", dialect.name(), schema.as_json()));
    let again = dialect.render(schema).unwrap();
    assert_eq!(rendered.json.to_string(), again.json.to_string(), "{}: not deterministic", dialect.name());
    assert_eq!(rendered.losses, again.losses);
    rendered
}

/// Returns JSON Schema that accepts what a rendering accepts. Gemini's `parameters` have keywords of their own, and
/// objects with the listed members only.
pub(crate) fn as_json_schema(dialect: &dyn Dialect, rendering: &Value) -> Value {
    let is_own = dialect.name() == GeminiDialect::Parameters.name();
    in_json_schema(rendering, if is_own { UnlistedMembers::Rejected } else { UnlistedMembers::Accepted })
}

/// The meaning of an object that states nothing about members that are not listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnlistedMembers {
    Accepted,
    Rejected,
}

fn in_json_schema(schema: &Value, unlisted: UnlistedMembers) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut json = Map::new();
    for (keyword, value) in keywords {
        match keyword.as_str() {
            "nullable" | "propertyOrdering" | "example" => {}
            "format" if value == "enum" => {}
            "enum"
                if keywords.get("type") != Some(&"string".into()) && keywords.get("format") == Some(&"enum".into()) =>
            {
                let parsed = value
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|text| serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap());
                json.insert(keyword.clone(), parsed.collect());
            }
            "properties" | "$defs" => {
                let schemas = value.as_object().unwrap().iter();
                let schemas = schemas.map(|(name, schema)| (name.clone(), in_json_schema(schema, unlisted)));
                json.insert(keyword.clone(), Value::Object(schemas.collect()));
            }
            "anyOf" | "prefixItems" => {
                json.insert(
                    keyword.clone(),
                    value.as_array().unwrap().iter().map(|schema| in_json_schema(schema, unlisted)).collect(),
                );
            }
            "items" | "additionalProperties" => {
                json.insert(keyword.clone(), in_json_schema(value, unlisted));
            }
            _ => {
                json.insert(keyword.clone(), value.clone());
            }
        }
    }
    if unlisted == UnlistedMembers::Rejected && json.contains_key("properties") {
        json.insert("additionalProperties".to_owned(), false.into());
    }
    match keywords.get("nullable") {
        Some(Value::Bool(true)) => json!({"anyOf": [json, {"type": "null"}]}),
        _ => json.into(),
    }
}

/// Returns a value without members that are `null`.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, member)| !member.is_null());
            kept.map(|(name, member)| (name.clone(), without_nulls(member))).collect()
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(without_nulls).collect();
            while items.last().is_some_and(Value::is_null) {
                items.pop();
            }
            items.into()
        }
        other => other.clone(),
    }
}

fn assert_round_trip(dialect: &dyn Dialect, ty: &GeneratedType, value: &Value) -> TestCaseResult {
    let schema = Schema::json(ty.schema()).unwrap();
    prop_assume!(schema.check(value).is_ok());
    let rendered = render(dialect, &schema);
    let name = dialect.name();
    let context = || format!("{name}\n{}\n{}\n{:?}", schema.as_json(), rendered.json, rendered.losses);
    let text = value.to_string();
    let sent = rendered.codec.encode(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{}", context())))?;
    let decoded =
        rendered.codec.decode(&sent).map_err(|error| TestCaseError::fail(format!("{error}: {sent}\n{}", context())))?;
    let decoded: Value = serde_json::from_str(&decoded).unwrap();
    prop_assert!(schema.check(&decoded).is_ok(), "{} is not valid, from {}\n{}", decoded, sent, context());
    if rendered.losses.iter().any(|loss| loss.kind == LossKind::Ambiguity) {
        prop_assert_eq!(without_nulls(&decoded), without_nulls(value), "{}\n{}", sent, context());
    } else {
        prop_assert_eq!(&decoded, value, "{}\n{}", sent, context());
    }
    if !rendered.json.is_null() {
        let checked = Schema::json(as_json_schema(dialect, &rendered.json)).unwrap();
        let sent: Value = serde_json::from_str(&sent).unwrap();
        let issues = checked.check(&sent);
        prop_assert!(issues.is_ok(), "{} is not valid by the rendering: {:?}\n{}", sent, issues, context());
    }
    Ok(())
}

fn assert_decodes(dialect: &dyn Dialect, ty: &GeneratedType) -> TestCaseResult {
    let schema = Schema::json(ty.schema()).unwrap();
    let rendered = render(dialect, &schema);
    let name = dialect.name();
    let context = || format!("{name}\n{}\n{}\n{:?}", schema.as_json(), rendered.json, rendered.losses);
    let strategy = instances(&rendered.json);
    let mut runner = TestRunner::deterministic();
    for _ in 0..8 {
        let sent = strategy.new_tree(&mut runner).unwrap().current();
        let checked = Schema::json(as_json_schema(dialect, &rendered.json)).unwrap();
        if checked.check(&sent).is_err() {
            continue;
        }
        let decoded = match rendered.codec.decode(&sent.to_string()) {
            Ok(decoded) => serde_json::from_str::<Value>(&decoded).unwrap(),
            Err(CodecError::Shape { .. }) if !rendered.losses.is_empty() => continue,
            Err(error) => return Err(TestCaseError::fail(format!("{error}: {sent}\n{}", context()))),
        };
        let is_valid = schema.check(&decoded).is_ok();
        prop_assert!(is_valid || !rendered.losses.is_empty(), "{} from {}\n{}", decoded, sent, context());
        if is_valid {
            let text = decoded.to_string();
            let again = rendered.codec.encode(&text).unwrap();
            let again: Value = serde_json::from_str(&rendered.codec.decode(&again).unwrap()).unwrap();
            let is_same = again == decoded || without_nulls(&again) == without_nulls(&decoded);
            prop_assert!(is_same, "{} from {}, then {}\n{}", decoded, sent, again, context());
        }
    }
    Ok(())
}

fn check_dialect(at: usize) {
    let (dialect, rules) = dialects().swap_remove(at);
    for_all(CASES, typed_value(), |(ty, value)| {
        assert_round_trip(&*dialect, &ty, &value)?;
        let schema = Schema::json(ty.schema()).unwrap();
        let rendered = render(&*dialect, &schema);
        let found = breaches(&rules, &rendered.json);
        prop_assert!(found.is_empty(), "{}: {:#?}\n{}\n{}", dialect.name(), found, schema.as_json(), rendered.json);
        if !rendered.json.is_null() {
            assert_decodes(&*dialect, &ty)?;
        }
        Ok(())
    });
}

#[test]
fn openai_strict() {
    check_dialect(0);
}

#[test]
fn openai_plain() {
    check_dialect(1);
}

#[test]
fn anthropic_strict() {
    check_dialect(2);
}

#[test]
fn anthropic_plain() {
    check_dialect(3);
}

#[test]
fn gemini_parameters() {
    check_dialect(4);
}

#[test]
fn gemini_json_schema() {
    check_dialect(5);
}

#[test]
fn mcp() {
    check_dialect(6);
}
