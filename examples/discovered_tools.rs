//! Tools that are only known at run time, as an MCP server or a plugin would list them: their schemas are kept to the
//! byte and enforced, a broken one is left out with a reason, and one handler serves them all.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::prelude::*;
use haft::tool::DefinitionError;
use serde_json::{Value, json};

/// Returns the tools that a server lists.
fn listing() -> Vec<Value> {
    vec![
        json!({"name": "read_file", "description": "Reads a file.", "inputSchema": {
            "type": "object",
            "properties": {"path": {"type": "string", "pattern": "^/"}, "lines": {"$ref": "#/$defs/range"}},
            "required": ["path"],
            "additionalProperties": false,
            "$defs": {"range": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2}}
        }}),
        json!({"name": "list_folder", "description": "Lists a folder.", "inputSchema": {
            "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]
        }}),
        json!({"name": "broken", "inputSchema": {"type": "objekt", "required": "path"}}),
    ]
}

fn discovered(entry: &Value) -> Result<Tool, DefinitionError> {
    Tool::dynamic(entry["name"].as_str().unwrap_or_default())
        .describe(entry["description"].as_str().unwrap_or_default())
        .params_json(entry["inputSchema"].clone())
        .define()
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let (listing, mut definitions) = (listing(), Vec::new());
    for entry in &listing {
        match discovered(entry) {
            Ok(tool) => definitions.push(tool),
            Err(error) => println!("left out: {error}\n"),
        }
    }

    // The handler receives the name under which the tool was discovered, without the namespace. A real one would
    // forward the call to the server.
    let kit: Toolkit = Toolkit::dynamic(definitions)
        .handler(|tool: Tool, arguments: Value, _cx| async move { json!({"sent": tool.name(), "with": arguments}) })?
        .namespace("files")?;
    println!("tools: {:?}", kit.names().collect::<Vec<_>>());
    assert_eq!(kit.names().collect::<Vec<_>>(), ["files__read_file", "files__list_folder"]);
    assert_eq!(serde_json::to_string(&kit.descriptors()[0].input_schema)?, listing[0]["inputSchema"].to_string());

    let calls = [
        ToolCall::new("c1", "files__read_file", r#"{"path": "/etc/hosts", "lines": [1, 20]}"#),
        ToolCall::new("c2", "files__list_folder", r#"{"path": "/etc"}"#),
        ToolCall::new("c3", "files__read_file", r#"{"path": "hosts", "lines": [0], "all": true}"#),
    ];
    let results = kit.run(&calls).collect_results().await;
    for (call, result) in calls.iter().zip(&results) {
        println!("{} {}\n  -> {}", call.name, call.arguments, result.to_call_output().output);
    }
    assert_eq!(results[0].value().map(|value| value.to_value()["sent"].clone()), Some(json!("read_file")));
    assert_eq!(results[1].value().map(|value| value.to_value()["sent"].clone()), Some(json!("list_folder")));
    assert_eq!(
        results[2].failure().map(|failure| failure.issues.as_slice().len()),
        Some(4),
        "everything wrong is named"
    );
    Ok(())
}
