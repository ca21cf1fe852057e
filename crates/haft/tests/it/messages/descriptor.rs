//! Errors of stored descriptors, dialects and codecs.

use haft::schema::{RenderFault, Reshape, ReshapeMember};
use haft::tool::{DescribedAnnotation, ToolDescriptor};
use serde_json::{Value, json};

use super::*;

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct ByRegion(std::collections::BTreeMap<Option<u8>, u8>);
impl DescribedAnnotation for ByRegion {
    const KEY: &'static str = "acme.com/by_region";
}

pub(super) fn stored(messages: &mut Messages) {
    messages.section("Stored descriptors");
    let text = |field: &str, value: Value| {
        let mut json = json!({"name": "get", "kind": {"type": "dynamic"}, "input_schema": {}});
        json[field] = value;
        json.to_string()
    };
    let read = |text: &str| serde_json::from_str::<ToolDescriptor>(text);
    for (situation, field, value) in [
        ("a newer version", "v", json!(2)),
        ("an unknown kind", "kind", json!({"type": "remote"})),
        ("an icon without an address", "icons", json!([{"sizes": ["any"]}])),
        ("metadata that is not an object", "meta", json!([])),
    ] {
        messages.add(situation, read(&text(field, value)).unwrap_err());
    }
    let twice = r#"{"name":"get","kind":{"type":"local"},"input_schema":{"type":"string","type":"null"}}"#;
    messages.add("a schema with a duplicate key", read(twice).unwrap_err());
    let rebuild = |field: &str, value: Value| Tool::from_descriptor(&read(&text(field, value)).unwrap()).unwrap_err();
    messages.add("the id is blank", rebuild("id", json!(" ")));
    messages.add("the input schema is invalid", rebuild("input_schema", json!({"type": "text"})));
    messages.add("the failure schema is invalid", rebuild("failure_schema", json!({"$ref": "#/no"})));
    messages.add("an example is invalid", {
        let mut json: Value = serde_json::from_str(&text("examples", json!([1]))).unwrap();
        json["input_schema"] = json!({"type": "string"});
        Tool::from_descriptor(&read(&json.to_string()).unwrap()).unwrap_err()
    });
    let annotated = Tool::new("get").annotate(ByRegion([(None, 1)].into())).define();
    messages.add("an annotation that is not JSON", annotated.unwrap_err());
    let long: Toolkit = Toolkit::from_iter([Tool::new("get").id("i".repeat(512)).define().unwrap()]);
    messages.add("an id that is too long in a namespace", long.namespace("files").unwrap_err());
}

pub(super) fn dialects(messages: &mut Messages) {
    messages.section("Dialects and codecs");
    let fault = RenderFault::new("/properties/a", "`not` is not supported", "describe the allowed values instead");
    messages.add("a schema that can't be rendered", fault);
    let mut reshape = Reshape::new();
    let (root, pairs) = (reshape.add(), reshape.add());
    reshape.send_as_pairs(pairs);
    reshape.member(root, ReshapeMember::new("tags").sent_as("tag_list").absent_as_null().reshaped(pairs));
    let codec = reshape.finish(root);
    for (situation, sent) in [
        ("text that is not JSON", r#"{"tag_list":"#),
        ("a duplicate key", r#"{"tag_list":null,"tag_list":[]}"#),
        ("not a pair", r#"{"tag_list":["red"]}"#),
        ("two pairs with one key", r#"{"tag_list":[{"key":"a","value":1},{"key":"a","value":2}]}"#),
        ("both names of a member", r#"{"tags":{},"tag_list":[]}"#),
    ] {
        messages.add(situation, codec.decode(sent).unwrap_err());
    }
    let long = format!("[{}0]", "0,".repeat(3 << 20));
    messages.add("text that is too long", codec.decode(&long).unwrap_err());
}
