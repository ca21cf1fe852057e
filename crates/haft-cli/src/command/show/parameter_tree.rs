//! A tool's parameters as a tree for people.
//!
//! A JSON Schema may have any size, and may refer to itself. So the tree has a limited depth and number of lines, and a
//! reference that is already open is named instead of followed.

use serde_json::{Map, Value};

use super::short_json;
use crate::terminal::printable;

/// The tree's maximum depth.
const MAX_DEPTH: usize = 8;

/// The most lines.
const MAX_LINES: usize = 400;

/// The keywords that limit a value, with the words for people.
const CONSTRAINTS: [(&str, &str); 14] = [
    ("minimum", "at least"),
    ("maximum", "at most"),
    ("exclusiveMinimum", "more than"),
    ("exclusiveMaximum", "less than"),
    ("multipleOf", "a multiple of"),
    ("minLength", "characters at least"),
    ("maxLength", "characters at most"),
    ("pattern", "matches"),
    ("minItems", "items at least"),
    ("maxItems", "items at most"),
    ("uniqueItems", "items are unique:"),
    ("minProperties", "keys at least"),
    ("maxProperties", "keys at most"),
    ("default", "by default"),
];

/// Returns an object schema's tree; empty if it has no properties.
pub(super) fn lines(schema: &Value) -> Vec<String> {
    let mut tree = ParameterTree { root: schema, open: Vec::new(), lines: Vec::new() };
    tree.children(schema, 0);
    if tree.lines.len() > MAX_LINES {
        tree.lines.truncate(MAX_LINES);
        tree.lines.push("… and more; see `--schema`".to_owned());
    }
    tree.lines
}

struct ParameterTree<'s> {
    root: &'s Value,
    /// The references on the way to the current schema.
    open: Vec<&'s str>,
    lines: Vec<String>,
}

impl<'s> ParameterTree<'s> {
    /// Adds a line for a schema under a name, and its children.
    fn add(&mut self, name: &str, schema: &'s Value, depth: usize) {
        if self.lines.len() > MAX_LINES {
            return;
        }
        let (resolved, reference) = self.resolve(schema);
        let mut line = format!("{}{name}  {}", "  ".repeat(depth), self.type_text(schema));
        for constraint in constraints(resolved) {
            line.push_str(", ");
            line.push_str(&constraint);
        }
        let description = schema.get("description").or_else(|| resolved.get("description")).and_then(Value::as_str);
        if let Some(description) = description {
            line.push_str("  ");
            line.push_str(description.split("\n\n").next().unwrap_or_default().replace('\n', " ").trim());
        }
        self.lines.push(printable(&line).into_owned());
        match reference {
            Some(reference) if self.open.contains(&reference) => {
                self.lines.push(format!("{}(as above)", "  ".repeat(depth + 1)));
            }
            Some(reference) => {
                self.open.push(reference);
                self.children(resolved, depth + 1);
                self.open.pop();
            }
            None => self.children(resolved, depth + 1),
        }
    }

    /// Adds a schema's properties, items and alternatives.
    fn children(&mut self, schema: &'s Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let mark = if required.contains(&name.as_str()) { "*" } else { "" };
            self.add(&format!("{name}{mark}"), property, depth);
        }
        if let Some(items) = schema.get("items").filter(|items| self.has_children(items)) {
            self.add("[]", items, depth);
        }
        for (at, item) in schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten().enumerate() {
            self.add(&format!("[{at}]"), item, depth);
        }
        if let Some(others) = schema.get("additionalProperties").filter(|others| self.has_children(others)) {
            self.add("<key>", others, depth);
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = schema.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            if branches.iter().any(|branch| self.has_children(branch)) {
                for (at, branch) in branches.iter().enumerate() {
                    self.add(if at == 0 { "either" } else { "or" }, branch, depth);
                }
            }
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let (resolved, reference) = self.resolve(part);
            if reference.is_none_or(|reference| !self.open.contains(&reference)) {
                self.open.extend(reference);
                self.children(resolved, depth);
                if reference.is_some() {
                    self.open.pop();
                }
            }
        }
    }

    /// Reports whether a schema has more to show than its type.
    fn has_children(&self, schema: &'s Value) -> bool {
        let (schema, _) = self.resolve(schema);
        let keywords =
            ["properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "description", "enum", "const"];
        keywords.iter().any(|keyword| schema.get(keyword).is_some())
            || schema.get("additionalProperties").is_some_and(Value::is_object)
    }

    /// Follows references within the schema, a few at most. Returns the last one.
    fn resolve(&self, schema: &'s Value) -> (&'s Value, Option<&'s str>) {
        let (mut schema, mut last) = (schema, None);
        for _ in 0..MAX_DEPTH {
            let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { break };
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            let Some(target) = target else { break };
            last = Some(reference);
            schema = target;
        }
        (schema, last)
    }

    /// Returns a value's type in a few words.
    fn type_text(&self, schema: &'s Value) -> String {
        let (resolved, _) = self.resolve(schema);
        let Value::Object(keywords) = resolved else {
            return if *resolved == Value::Bool(false) { "nothing" } else { "any value" }.to_owned();
        };
        if let Some(constant) = keywords.get("const") {
            return short_json(constant);
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            return alternatives(values.iter().map(short_json));
        }
        if keywords.get("type").and_then(Value::as_str) == Some("array") {
            return self.array_text(keywords);
        }
        match keywords.get("type") {
            Some(Value::String(name)) => with_format(name, keywords),
            Some(Value::Array(names)) => alternatives(names.iter().filter_map(Value::as_str).map(str::to_owned)),
            _ => self.untyped_text(keywords),
        }
    }

    fn array_text(&self, keywords: &'s Map<String, Value>) -> String {
        match keywords.get("items") {
            Some(items) if items.get("$ref").is_none() && items.get("items").is_none() => {
                format!("array of {}", self.type_text(items))
            }
            Some(items) => {
                let name = items.get("$ref").and_then(Value::as_str).and_then(|name| name.rsplit('/').next());
                name.map_or_else(|| "array of arrays".to_owned(), |name| format!("array of {name}"))
            }
            None => "array".to_owned(),
        }
    }

    fn untyped_text(&self, keywords: &'s Map<String, Value>) -> String {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = keywords.get(keyword) {
                let name = |branch: &'s Value| match branch.get("$ref").and_then(Value::as_str) {
                    Some(reference) => reference.rsplit('/').next().unwrap_or(reference).to_owned(),
                    None if branch.get("anyOf").is_some() || branch.get("oneOf").is_some() => {
                        "one of several".to_owned()
                    }
                    None => self.type_text(branch),
                };
                return alternatives(branches.iter().map(name));
            }
        }
        if keywords.contains_key("properties") || keywords.contains_key("allOf") {
            return "object".to_owned();
        }
        "any value".to_owned()
    }
}

fn with_format(name: &str, keywords: &Map<String, Value>) -> String {
    match keywords.get("format").and_then(Value::as_str) {
        Some(format) => format!("{name} ({format})"),
        None => name.to_owned(),
    }
}

/// Joins names, each once.
fn alternatives(names: impl Iterator<Item = String>) -> String {
    const MOST: usize = 12;
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    let rest = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    if rest > 0 {
        all.push(format!("{rest} more"));
    }
    all.join(" | ")
}

fn constraints(schema: &Value) -> Vec<String> {
    let text = |(keyword, words): &(&str, &str)| {
        let value = schema.get(keyword)?;
        let value = value.as_str().filter(|_| *keyword == "pattern").map_or_else(|| short_json(value), str::to_owned);
        Some(match *keyword {
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                let (nouns, bound) = words.split_once(" at ")?;
                let noun = if value == "1" { nouns.trim_end_matches('s') } else { nouns };
                format!("at {bound} {value} {noun}")
            }
            "uniqueItems" => if value == "true" { "without duplicates" } else { return None }.to_owned(),
            _ => format!("{words} {value}"),
        })
    };
    CONSTRAINTS.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tree(schema: &Value) -> String {
        lines(schema).join("\n")
    }

    #[test]
    fn nested_objects_arrays_and_unions_are_indented() {
        let schema = json!({
            "type": "object",
            "required": ["to", "items"],
            "properties": {
                "to": {"type": "string", "format": "email", "maxLength": 100, "description": "The receiver."},
                "kind": {"enum": ["gift", "order"], "default": "order"},
                "items": {"type": "array", "minItems": 1, "items": {
                    "type": "object", "required": ["id"],
                    "properties": {"id": {"type": "integer", "minimum": 1}, "note": {"type": ["string", "null"]}}
                }},
                "when": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"day": {"type": "integer"}}}]},
                "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
                "prices": {"type": "object", "additionalProperties": {"type": "number", "description": "A price."}},
                "any": true,
            }
        });
        insta::assert_snapshot!(tree(&schema));
    }

    #[test]
    fn recursive_schemas_end() {
        let schema = json!({
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/Node"}, "loop": {"$ref": "#/$defs/Loop"}, "gone": {"$ref": "#/no"}},
            "$defs": {
                "Node": {"type": "object", "description": "A node.", "properties": {
                    "value": {"type": "number"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}
                }},
                "Loop": {"$ref": "#/$defs/Loop"}
            }
        });
        insta::assert_snapshot!(tree(&schema));
    }

    #[test]
    fn hostile_schemas_stay_small_and_harmless() {
        let mut deep = json!({"type": "string"});
        for _ in 0..100 {
            deep = json!({"type": "object", "properties": {"a\u{1b}[2J": deep, "b": {"description": "x\u{7}"}}});
        }
        let text = tree(&deep);
        assert!(text.lines().count() <= MAX_LINES + 1);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'));
        let wide: Map<String, Value> = (0..5000).map(|at| (format!("p{at}"), json!({}))).collect();
        assert_eq!(lines(&json!({"properties": wide})).len(), MAX_LINES + 1);
    }
}
