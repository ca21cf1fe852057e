//! Over generated types and values, in every dialect and for the answer format of every profile: whatever is encoded
//! matches the rendered schema and decodes to the original, and whatever matches the rendered schema decodes to a valid
//! value. Where one does not hold, a reported loss for that place says why.

use haft_core::{Dialect, OutputFormat, Rendered};
use haft_schema::{CodecError, Schema};
use haft_wire::{GeminiDialect, Profile, Strictness};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestCaseResult, TestRunner};
use serde_json::{Map, Value, json};

use crate::dialect::checker::{ProviderRule, breaches, dialect_of, dialects};
use crate::dialect::generated::typed_value;
use crate::dialect::instance::instances;
use crate::explanation::{explains_change, explains_issue, explains_shape};
use crate::seeded::for_all_from;

const CASES: u32 = 150;
/// The seed for values. The search that decides which loss explains a difference may err itself, so new values are
/// drawn on purpose only.
const SEED: u64 = 14;

/// A schema rendered in a dialect.
pub(crate) struct Rendering<'s> {
    pub(crate) dialect: &'s str,
    pub(crate) schema: &'s Schema,
    pub(crate) rendered: Rendered,
}

/// Returns JSON Schema that accepts what a rendering accepts. Gemini's `parameters` have their own keywords, and
/// objects with only the listed members.
pub(crate) fn as_json_schema(dialect: &str, rendering: &Value) -> Value {
    let is_own = dialect == GeminiDialect::Parameters.name();
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

impl Rendering<'_> {
    fn context(&self) -> String {
        let Self { dialect, schema, rendered } = self;
        format!("{dialect}\n{}\n{}\n{:?}", schema.as_json(), rendered.json, rendered.losses)
    }

    /// Asserts that the rendering breaks no rule of the provider.
    fn assert_accepted(&self, rules: &[ProviderRule]) -> TestCaseResult {
        let found = breaches(rules, &self.rendered.json);
        prop_assert!(found.is_empty(), "{:#?}\n{}", found, self.context());
        Ok(())
    }

    /// Asserts that a value is encoded to one that the rendering accepts, and decoded to itself.
    fn assert_round_trip(&self, value: &Value) -> TestCaseResult {
        let Self { dialect, schema, rendered } = self;
        let text = value.to_string();
        let sent = rendered.codec.encode(&text);
        let sent = sent.map_err(|error| TestCaseError::fail(format!("{error}\n{}", self.context())))?;
        let decoded = rendered.codec.decode(&sent);
        let decoded = decoded.map_err(|error| TestCaseError::fail(format!("{error}: {sent}\n{}", self.context())))?;
        let decoded: Value = serde_json::from_str(&decoded).unwrap();
        prop_assert!(schema.check(&decoded).is_ok(), "{} is not valid, from {}\n{}", decoded, sent, self.context());
        let is_explained = decoded == *value || explains_change(schema, &rendered.losses, value, &decoded);
        prop_assert!(is_explained, "{} became {}, sent as {}\n{}", value, decoded, sent, self.context());
        if !rendered.json.is_null() {
            let checked = Schema::json(as_json_schema(dialect, &rendered.json)).unwrap();
            let sent: Value = serde_json::from_str(&sent).unwrap();
            let issues = checked.check(&sent);
            prop_assert!(issues.is_ok(), "{} is not valid by the rendering: {:?}\n{}", sent, issues, self.context());
        }
        Ok(())
    }

    /// Asserts that a text that follows the rendering is read as a valid value, which is encoded and decoded to itself.
    pub(crate) fn assert_read(&self, sent: &str) -> TestCaseResult {
        let Self { schema, rendered: Rendered { losses, codec, .. }, .. } = self;
        let decoded = match codec.decode(sent) {
            Ok(decoded) => serde_json::from_str::<Value>(&decoded).unwrap(),
            Err(CodecError::Shape { pointer, message }) => {
                let is_explained = explains_shape(schema, losses, &pointer);
                prop_assert!(is_explained, "{pointer}: {message}: {sent}\n{}", self.context());
                return Ok(());
            }
            // A grammar can't rule out that a key of an open object is repeated, and no schema is about that.
            Err(CodecError::Text(issues)) if issues.iter().all(|issue| issue.keyword == "duplicateKey") => {
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(format!("{error}: {sent}\n{}", self.context()))),
        };
        let Err(issues) = schema.check(&decoded) else { return self.assert_round_trip(&decoded) };
        for issue in &issues {
            let is_explained = explains_issue(schema, losses, issue);
            prop_assert!(is_explained, "{issue:?}: {decoded} from {sent}\n{}", self.context());
        }
        Ok(())
    }

    /// Asserts that instances of the rendering are read.
    pub(crate) fn assert_reads_instances(&self) -> TestCaseResult {
        if self.rendered.json.is_null() {
            return Ok(());
        }
        let strategy = instances(&self.rendered.json);
        let mut runner = TestRunner::deterministic();
        let checked = Schema::json(as_json_schema(self.dialect, &self.rendered.json)).unwrap();
        for _ in 0..8 {
            let sent = strategy.new_tree(&mut runner).unwrap().current();
            if checked.check(&sent).is_ok() {
                self.assert_read(&sent.to_string())?;
            }
        }
        Ok(())
    }
}

/// Asserts that two renderings of one schema are the same.
fn assert_same(first: &Rendered, second: &Rendered) {
    assert_eq!(first.json.to_string(), second.json.to_string(), "not deterministic");
    assert_eq!(first.losses, second.losses);
}

fn check(cases: u32, dialect: &str, rules: &[ProviderRule], render: impl Fn(&Schema) -> Rendered) {
    for_all_from(SEED, cases, typed_value(), |(ty, value)| {
        let schema = Schema::json(ty.schema()).unwrap();
        prop_assume!(schema.check(&value).is_ok());
        let rendered = render(&schema);
        assert_same(&rendered, &render(&schema));
        let rendering = Rendering { dialect, schema: &schema, rendered };
        rendering.assert_accepted(rules)?;
        rendering.assert_round_trip(&value)?;
        rendering.assert_reads_instances()
    });
}

fn check_dialect(at: usize) {
    let (dialect, rules) = dialects().swap_remove(at);
    check(CASES, dialect.name(), &rules, |schema| {
        dialect.render(schema).unwrap_or_else(|fault| panic!("{fault}\n{}", schema.as_json()))
    });
}

/// Checks the format of an answer on every profile.
fn check_output(strictness: Strictness) {
    for profile in Profile::all() {
        let profile = profile.strictness(strictness);
        let has_strict_mode = profile.name() != "mcp";
        let dialect = dialect_of(profile.name(), has_strict_mode && strictness == Strictness::On);
        let (_, rules) = dialects().into_iter().find(|(known, _)| known.name() == dialect).unwrap();
        check(40, dialect, &rules, |schema| {
            let format = OutputFormat::new("answer", schema.as_json().clone());
            let output = profile.render_output(&format).unwrap();
            let mut rendered = Rendered::exact(output.schema.clone()).with_codec(output.codec.clone());
            rendered.losses.clone_from(&output.losses);
            rendered
        });
    }
}

#[test]
fn answers_in_strict_mode() {
    check_output(Strictness::On);
}

#[test]
fn answers_without_strict_mode() {
    check_output(Strictness::Off);
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
