//! Every format of an answer.

use haft_core::{Item, OutputFormat, TurnRequest};
use serde_json::{Value, json};

use super::super::sample_tools;
use super::case::RequestCase;

pub(super) fn cases() -> Vec<RequestCase> {
    let person = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2},
            "age": {"type": ["integer", "null"], "minimum": 0},
            "tags": {"type": "object", "additionalProperties": {"type": "string"}},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": false},
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    let recursive = json!({
        "type": "object", "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        "properties": {"root": {"$ref": "#/$defs/node"}},
    });
    let schemas = [
        ("an object", person),
        ("an open object", json!({"type": "object"})),
        ("anything", json!({})),
        ("a list", json!({"type": "array", "items": {"type": "string"}})),
        ("a text", json!({"type": "string", "enum": ["a", "b"]})),
        (
            "a union",
            json!({"oneOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "integer"}}}]}),
        ),
        ("a recursive object", recursive),
    ];
    let mut cases = Vec::new();
    for (name, schema) in schemas {
        let format = || OutputFormat::new("answer", schema.clone());
        cases.push(case(name.to_owned(), format()));
        cases.push(case(format!("{name}, strict"), format().strict()));
        cases.push(case(format!("{name}, not strict"), format().not_strict()));
        cases.push(
            case(format!("{name}, described"), format().describe("the described answer"))
                .contains("the described answer"),
        );
    }
    for name in ["", "with space", "ümläut", "a/b", &"n".repeat(100)] {
        let schema: Value = json!({"type": "object", "properties": {}, "additionalProperties": false});
        cases.push(case(format!("the name {name:.12?}"), OutputFormat::new(name, schema)));
    }
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let both = TurnRequest::new("", vec![Item::user("hi")]).tools(&sample_tools());
    cases.push(RequestCase::new("with tools", both.output_format(OutputFormat::new("answer", schema))));
    cases
}

fn case(name: String, format: OutputFormat) -> RequestCase {
    RequestCase::new(name, TurnRequest::new("", vec![Item::user("hi")]).output_format(format))
}
