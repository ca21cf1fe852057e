//! Arguments that are set one by one: `--arg key=value`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use haft::serde_json::value::RawValue;
use haft::serde_json::{self, Value};

use crate::error::Fault;
use crate::input::TextInput;

/// The most schema references to follow for one argument.
const MAX_STEPS: usize = 64;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    key: String,
    value: String,
    kind: ValueKind,
}

/// The way in which a value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    /// As the parameter's schema requires.
    BySchema,
    /// As JSON.
    Json,
}

impl FromStr for Argument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((key, value)) = text.split_once('=') else {
            return Err("an argument is written as `key=value`, or as `key:=json`".to_owned());
        };
        let (key, kind) = match key.strip_suffix(':') {
            Some(key) => (key, ValueKind::Json),
            None => (key, ValueKind::BySchema),
        };
        if key.split('.').any(str::is_empty) {
            return Err(format!("`{key}` is no key: there is nothing before, behind or between its dots"));
        }
        if kind == ValueKind::Json
            && let Err(error) = serde_json::from_str::<&RawValue>(value)
        {
            return Err(format!("the value of `{key}` is not valid JSON: {error}; write `{key}=…` for a string"));
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned(), kind })
    }
}

/// Reports whether a text is `key=value` where JSON or another argument is expected.
pub(crate) fn is_assignment(text: &str) -> bool {
    let key = text.split_once('=').map_or("", |(key, _)| key.trim_end_matches(':'));
    key.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && key.chars().all(|character| character.is_alphanumeric() || "_-.".contains(character))
}

/// An argument object. Unset values are kept as they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ArgumentTree {
    members: Vec<(String, Node)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Json(String),
    Object(ArgumentTree),
}

impl ArgumentTree {
    /// Reads an object.
    pub(crate) fn read(input: &TextInput) -> Result<Self, Fault> {
        let text = if input.text.trim().is_empty() { "{}" } else { &input.text };
        Self::parse(text).map_err(|error| {
            let fault = Fault::new(format!("{} must be a JSON object, as `--arg` sets members of it", input.origin));
            fault.excerpt(input.json_excerpt(0, &error))
        })
    }

    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        // If several members have one key, the last counts, as for the tool.
        let members: serde_json::Map<String, Value> = serde_json::from_str(text)?;
        let texts: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
        let node = |key: &String| Node::Json(texts.get(key).map_or("null", |json| json.get()).to_owned());
        Ok(Self { members: members.keys().map(|key| (key.clone(), node(key))).collect() })
    }

    /// Sets arguments. Two for one key are an error.
    pub(crate) fn set_all(&mut self, arguments: &[Argument], schema: &Value) -> Result<(), Fault> {
        let mut set: Vec<Vec<String>> = Vec::new();
        for argument in arguments {
            let path = path(&argument.key, schema);
            if let Some(other) = set.iter().find(|other| other.starts_with(&path) || path.starts_with(other)) {
                let (key, other) = (&argument.key, other.join("."));
                let message = if *key == other {
                    format!("`--arg {key}` is there twice")
                } else {
                    format!("`--arg {key}` and `--arg {other}` set the same argument")
                };
                return Err(Fault::new(message).advice("keep one of them"));
            }
            let json = argument.json(&path, schema);
            self.set(&path, json).map_err(|key| {
                let fault =
                    Fault::new(format!("`{key}` is no object, so `--arg {}` can't set a part of it", argument.key));
                fault.advice(format!("set it as a whole: `--arg {key}:='{{…}}'`"))
            })?;
            set.push(path);
        }
        Ok(())
    }

    /// Sets a value. The error is the key of a value that is not an object.
    fn set(&mut self, path: &[String], json: String) -> Result<(), String> {
        let Some((first, rest)) = path.split_first() else { return Ok(()) };
        let at = match self.members.iter().position(|(key, _)| key == first) {
            Some(at) => at,
            None => {
                self.members.push((first.clone(), Node::Object(Self::default())));
                self.members.len() - 1
            }
        };
        let node = &mut self.members[at].1;
        if rest.is_empty() {
            *node = Node::Json(json);
            return Ok(());
        }
        if let Node::Json(text) = node {
            *node = Node::Object(Self::parse(text).map_err(|_| first.clone())?);
        }
        match node {
            Node::Object(object) => object.set(rest, json).map_err(|key| format!("{first}.{key}")),
            Node::Json(_) => Err(first.clone()),
        }
    }
}

impl fmt::Display for ArgumentTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (at, (key, node)) in self.members.iter().enumerate() {
            let separator = if at == 0 { "" } else { "," };
            write!(f, "{separator}{}:", Value::String(key.clone()))?;
            match node {
                Node::Json(json) => f.write_str(json)?,
                Node::Object(object) => object.fmt(f)?,
            }
        }
        f.write_str("}")
    }
}

impl Argument {
    /// Returns the value as JSON.
    fn json(&self, path: &[String], schema: &Value) -> String {
        let is_json = match self.kind {
            ValueKind::Json => true,
            ValueKind::BySchema => {
                !wants_string(schema_at(path, schema), schema, MAX_STEPS)
                    && serde_json::from_str::<&RawValue>(&self.value).is_ok()
            }
        };
        if is_json { self.value.clone() } else { Value::String(self.value.clone()).to_string() }
    }
}

/// Splits a key at its dots, unless the schema has a property with that very name.
fn path(key: &str, schema: &Value) -> Vec<String> {
    let (mut path, mut rest, mut at) = (Vec::new(), key, Some(schema));
    loop {
        let is_property = property(at, rest, schema).is_some();
        match rest.split_once('.') {
            Some((first, further)) if !is_property => {
                path.push(first.to_owned());
                at = property(at, first, schema);
                rest = further;
            }
            _ => {
                path.push(rest.to_owned());
                return path;
            }
        }
    }
}

fn schema_at<'s>(path: &[String], root: &'s Value) -> Option<&'s Value> {
    path.iter().try_fold(root, |schema, key| property(Some(schema), key, root))
}

/// Returns a property's schema, including those in combined or referenced schemas.
fn property<'s>(schema: Option<&'s Value>, key: &str, root: &'s Value) -> Option<&'s Value> {
    fn find<'s>(schema: &'s Value, key: &str, root: &'s Value, steps: usize) -> Option<&'s Value> {
        if let Some(found) = schema.get("properties").and_then(|properties| properties.get(key)) {
            return Some(found);
        }
        alternatives(schema, root, steps).find_map(|other| find(other, key, root, steps - 1))
    }
    find(schema?, key, root, MAX_STEPS)
}

/// Returns the schemas that make up a schema.
fn alternatives<'s>(schema: &'s Value, root: &'s Value, steps: usize) -> impl Iterator<Item = &'s Value> {
    let reference = schema.get("$ref").and_then(Value::as_str).and_then(|uri| root.pointer(uri.strip_prefix('#')?));
    let combined = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    reference.into_iter().chain(combined).take(if steps == 0 { 0 } else { usize::MAX })
}

/// Reports whether a schema accepts strings among other types.
fn wants_string(schema: Option<&Value>, root: &Value, steps: usize) -> bool {
    let Some(schema) = schema else { return false };
    let is_string = |value: &Value| value == "string";
    let by_type = schema
        .get("type")
        .is_some_and(|kind| is_string(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_string)));
    let by_value = schema.get("const").is_some_and(Value::is_string)
        || schema.get("enum").and_then(Value::as_array).is_some_and(|values| values.iter().any(Value::is_string));
    by_type
        || by_value
        || alternatives(schema, root, steps).any(|other| wants_string(Some(other), root, steps.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use haft::serde_json::json;

    use super::*;

    fn set(json: &str, arguments: &[&str], schema: &Value) -> Result<String, String> {
        let arguments: Vec<Argument> = arguments.iter().map(|text| text.parse().unwrap()).collect();
        let input = TextInput { origin: "the arguments".to_owned(), text: json.to_owned() };
        let mut tree = ArgumentTree::read(&input).map_err(|fault| fault.message)?;
        tree.set_all(&arguments, schema).map_err(|fault| fault.message)?;
        Ok(tree.to_string())
    }

    fn schema() -> Value {
        json!({
            "properties": {
                "name": {"type": "string"}, "count": {"type": "integer"}, "flag": {"$ref": "#/$defs/flag"},
                "mode": {"enum": ["1", "2"]}, "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "at": {"type": "object", "properties": {"x": {"type": "number"}, "label": {"type": "string"}}},
                "dotted.key": {"type": "string"}
            },
            "$defs": {"flag": {"type": "boolean"}}
        })
    }

    #[test]
    fn values_are_read_by_the_schema() {
        let arguments = ["name=7", "count=7", "flag=true", "mode=1", "either=5", "other=[1]", "free=text"];
        assert_eq!(
            set("{}", &arguments, &schema()).unwrap(),
            r#"{"name":"7","count":7,"flag":true,"mode":"1","either":"5","other":[1],"free":"text"}"#
        );
        assert_eq!(set("", &["either:=5", "name:=null"], &schema()).unwrap(), r#"{"either":5,"name":null}"#);
        assert_eq!(set("{}", &["count=seven"], &schema()).unwrap(), r#"{"count":"seven"}"#);
        assert_eq!(set("{}", &["name=a=b"], &schema()).unwrap(), r#"{"name":"a=b"}"#);
    }

    #[test]
    fn nested_keys_and_overrides_keep_the_rest_as_it_was() {
        let before = r#"{"at": {"x": 1.50, "y":  123456789012345678901234567890}, "count": 1}"#;
        assert_eq!(
            set(before, &["at.x=2", "at.label=3", "count=4"], &schema()).unwrap(),
            r#"{"at":{"x":2,"y":123456789012345678901234567890,"label":"3"},"count":4}"#
        );
        assert_eq!(set("{}", &["a.b.c=1", "a.d=2"], &schema()).unwrap(), r#"{"a":{"b":{"c":1},"d":2}}"#);
        assert_eq!(set("{}", &["dotted.key=1"], &schema()).unwrap(), r#"{"dotted.key":"1"}"#);
    }

    #[test]
    fn contradictions_are_errors() {
        assert_eq!(set("{}", &["a=1", "a=2"], &schema()).unwrap_err(), "`--arg a` is there twice");
        assert_eq!(
            set("{}", &["a.b=1", "a=2"], &schema()).unwrap_err(),
            "`--arg a` and `--arg a.b` set the same argument"
        );
        assert_eq!(
            set(r#"{"a": 5}"#, &["a.b=1"], &schema()).unwrap_err(),
            "`a` is no object, so `--arg a.b` can't set a part of it"
        );
        assert_eq!(
            set("[1]", &["a=1"], &schema()).unwrap_err(),
            "the arguments must be a JSON object, as `--arg` sets members of it"
        );
    }

    #[test]
    fn arguments_without_a_key_or_with_invalid_json_are_rejected() {
        for text in ["a", "=1", ".a=1", "a..b=1", "a:={"] {
            assert!(text.parse::<Argument>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_followed_only_so_far() {
        let schema = json!({"$ref": "#"});
        assert_eq!(set("{}", &["a.b=1"], &schema).unwrap(), r#"{"a":{"b":1}}"#);
    }
}
