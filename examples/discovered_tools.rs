//! Tools that are only known at run time, as an MCP server or a plugin would list them: their schemas are kept to the
//! byte and enforced, and one function serves them all.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::prelude::*;
use serde_json::{Value, json};

/// What a server says it has.
fn listing() -> Vec<Value> {
    vec![
        json!({"name": "read_file", "description": "Reads a file.", "inputSchema": {
            "type": "object",
            "properties": {"path": {"type": "string", "pattern": "^/"}, "lines": {"$ref": "#/$defs/range"}},
            "required": ["path"],
            "additionalProperties": false,
            "$defs": {"range": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2}}
        }}),
        json!({"name": "broken", "inputSchema": {"type": "objekt", "required": "path"}}),
    ]
}

fn discovered(entry: &Value) -> Result<Tool, DefinitionError> {
    let name = entry["name"].as_str().unwrap_or_default().to_owned();
    Tool::dynamic(name)
        .describe(entry["description"].as_str().unwrap_or_default())
        .params_json(entry["inputSchema"].clone())
        .run(|arguments: Value, cx| async move { forward(cx.tool_name(), &arguments) })
}

/// Stands for sending the call on to the server.
fn forward(tool: &str, arguments: &Value) -> Value {
    json!({ "sent": { "tool": tool, "arguments": arguments } })
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut kit = Toolkit::<()>::new();
    for entry in listing() {
        match discovered(&entry) {
            Ok(tool) => kit = kit.with(tool)?,
            Err(error) => println!("left out: {error}"),
        }
    }
    assert_eq!(kit.names().collect::<Vec<_>>(), ["read_file"]);

    for arguments in [r#"{"path": "/etc/hosts", "lines": [1, 20]}"#, r#"{"path": "hosts", "lines": [0], "all": true}"#]
    {
        let call = ToolCall::new("c", "read_file", arguments);
        let result = kit.run_call(&call).await;
        println!("{arguments}\n  -> {}", result.to_call_output().output);
    }
    Ok(())
}
