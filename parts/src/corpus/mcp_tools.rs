//! The tools of the reference servers of the Model Context Protocol, as the servers list them.

use std::fs;

use serde_json::Value;

use super::{CorpusSet, CorpusTool};
use crate::folder;

/// Returns the tools of each server, in the order of the servers' names. They come without calls.
///
/// # Panics
///
/// Panics with advice if the part is not installed.
#[must_use]
pub fn mcp_tools() -> Vec<CorpusSet> {
    let set = |(source, forms): (String, Vec<Value>)| CorpusSet {
        source,
        tools: forms.iter().map(tool).collect(),
        calls: Vec::new(),
    };
    mcp_tool_forms().into_iter().map(set).collect()
}

/// Returns each server's name with its tools in their MCP form.
///
/// # Panics
///
/// Panics with advice if the part is not installed.
#[must_use]
pub fn mcp_tool_forms() -> Vec<(String, Vec<Value>)> {
    let files = fs::read_dir(folder("mcp-tools")).unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let list: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let source = path.file_stem().unwrap().to_string_lossy().into_owned();
        (source, list.as_array().unwrap().clone())
    };
    paths.iter().map(read).collect()
}

fn tool(tool: &Value) -> CorpusTool {
    CorpusTool {
        name: tool["name"].as_str().unwrap().to_owned(),
        description: tool["description"].as_str().unwrap_or_default().to_owned(),
        schema: tool["inputSchema"].clone(),
    }
}
