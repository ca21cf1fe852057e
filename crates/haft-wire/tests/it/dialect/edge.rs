//! Unusual schemas: other drafts, addresses, contradictions, and sizes beyond the limits.

use haft_core::{Dialect, LossKind, Rendered};
use haft_schema::Schema;
use haft_wire::{AnthropicDialect, GeminiDialect, McpDialect, OpenAiDialect};
use serde_json::{Map, Value, json};

use crate::dialect::checker::{breaches, dialects};

fn render(dialect: &dyn Dialect, schema: &Value) -> Rendered {
    dialect.render(&Schema::json(schema.clone()).unwrap()).unwrap()
}

fn member(schema: &Value) -> Value {
    json!({"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": false})
}

fn losses(rendered: &Rendered) -> Vec<(&str, LossKind)> {
    rendered.losses.iter().map(|loss| (loss.pointer.as_str(), loss.kind)).collect()
}

/// Asserts that every dialect renders a schema by its rules, and that arguments survive.
fn assert_everywhere(schema: &Value, arguments: &[Value]) {
    let schema = Schema::json(schema.clone()).unwrap();
    for (dialect, rules) in dialects() {
        let rendered = dialect.render(&schema).unwrap();
        assert_eq!(breaches(&rules, &rendered.json), [""; 0], "{}: {}", dialect.name(), rendered.json);
        for value in arguments {
            schema.check(value).unwrap();
            let text = value.to_string();
            let sent = rendered.codec.encode(&text).unwrap();
            assert_eq!(rendered.codec.decode(&sent).unwrap(), text, "{}: {sent}", dialect.name());
        }
    }
}

#[test]
fn drafts_before_2020_are_rendered_by_their_own_keywords() {
    let draft7 = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false, "minItems": 2},
            "name": {"$ref": "#/definitions/name", "type": "integer"},
        },
        "required": ["pair", "name"],
        "additionalProperties": false,
        "definitions": {"name": {"type": "string"}},
    });
    assert_everywhere(&draft7, &[json!({"pair": ["a", 1], "name": "b"})]);
    let rendered = render(&OpenAiDialect::Strict, &draft7);
    assert_eq!(rendered.json["properties"]["pair"]["properties"]["item_2"]["type"], "integer");
    // Beside `$ref` other keywords have no meaning in this draft.
    assert_eq!(rendered.json["$defs"]["name"], json!({"type": "string"}));
    let draft4 = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": true}},
        "required": ["n"],
        "additionalProperties": false,
    });
    assert_everywhere(&draft4, &[json!({"n": 1})]);
    let rendered = render(&OpenAiDialect::Strict, &draft4);
    assert_eq!(rendered.json["properties"]["n"]["minimum"], 0);
    assert_eq!(losses(&rendered), [("/properties/n/exclusiveMinimum", LossKind::Keyword)]);
}

#[test]
fn references_of_every_form_are_resolved() {
    let schema = json!({
        "$id": "https://example.com/root",
        "type": "object",
        "properties": {
            "anchor": {"$ref": "#text"},
            "address": {"$ref": "other#/$defs/number"},
            "pointer": {"$ref": "#/properties/anchor"},
            "$ref": {"type": "string"},
        },
        "required": ["anchor", "address", "pointer", "$ref"],
        "additionalProperties": false,
        "$defs": {
            "t": {"$anchor": "text", "type": "string"},
            "o": {"$id": "other", "$defs": {"number": {"type": "integer"}}},
        },
    });
    assert_everywhere(&schema, &[json!({"anchor": "a", "address": 1, "pointer": "b", "$ref": "c"})]);
    let rendered = render(&GeminiDialect::Parameters, &schema);
    assert_eq!(rendered.json["properties"]["address"]["type"], "integer");
}

#[test]
fn a_root_that_refers_to_itself_is_rendered() {
    let tree = json!({
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["children"],
        "additionalProperties": false,
    });
    assert_everywhere(&tree, &[json!({"children": [{"children": []}, {"children": [{"children": []}]}]})]);
    let list = json!({"type": "array", "items": {"$ref": "#"}});
    assert_everywhere(&list, &[json!([[], [[]]])]);
    let rendered = render(&McpDialect, &list);
    assert_eq!(rendered.json["properties"]["value"]["items"]["$ref"], "#/properties/value");
    assert_eq!(losses(&render(&AnthropicDialect::Strict, &tree)), [("/properties/children", LossKind::Reference)]);
}

#[test]
fn a_member_named_like_a_keyword_is_data() {
    let schema = json!({
        "type": "object",
        "properties": {
            "$ref": {"type": "string"},
            "oneOf": {"type": "array", "items": {"type": "string"}},
            "properties": {"type": "object", "properties": {"$ref": {"type": "string"}}, "additionalProperties": false},
        },
        "required": ["$ref", "oneOf"],
        "additionalProperties": false,
    });
    let values =
        [json!({"$ref": "#/nowhere", "oneOf": ["a"]}), json!({"$ref": "", "oneOf": [], "properties": {"$ref": "x"}})];
    assert_everywhere(&schema, &values);
    let array =
        json!({"type": "array", "items": {"properties": {"$ref": {"const": {"$ref": "#/x"}}}, "type": "object"}});
    let rendered = render(&McpDialect, &array);
    let moved = &rendered.json["properties"]["value"]["items"]["properties"]["$ref"]["const"];
    assert_eq!(*moved, json!({"$ref": "#/x"}));
}

#[test]
fn items_that_may_be_absent_or_null_are_read_back() {
    let schema = json!({"type": "array", "prefixItems": [{}, {"enum": ["a", null]}], "maxItems": 2});
    assert_everywhere(&schema, &[json!([]), json!([1, "a"]), json!([1, null]), json!([null, "a"])]);
}

#[test]
fn parts_of_all_of_are_one_schema() {
    let schema = json!({
        "allOf": [{"$ref": "#/$defs/named"}, {"properties": {"age": {"type": "integer"}}, "required": ["age"]}],
        "$defs": {"named": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    });
    assert_everywhere(&schema, &[json!({"name": "a", "age": 1})]);
    let rendered = render(&OpenAiDialect::Strict, &schema);
    assert_eq!(rendered.json["required"], json!(["name", "age"]));
}

#[test]
fn alternatives_that_only_restrict_are_stated_in_words() {
    let schema = json!({
        "type": "object",
        "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
        "additionalProperties": false,
    });
    assert_everywhere(&schema, &[json!({"id": "a"}), json!({"name": "a", "id": "b"})]);
    let rendered = render(&AnthropicDialect::Strict, &schema);
    assert_eq!(losses(&rendered), [("/anyOf", LossKind::Combination)]);
    assert!(rendered.json["description"].as_str().unwrap().contains(r#"[{"required":["id"]}"#));
}

#[test]
fn alternatives_that_cannot_be_told_apart_are_sent_as_text() {
    let optional =
        |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "additionalProperties": false});
    let schema = member(&json!({"anyOf": [optional("x"), optional("y")]}));
    assert_everywhere(&schema, &[json!({"a": {}}), json!({"a": {"x": "1"}}), json!({"a": {"y": "1"}})]);
    let rendered = render(&OpenAiDialect::Strict, &schema);
    assert_eq!(rendered.json["properties"]["a"]["type"], "string");
    assert_eq!(losses(&rendered), [("/properties/a", LossKind::Combination)]);
    // Where absent members are absent, nothing changes, and nothing has to be told apart.
    assert_eq!(losses(&render(&AnthropicDialect::Strict, &schema)), []);
}

#[test]
fn enumerated_strings_are_read_whatever_their_case() {
    let rendered = render(&AnthropicDialect::Strict, &member(&json!({"enum": ["Celsius", "Fahrenheit"]})));
    assert_eq!(rendered.codec.decode(r#"{"a":"celsius"}"#).unwrap(), r#"{"a":"Celsius"}"#);
    assert_eq!(rendered.codec.decode(r#"{"a":"kelvin"}"#).unwrap(), r#"{"a":"kelvin"}"#);
    let open = member(&json!({"anyOf": [{"enum": ["Celsius"]}, {"type": "string"}]}));
    assert_eq!(
        render(&AnthropicDialect::Strict, &open).codec.decode(r#"{"a":"celsius"}"#).unwrap(),
        r#"{"a":"celsius"}"#
    );
}

#[test]
fn values_below_the_depth_limit_are_sent_as_text() {
    let deep = (0..30).fold(json!({"type": "string"}), |inner, _| member(&inner));
    let value = (0..30).fold(json!("x"), |inner, _| json!({"a": inner}));
    assert_everywhere(&deep, &[value]);
    let rendered = render(&OpenAiDialect::Strict, &deep);
    assert_eq!(losses(&rendered), [("/properties/a".repeat(10).as_str(), LossKind::Limit)]);
}

#[test]
fn a_schema_beyond_the_sizes_of_a_provider_is_a_fault() {
    let properties: Map<String, Value> = (0..5_001).map(|at| (format!("p{at}"), json!({"type": "string"}))).collect();
    let wide = Schema::json(json!({"type": "object", "properties": properties})).unwrap();
    let fault = OpenAiDialect::Strict.render(&wide).unwrap_err();
    assert_eq!(fault.message, "the schema has 5001 members, and OpenAI strict allows 5000");
    assert!(AnthropicDialect::Strict.render(&wide).is_ok());
    let values: Vec<String> = (0..1_001).map(|at| at.to_string()).collect();
    let fault = OpenAiDialect::Strict.render(&Schema::json(member(&json!({"enum": values}))).unwrap()).unwrap_err();
    assert!(fault.message.contains("1001 enumerated values"), "{fault}");
}

#[test]
fn references_that_multiply_are_a_fault() {
    let mut definitions = Map::from_iter([("d0".to_owned(), json!({"type": "string"}))]);
    for at in 1..20 {
        let reference = json!({"$ref": format!("#/$defs/d{}", at - 1)});
        definitions.insert(format!("d{at}"), json!({"type": "object", "properties": {"a": reference, "b": reference}}));
    }
    let schema = Schema::json(json!({"$ref": "#/$defs/d19", "$defs": definitions})).unwrap();
    let fault = GeminiDialect::Parameters.render(&schema).unwrap_err();
    assert!(fault.message.contains("once its references are replaced"), "{fault}");
    assert!(AnthropicDialect::Strict.render(&schema).is_ok());
}

#[test]
fn a_schema_that_accepts_nothing_is_a_fault() {
    for (dialect, _) in dialects() {
        let fault = dialect.render(&Schema::json(json!(false)).unwrap()).unwrap_err();
        assert_eq!(fault.message, "no value is valid", "{}", dialect.name());
    }
    let contradiction = member(&json!({"allOf": [{"type": "string"}, {"type": "integer"}]}));
    let fault = OpenAiDialect::Strict.render(&Schema::json(contradiction).unwrap()).unwrap_err();
    assert_eq!(fault.pointer, "/properties/a");
}

#[test]
fn a_schema_of_any_value_is_rendered() {
    assert_everywhere(&json!(true), &[json!(null), json!("a"), json!([1, {"b": null}])]);
    assert_everywhere(&json!({"type": "object"}), &[json!({}), json!({"a": {"b": [1]}})]);
}

#[test]
fn keywords_that_a_provider_lacks_are_stated_and_reported() {
    let schema = member(&json!({
        "type": "string", "minLength": 2, "format": "uri", "not": {"const": "x"}, "x-note": 1, "examples": ["a"],
    }));
    let rendered = render(&OpenAiDialect::Strict, &schema);
    let at = |keyword: &str| format!("/properties/a/{keyword}");
    assert_eq!(
        losses(&rendered),
        [
            (at("minLength").as_str(), LossKind::Keyword),
            (at("format").as_str(), LossKind::Format),
            (at("not").as_str(), LossKind::Combination),
            (at("x-note").as_str(), LossKind::Annotation),
            (at("examples").as_str(), LossKind::Annotation),
        ]
    );
    assert_eq!(
        rendered.json["properties"]["a"]["description"],
        r#"At least 2 characters. Format: uri. By JSON Schema: "not": {"const":"x"}. Examples: ["a"]."#
    );
}

#[test]
fn an_object_sent_as_pairs_reports_that_keys_may_repeat() {
    let schema = member(&json!({"type": "object", "additionalProperties": {"type": "integer"}}));
    for dialect in [&OpenAiDialect::Strict as &dyn Dialect, &AnthropicDialect::Strict, &GeminiDialect::Parameters] {
        let rendered = render(dialect, &schema);
        assert_eq!(losses(&rendered), [("/properties/a", LossKind::Keyword)], "{}", dialect.name());
        let twice = r#"{"a":[{"key":"x","value":1},{"key":"x","value":2}]}"#;
        let error = rendered.codec.decode(twice).unwrap_err();
        assert!(error.to_string().contains("/a/1/key: the key \"x\" occurs twice"), "{error}");
    }
    assert_eq!(losses(&render(&GeminiDialect::JsonSchema, &schema)), []);
}

#[test]
fn an_open_object_with_renamed_keys_reports_that_their_own_names_are_taken() {
    let open = json!({"type": "object", "properties": {"a b": {"type": "integer"}}, "required": ["a b"]});
    let rendered = render(&GeminiDialect::JsonSchema, &open);
    assert_eq!(losses(&rendered), [("", LossKind::Keyword)]);
    assert_eq!(rendered.codec.decode(r#"{"a_b":1,"c":2}"#).unwrap(), r#"{"a b":1,"c":2}"#);
    assert!(rendered.codec.decode(r#"{"a_b":1,"a b":2}"#).is_err());
    let closed = member(&json!({"type": "integer"}));
    assert_eq!(losses(&render(&GeminiDialect::JsonSchema, &closed)), []);
}

#[test]
fn patterns_that_no_grammar_expresses_are_stated_in_words() {
    for pattern in [r"^(a|b)\1$", "^(?!x)", r"(?<n>a)\k<n>"] {
        let schema = member(&json!({"type": "string", "pattern": pattern}));
        for dialect in [&OpenAiDialect::Strict as &dyn Dialect, &AnthropicDialect::Strict, &GeminiDialect::Parameters] {
            let rendered = render(dialect, &schema);
            assert_eq!(losses(&rendered), [("/properties/a/pattern", LossKind::Keyword)], "{}", dialect.name());
            assert!(
                rendered.json["properties"]["a"]["description"]
                    .as_str()
                    .unwrap()
                    .contains(pattern.split('\\').next().unwrap())
            );
        }
    }
}
