//! The tools of real MCP servers, which the test set-up downloads, on every dialect.

mod wire;

use std::path::{Path, PathBuf};

use haft_core::Schema;
use serde_json::Value;

use crate::checker::{breaches, dialects};

fn tools() -> Vec<(String, Value)> {
    let folder = std::env::var_os("HAFT_PARTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/parts"), PathBuf::from)
        .join("mcp-tools");
    assert!(folder.is_dir(), "{} is missing: run `cargo xtask setup`", folder.display());
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let list: Value = serde_json::from_str(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap();
        for tool in list["tools"].as_array().or(list.as_array()).unwrap() {
            found.push((tool["name"].as_str().unwrap().to_owned(), tool["inputSchema"].clone()));
        }
    }
    found
}

#[test]
fn every_tool_renders_on_every_dialect() {
    let tools = tools();
    assert!(tools.len() > 30, "{} tools", tools.len());
    for (dialect, rules) in dialects() {
        for (name, json) in &tools {
            let schema = Schema::json(json.clone()).unwrap();
            let rendered =
                dialect.render(&schema).unwrap_or_else(|fault| panic!("{}: {name}: {fault}", dialect.name()));
            let found = breaches(&rules, &rendered.json);
            assert!(found.is_empty(), "{}: {name}: {found:#?}\n{json}\n{}", dialect.name(), rendered.json);
            let again = dialect.render(&schema).unwrap();
            assert_eq!(rendered.json.to_string(), again.json.to_string(), "{name}");
        }
    }
}
