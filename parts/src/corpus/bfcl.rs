//! The functions of the Berkeley Function Calling Leaderboard, with the calls that it accepts as answers.
//!
//! Its functions are those of Python, Java and JavaScript in the notation of JSON Schema, with types of these languages:
//! `dict`, `float`, `tuple`, `HashMap`. A function takes the listed parameters and no others, so objects with listed
//! members are closed. A default value is accepted, whatever stands beside it. An answer lists the accepted values of each parameter; an empty text among them says that the
//! parameter may be absent.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{Collection, CorpusCall, CorpusSet, CorpusTool, literal};
use crate::folder;

/// Returns the functions of each entry, with the calls that answer it. Entries with equal functions are one set.
///
/// # Panics
///
/// Panics with advice if the part is not installed.
#[must_use]
pub fn bfcl() -> Vec<CorpusSet> {
    let data = folder("bfcl").join("data");
    let mut collection = Collection::default();
    for (questions, answers) in [
        (data.clone(), data.join("possible_answer")),
        (data.join("unused_datasets/question"), data.join("unused_datasets/possible_answer")),
    ] {
        for path in files(&questions) {
            let answers = answers_by_id(&answers.join(path.file_name().unwrap()));
            for entry in lines(&path) {
                if let Some(set) = entry_set(&entry, &answers) {
                    collection.add(set);
                }
            }
        }
    }
    add_documented(&data, &mut collection);
    collection.sets
}

/// Adds the functions that conversations share, with the calls of the conversations.
fn add_documented(data: &Path, collection: &mut Collection) {
    let mut owners: HashMap<String, usize> = HashMap::new();
    for path in files(&data.join("multi_turn_func_doc")) {
        let tools: Vec<CorpusTool> = lines(&path).iter().map(tool).collect();
        let source = path.file_stem().unwrap().to_string_lossy().into_owned();
        let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        let at = collection.add(CorpusSet { source, tools, calls: Vec::new() });
        for name in names {
            owners.entry(name).or_insert(at);
        }
    }
    let answers = files(&data.join("possible_answer")).into_iter();
    for path in answers.filter(|path| path.to_string_lossy().contains("multi_turn")) {
        for answer in lines(&path) {
            let turns = answer["ground_truth"].as_array().into_iter().flatten();
            for text in turns.filter_map(Value::as_array).flatten().filter_map(Value::as_str) {
                let written = literal::call(text).unwrap_or_else(|| panic!("not a call: {text}"));
                let Some(at) = owners.get(&written.name) else { continue };
                let call = named(written, &collection.sets[*at].tools);
                collection.call(*at, call);
            }
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|name| name == "json")).collect();
    paths.sort();
    paths
}

/// Returns the JSON lines of a file. One file is a single document over several lines, without functions.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn answers_by_id(path: &Path) -> HashMap<String, Value> {
    let answers = if path.is_file() { lines(path) } else { Vec::new() };
    answers.into_iter().map(|answer| (answer["id"].as_str().unwrap().to_owned(), answer)).collect()
}

fn entry_set(entry: &Value, answers: &HashMap<String, Value>) -> Option<CorpusSet> {
    let functions = entry["function"].as_array().filter(|functions| !functions.is_empty())?;
    let (source, tools) = (entry["id"].as_str()?.to_owned(), functions.iter().map(tool).collect::<Vec<_>>());
    let truth = answers.get(&source).and_then(|answer| answer["ground_truth"].as_array());
    let calls = truth.into_iter().flatten().flat_map(|call| match call {
        Value::Object(call) => call.iter().flat_map(|(name, candidates)| chosen(name, candidates, &tools)).collect(),
        Value::String(text) => literal::call(text).map(|written| named(written, &tools)).into_iter().collect(),
        _ => Vec::new(),
    });
    let calls = calls.collect();
    Some(CorpusSet { source, tools, calls })
}

fn tool(function: &Value) -> CorpusTool {
    CorpusTool {
        name: function["name"].as_str().unwrap().to_owned(),
        description: function["description"].as_str().unwrap_or_default().to_owned(),
        schema: schema(&function["parameters"]),
    }
}

/// Translates a schema with the types of other languages to JSON Schema.
fn schema(loose: &Value) -> Value {
    let Some(keywords) = loose.as_object() else { return loose.clone() };
    let mut json = Map::new();
    for (keyword, value) in keywords {
        let value = match (keyword.as_str(), value) {
            ("type", Value::String(name)) => match type_name(name) {
                Some(name) => name.into(),
                None => continue,
            },
            ("properties", Value::Object(members)) => {
                members.iter().map(|(name, member)| (name.clone(), schema(member))).collect()
            }
            ("items" | "additionalProperties", value) => schema(value),
            // A flag of its own that repeats `required`.
            ("optional", Value::Bool(_)) => continue,
            (_, value) => value.clone(),
        };
        json.insert(keyword.clone(), value);
    }
    if json.contains_key("properties") && !json.contains_key("additionalProperties") {
        json.insert("additionalProperties".to_owned(), false.into());
    }
    place_enumeration(&mut json);
    accept_default(&mut json);
    json.into()
}

/// Moves the enumeration of an array to its items, and turns texts of numbers into numbers.
fn place_enumeration(json: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = json.get("enum").cloned() else { return };
    let name = json.get("type").and_then(Value::as_str).unwrap_or_default();
    if name == "array" && !values.iter().any(Value::is_array) {
        json.shift_remove("enum");
        if let Some(Value::Object(items)) = json.get_mut("items") {
            items.insert("enum".to_owned(), values.into());
            place_enumeration(items);
        }
    } else if matches!(name, "integer" | "number" | "boolean") {
        let read = |value: &Value| value.as_str().and_then(|text| serde_json::from_str(text).ok());
        let values: Vec<Value> = values.iter().map(|value| read(value).unwrap_or_else(|| value.clone())).collect();
        json.insert("enum".to_owned(), values.into());
    }
}

/// Accepts the default value, which many schemas state beside a type or an enumeration that rejects it: `None` beside a
/// text, `all` beside a list of kinds.
fn accept_default(json: &mut Map<String, Value>) {
    let Some(default) = json.get("default").cloned() else { return };
    if let (Value::Null, Some(Value::String(name))) = (&default, json.get("type").cloned()) {
        json.insert("type".to_owned(), vec![name, "null".to_owned()].into());
    }
    let name = json.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_typed = default.is_null() || default.is_string() == (name == "string");
    if let Some(Value::Array(values)) = json.get_mut("enum")
        && is_typed
        && !values.contains(&default)
    {
        values.push(default);
    }
}

/// Returns a type of JSON Schema; `None` if any value is accepted.
fn type_name(name: &str) -> Option<&str> {
    match name {
        "any" | "" => None,
        "dict" | "HashMap" => Some("object"),
        "float" | "double" => Some("number"),
        "tuple" | "Array" | "ArrayList" => Some("array"),
        "String" | "char" => Some("string"),
        "long" => Some("integer"),
        "Boolean" => Some("boolean"),
        name => Some(name),
    }
}

/// Returns the call with every parameter that has a value, and the one with as few as are accepted.
fn chosen(name: &str, candidates: &Value, tools: &[CorpusTool]) -> Vec<CorpusCall> {
    let Some(candidates) = candidates.as_object() else { return Vec::new() };
    let tool = tools.iter().find(|tool| tool.name == name);
    let required = tool.and_then(|tool| tool.schema["required"].as_array()).cloned().unwrap_or_default();
    let most = candidates.iter().filter_map(|(name, accepted)| Some((name.clone(), first(accepted)?)));
    let is_needed =
        |name: &String, accepted: &Value| required.contains(&name.as_str().into()) || !may_be_absent(accepted);
    let needed = candidates.iter().filter(|(name, accepted)| is_needed(name, accepted));
    let least = needed.filter_map(|(name, accepted)| Some((name.clone(), first(accepted)?)));
    let (most, least) = (Value::Object(most.collect()), Value::Object(least.collect()));
    let arguments = if most == least { vec![most] } else { vec![most, least] };
    arguments.into_iter().map(|arguments| CorpusCall { tool: name.to_owned(), arguments }).collect()
}

fn may_be_absent(accepted: &Value) -> bool {
    accepted.as_array().is_some_and(|accepted| accepted.is_empty() || accepted.contains(&"".into()))
}

/// Returns the first of the accepted values that says that the parameter is present. The members of an object, and those
/// of the objects in an array, have accepted values of their own.
fn first(accepted: &Value) -> Option<Value> {
    let Some(accepted) = accepted.as_array() else { return Some(accepted.clone()) };
    match accepted.iter().find(|value| **value != "")? {
        Value::Object(members) => Some(members_of(members)),
        Value::Array(items) => Some(
            items
                .iter()
                .map(|item| match item {
                    Value::Object(members) => members_of(members),
                    other => other.clone(),
                })
                .collect(),
        ),
        value => Some(value.clone()),
    }
}

fn members_of(members: &Map<String, Value>) -> Value {
    members.iter().filter_map(|(name, accepted)| Some((name.clone(), first(accepted)?))).collect()
}

/// Names the positional arguments of a call by the order of the tool's parameters.
fn named(written: literal::LiteralCall, tools: &[CorpusTool]) -> CorpusCall {
    let properties = tools.iter().find(|tool| tool.name == written.name).map(|tool| &tool.schema["properties"]);
    let names = properties.and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned();
    let mut arguments: Map<String, Value> = names.zip(written.positional).collect();
    arguments.extend(written.named);
    CorpusCall { tool: written.name, arguments: arguments.into() }
}
