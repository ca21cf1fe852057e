//! Each provider's rules for schemas and tools: a rendering must break none.
//!
//! Every rule has schemas that it rejects, so no rule is empty.

mod anthropic;
mod gemini;
mod list;
mod mcp;
mod openai;

use haft_core::Dialect;
use haft_wire::{AnthropicDialect, GeminiDialect, McpDialect, OpenAiDialect};
use serde_json::{Map, Value, json};

pub(crate) use self::list::{list_breaches, list_rules};

/// A rule of a provider.
pub(crate) struct ProviderRule {
    pub(crate) text: &'static str,
    pub(crate) is_broken: fn(&Visit<'_>) -> bool,
    /// Schemas that break the rule.
    pub(crate) rejected: fn() -> Vec<Value>,
}

/// A schema in a rendering, as a rule sees it.
pub(crate) struct Visit<'v> {
    pub(crate) root: &'v Value,
    pub(crate) schema: &'v Value,
    pub(crate) is_root: bool,
    /// The number of objects and arrays around it.
    pub(crate) depth: usize,
}

impl Visit<'_> {
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.schema.as_object().into_iter().flat_map(Map::keys).map(String::as_str)
    }

    pub(crate) fn has(&self, keyword: &str) -> bool {
        self.schema.get(keyword).is_some()
    }

    pub(crate) fn is_type(&self, name: &str) -> bool {
        match &self.schema["type"] {
            Value::Array(names) => names.contains(&name.into()),
            only => *only == name,
        }
    }

    pub(crate) fn property_names(&self) -> impl Iterator<Item = &str> {
        self.schema["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str)
    }
}

/// Returns a dialect with the rules of its provider.
pub(crate) fn dialects() -> Vec<(Box<dyn Dialect>, Vec<ProviderRule>)> {
    vec![
        (Box::new(OpenAiDialect::Strict), openai::strict()),
        (Box::new(OpenAiDialect::Plain), openai::plain()),
        (Box::new(AnthropicDialect::Strict), anthropic::strict()),
        (Box::new(AnthropicDialect::Plain), anthropic::plain()),
        (Box::new(GeminiDialect::Parameters), gemini::parameters()),
        (Box::new(GeminiDialect::JsonSchema), gemini::json_schema()),
        (Box::new(McpDialect), mcp::rules()),
    ]
}

/// Returns the name of the dialect in which a profile sends schemas.
pub(crate) fn dialect_of(profile: &str, strict: bool) -> &'static str {
    match profile {
        "openai" | "openai-chat" if strict => "OpenAI strict",
        "openai" | "openai-chat" => "OpenAI",
        "anthropic" if strict => "Anthropic strict",
        "anthropic" => "Anthropic",
        "gemini" => "Gemini JSON Schema",
        "gemini-parameters" => "Gemini parameters",
        "mcp" => "MCP",
        other => panic!("no dialect for the profile {other}"),
    }
}

/// Returns the rules that a rendering breaks, with the schema that breaks each.
pub(crate) fn breaches(rules: &[ProviderRule], rendering: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(rendering, &mut |visit| {
        for rule in rules.iter().filter(|rule| (rule.is_broken)(visit)) {
            found.push(format!("{}: {}", rule.text, visit.schema));
        }
    });
    found
}

/// Calls a function for every schema of a rendering.
pub(crate) fn visit(root: &Value, see: &mut dyn FnMut(&Visit<'_>)) {
    visit_schema(root, root, true, 0, see);
}

fn visit_schema(root: &Value, schema: &Value, is_root: bool, depth: usize, see: &mut dyn FnMut(&Visit<'_>)) {
    see(&Visit { root, schema, is_root, depth });
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let (schemas, step): (Vec<&Value>, usize) = match keyword.as_str() {
            // The definitions start at the depth of a member.
            "properties" | "patternProperties" | "$defs" | "definitions" => {
                (value.as_object().into_iter().flat_map(Map::values).collect(), 1)
            }
            "items" | "additionalProperties" | "not" if value.is_object() => (vec![value], 1),
            "prefixItems" => (value.as_array().into_iter().flatten().collect(), 1),
            "anyOf" | "oneOf" | "allOf" => (value.as_array().into_iter().flatten().collect(), 0),
            _ => continue,
        };
        for schema in schemas {
            visit_schema(root, schema, false, depth + step, see);
        }
    }
}

/// Returns an object with one member, which each provider accepts in this form.
pub(crate) fn object_with(member: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {"a": member},
        "required": ["a"],
        "additionalProperties": false,
    })
}

/// Reports whether a reference leads to a definition of the root, and whether it is recursive.
pub(crate) fn is_recursive(root: &Value, reference: &str) -> bool {
    let (mut open, mut seen) = (vec![reference.to_owned()], Vec::new());
    while let Some(next) = open.pop() {
        let Some(target) = root.pointer(next.trim_start_matches('#')) else { continue };
        visit(target, &mut |visit| {
            let found = visit.schema["$ref"].as_str().map(str::to_owned);
            if let Some(found) = found.filter(|found| !seen.contains(found)) {
                seen.push(found.clone());
                open.push(found);
            }
        });
    }
    seen.contains(&reference.to_owned())
}
