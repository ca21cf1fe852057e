//! Real tools, with calls of them, and real OpenAPI documents.
//!
//! The tools of a set are offered together, as in one request. Schemas are JSON Schema: what a corpus writes in its own
//! notation is translated here, once, for the tests and for `cargo xtask wires`.

mod bfcl;
mod literal;
mod mcp_tools;
mod openapi;

use std::collections::HashMap;

use serde_json::Value;

pub use self::bfcl::bfcl;
pub use self::mcp_tools::{mcp_tool_forms, mcp_tools};
pub use self::openapi::{OpenApiDocument, large_openapi, openapi};

/// Tools that are offered together, with calls of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorpusSet {
    /// The file or entry that the tools are from.
    pub source: String,
    /// The tools, in their order.
    pub tools: Vec<CorpusTool>,
    /// Calls that answer a question correctly.
    pub calls: Vec<CorpusCall>,
}

/// A tool of a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusTool {
    /// The name.
    pub name: String,
    /// The description, which may be empty.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub schema: Value,
}

/// A call of a tool in a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
}

/// Sets of tools, each once.
#[derive(Debug, Default)]
struct Collection {
    sets: Vec<CorpusSet>,
    by_tools: HashMap<String, usize>,
}

impl Collection {
    /// Adds tools with calls of them, and returns their index. Calls of tools that are already known join those, each
    /// once.
    fn add(&mut self, set: CorpusSet) -> usize {
        let key = format!("{:?}", set.tools);
        let at = *self.by_tools.entry(key).or_insert(self.sets.len());
        if at == self.sets.len() {
            self.sets.push(CorpusSet { calls: Vec::new(), ..set.clone() });
        }
        for call in set.calls {
            self.call(at, call);
        }
        at
    }

    fn call(&mut self, at: usize, call: CorpusCall) {
        let calls = &mut self.sets[at].calls;
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
}
