//! Each provider's rules for a request's tool list: keys, names and number.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::visit;

/// A rule on a list of tools.
pub(crate) struct ListRule {
    pub(crate) text: &'static str,
    pub(crate) is_broken: fn(&Value) -> bool,
    /// Lists that break the rule.
    pub(crate) rejected: fn() -> Vec<Value>,
}

/// Returns the rules that a list breaks.
pub(crate) fn list_breaches(rules: &[ListRule], list: &Value) -> Vec<&'static str> {
    rules.iter().filter(|rule| (rule.is_broken)(list)).map(|rule| rule.text).collect()
}

/// Returns the rules on the lists of a profile.
pub(crate) fn list_rules(profile: &str) -> Vec<ListRule> {
    match profile {
        "openai" => openai(),
        "openai-chat" => openai_chat(),
        "anthropic" => anthropic(),
        "gemini" => gemini(),
        "gemini-parameters" => gemini_parameters(),
        "mcp" => mcp(),
        other => panic!("no rules for the profile {other}"),
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn has_keys(tool: &Value, required: &[&str], allowed: &[&str]) -> bool {
    let Some(keys) = tool.as_object() else { return false };
    required.iter().all(|key| keys.contains_key(*key))
        && keys.keys().all(|key| required.contains(&key.as_str()) || allowed.contains(&key.as_str()))
}

/// Reports whether names have these characters, at most this many, and are different.
fn are_names<'v>(mut tools: impl Iterator<Item = &'v Value>, others: &str, most: usize) -> bool {
    let mut seen = HashSet::new();
    tools.all(|tool| {
        let name = tool["name"].as_str().unwrap_or_default();
        (1..=most).contains(&name.len())
            && name.chars().all(|char| char.is_ascii_alphanumeric() || others.contains(char))
            && seen.insert(name)
    })
}

fn openai_tool(name: &str) -> Value {
    json!({"type": "function", "name": name, "parameters": {"type": "object"}, "strict": false})
}

fn in_function(tool: &Value) -> Value {
    json!({"type": "function", "function": {"name": tool["name"], "parameters": tool["parameters"], "strict": false}})
}

fn bad_names(most: usize) -> Vec<String> {
    let mut names = ["", "a/b", "a b", "é", "a\n"].map(String::from).to_vec();
    names.push("x".repeat(most + 1));
    names
}

fn openai() -> Vec<ListRule> {
    vec![
        ListRule {
            text: "a function states its type, name, parameters and mode",
            is_broken: |list| {
                let required = ["type", "name", "parameters", "strict"];
                !items(list).all(|tool| has_keys(tool, &required, &["description"]) && tool["type"] == "function")
            },
            rejected: || {
                vec![
                    json!([{"type": "function", "name": "a", "parameters": {}}]),
                    json!([{"type": "function", "name": "a", "strict": true}]),
                    json!([{"name": "a", "parameters": {}, "strict": true}]),
                    json!([in_function(&openai_tool("a"))]),
                ]
            },
        },
        ListRule {
            text: "names have letters, digits, `_` and `-`, at most 64, each once",
            is_broken: |list| !are_names(items(list), "_-", 64),
            rejected: || {
                let lists = bad_names(64).into_iter().chain(["a.b".to_owned()]);
                lists
                    .map(|name| json!([openai_tool(&name)]))
                    .chain([json!([openai_tool("a"), openai_tool("a")])])
                    .collect()
            },
        },
        ListRule {
            text: "at most 128 tools",
            is_broken: |list| items(list).count() > 128,
            rejected: || vec![(0..129).map(|at| openai_tool(&at.to_string())).collect()],
        },
    ]
}

fn openai_chat() -> Vec<ListRule> {
    vec![
        ListRule {
            text: "a function is in a member of its tool",
            is_broken: |list| {
                let is_function = |tool: &Value| {
                    has_keys(tool, &["type", "function"], &[])
                        && tool["type"] == "function"
                        && has_keys(&tool["function"], &["name", "parameters"], &["description", "strict"])
                };
                !items(list).all(is_function)
            },
            rejected: || vec![json!([openai_tool("a")]), json!([{"type": "function", "function": {"parameters": {}}}])],
        },
        ListRule {
            text: "names have letters, digits, `_` and `-`, at most 64, each once",
            is_broken: |list| !are_names(items(list).map(|tool| &tool["function"]), "_-", 64),
            rejected: || {
                let names = bad_names(64).into_iter().chain(["a.b".to_owned()]);
                names.map(|name| json!([in_function(&openai_tool(&name))])).collect()
            },
        },
        ListRule {
            text: "at most 128 tools",
            is_broken: |list| items(list).count() > 128,
            rejected: || vec![(0..129).map(|at| in_function(&openai_tool(&at.to_string()))).collect()],
        },
    ]
}

fn anthropic_tool(name: &str, properties: &Value, required: &[&str]) -> Value {
    let schema =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    json!({"name": name, "input_schema": schema, "strict": true})
}

fn strict_schemas(list: &Value) -> impl Iterator<Item = &Value> {
    items(list).filter(|tool| tool["strict"] == true).map(|tool| &tool["input_schema"])
}

fn optional_parameters(schema: &Value) -> usize {
    let mut count = 0;
    visit(schema, &mut |visit| {
        let required = visit.schema["required"].as_array().cloned().unwrap_or_default();
        count += visit.property_names().filter(|name| !required.contains(&(*name).into())).count();
    });
    count
}

fn union_parameters(schema: &Value) -> usize {
    let mut count = 0;
    visit(schema, &mut |visit| count += usize::from(visit.has("anyOf") || visit.schema["type"].is_array()));
    count
}

fn anthropic() -> Vec<ListRule> {
    vec![
        ListRule {
            text: "a tool states its name and input schema",
            is_broken: |list| {
                !items(list).all(|tool| has_keys(tool, &["name", "input_schema"], &["description", "strict", "type"]))
            },
            rejected: || vec![json!([{"name": "a"}]), json!([openai_tool("a")])],
        },
        ListRule {
            text: "names have letters, digits, `_` and `-`, at most 64, each once",
            is_broken: |list| !are_names(items(list), "_-", 64),
            rejected: || {
                let names = bad_names(64).into_iter().chain(["a.b".to_owned()]);
                names.map(|name| json!([anthropic_tool(&name, &json!({}), &[])])).collect()
            },
        },
        ListRule {
            text: "at most 20 strict tools",
            is_broken: |list| strict_schemas(list).count() > 20,
            rejected: || vec![(0..21).map(|at| anthropic_tool(&at.to_string(), &json!({}), &[])).collect()],
        },
        ListRule {
            text: "at most 24 optional parameters in strict tools",
            is_broken: |list| strict_schemas(list).map(optional_parameters).sum::<usize>() > 24,
            rejected: || {
                let optional: serde_json::Map<String, Value> =
                    (0..13).map(|at| (at.to_string(), json!({"type": "string"}))).collect();
                let nested = json!({"a": {"type": "object", "properties": optional}});
                let tool = anthropic_tool("a", &optional.clone().into(), &[]);
                vec![json!([tool, anthropic_tool("b", &nested, &["a"])])]
            },
        },
        ListRule {
            text: "at most 16 parameters with a union type in strict tools",
            is_broken: |list| strict_schemas(list).map(union_parameters).sum::<usize>() > 16,
            rejected: || {
                let union = json!({"a": {"type": ["string", "null"]}, "b": {"anyOf": [{"type": "string"}]}});
                vec![(0..9).map(|at| anthropic_tool(&at.to_string(), &union, &["a", "b"])).collect()]
            },
        },
    ]
}

fn declarations(list: &Value) -> impl Iterator<Item = &Value> {
    items(list).flat_map(|tool| items(&tool["functionDeclarations"]))
}

fn declared(declaration: &Value) -> Value {
    json!([{"functionDeclarations": [declaration]}])
}

fn gemini_shared() -> Vec<ListRule> {
    vec![
        ListRule {
            text: "names start with a letter or `_`, have letters, digits and `_.:-`, at most 64, each once",
            is_broken: |list| {
                let is_start = |char: char| char.is_ascii_alphabetic() || char == '_';
                !are_names(declarations(list), "_.:-", 64)
                    || !declarations(list).all(|tool| tool["name"].as_str().unwrap_or_default().starts_with(is_start))
            },
            rejected: || {
                let names = bad_names(64).into_iter().chain(["1a", "-a", ".a"].map(String::from));
                names.map(|name| declared(&json!({"name": name}))).collect()
            },
        },
        ListRule {
            text: "at most 512 declarations",
            is_broken: |list| declarations(list).count() > 512,
            rejected: || {
                let many: Vec<Value> = (0..513).map(|at| json!({"name": format!("t{at}")})).collect();
                vec![json!([{"functionDeclarations": many}])]
            },
        },
    ]
}

fn gemini() -> Vec<ListRule> {
    let mut rules = gemini_shared();
    rules.push(ListRule {
        text: "a declaration states its name and its parameters as JSON Schema",
        is_broken: |list| {
            !declarations(list).all(|tool| has_keys(tool, &["name"], &["description", "parametersJsonSchema"]))
        },
        rejected: || vec![declared(&json!({"name": "a", "parameters": {}})), declared(&json!({"description": "a"}))],
    });
    rules
}

fn gemini_parameters() -> Vec<ListRule> {
    let mut rules = gemini_shared();
    rules.push(ListRule {
        text: "a declaration states its name, and its parameters if it has any",
        is_broken: |list| !declarations(list).all(|tool| has_keys(tool, &["name"], &["description", "parameters"])),
        rejected: || vec![declared(&json!({"name": "a", "parametersJsonSchema": {}})), declared(&json!({}))],
    });
    rules
}

fn mcp() -> Vec<ListRule> {
    vec![
        ListRule {
            text: "a tool states its name and input schema",
            is_broken: |list| {
                let allowed = ["title", "description", "outputSchema", "annotations", "_meta"];
                !items(list).all(|tool| has_keys(tool, &["name", "inputSchema"], &allowed))
            },
            rejected: || vec![json!([{"name": "a"}]), json!([{"name": "a", "input_schema": {}}])],
        },
        ListRule {
            text: "names have letters, digits, `_`, `.` and `-`, at most 128, each once",
            is_broken: |list| !are_names(items(list), "_.-", 128),
            rejected: || {
                let names = bad_names(128).into_iter();
                names.map(|name| json!([{"name": name, "inputSchema": {"type": "object"}}])).collect()
            },
        },
    ]
}
