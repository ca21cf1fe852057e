//! Raw JSON Schemas: kept as they are, and looked through before they are used.
//!
//! Everything that is wrong with one is reported at once. A reference out of the schema, to a network or a file, is
//! wrong: nothing is ever fetched.

use serde_json::{Map, Value};

use super::compile::References;
use super::draft::Dialect;
use super::keyword::local_pointer;
use super::path::{push_index, push_key};
use crate::issue::Issue;

/// How deep a schema may nest.
const MAX_DEPTH: usize = 128;

/// What a look through a schema found.
pub(super) struct Survey {
    #[cfg_attr(not(feature = "validate"), expect(dead_code, reason = "only the full validator follows them"))]
    pub(super) references: References,
    pub(super) faults: Vec<Issue>,
}

/// Looks through a schema.
pub(super) fn survey(schema: &Value) -> Survey {
    if !schema.is_object() && !schema.is_boolean() {
        let fault = Issue::new("", "schema", "must be an object or a boolean").found(super::explain::excerpt(schema));
        return Survey { references: References::Pointers, faults: vec![fault] };
    }
    if let Some(fault) = depth_fault(schema) {
        return Survey { references: References::Pointers, faults: vec![fault] };
    }
    let mut surveyor = Surveyor { root: schema, named: false, ids: Vec::new(), outside: Vec::new(), faults: vec![] };
    surveyor.schema("", schema);
    surveyor.finish()
}

/// What is wrong with a schema that nests too deep for anything here to walk through it.
pub(super) fn depth_fault(schema: &Value) -> Option<Issue> {
    let message = || format!("nests deeper than {MAX_DEPTH} levels; use a flatter schema");
    is_too_deep(schema).then(|| Issue::new("", "maxDepth", message()))
}

struct Surveyor<'a> {
    root: &'a Value,
    named: bool,
    ids: Vec<&'a str>,
    /// References that are more than a fragment, with where they stand.
    outside: Vec<(String, &'a str)>,
    faults: Vec<Issue>,
}

/// Keywords that hold a schema, a list of them, or a map of them.
const ONE: &[&str] = &[
    "additionalProperties",
    "items",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
    "contentSchema",
];
const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const MAP: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

impl<'a> Surveyor<'a> {
    fn schema(&mut self, pointer: &str, schema: &'a Value) {
        let Value::Object(map) = schema else {
            return;
        };
        self.identifiers(pointer, map);
        if let Some(Value::String(reference)) = map.get("$ref") {
            self.reference(&format!("{pointer}/$ref"), reference);
        }
        for (word, keyword) in map {
            let mut at = pointer.to_owned();
            push_key(&mut at, word);
            match keyword {
                Value::Object(_) if ONE.contains(&word.as_str()) => self.schema(&at, keyword),
                Value::Array(schemas) if LIST.contains(&word.as_str()) => {
                    for (index, schema) in schemas.iter().enumerate() {
                        let mut at = at.clone();
                        push_index(&mut at, index);
                        self.schema(&at, schema);
                    }
                }
                Value::Object(schemas) if MAP.contains(&word.as_str()) => {
                    for (name, schema) in schemas {
                        let mut at = at.clone();
                        push_key(&mut at, name);
                        self.schema(&at, schema);
                    }
                }
                _ => {}
            }
        }
    }

    fn identifiers(&mut self, pointer: &str, map: &'a Map<String, Value>) {
        for word in ["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$vocabulary"] {
            self.named |= map.contains_key(word);
        }
        for word in ["$id", "id"] {
            if let Some(Value::String(id)) = map.get(word) {
                self.named |= !pointer.is_empty();
                self.ids.push(id.trim_end_matches('#'));
            }
        }
    }

    fn reference(&mut self, pointer: &str, reference: &'a str) {
        match local_pointer(reference) {
            Some(target) if self.root.pointer(&target).is_some() => {}
            // Inside an embedded schema it may still mean something: the full validator will say.
            Some(_) if self.named => {}
            Some(_) => {
                let message = "must point at a part of this schema that exists";
                self.faults.push(Issue::new(pointer, "$ref", message).found(reference));
            }
            None => {
                self.named = true;
                if !reference.starts_with('#') {
                    self.outside.push((pointer.to_owned(), reference));
                }
            }
        }
    }

    fn finish(mut self) -> Survey {
        for (pointer, reference) in std::mem::take(&mut self.outside) {
            let address = reference.split('#').next().unwrap_or_default();
            let known = self.ids.contains(&address)
                || self.ids.iter().any(|id| id.ends_with(address))
                || Dialect::is_meta_schema(address)
                // What it is relative to, the full validator knows.
                || (is_relative(address) && !self.ids.is_empty());
            if !known {
                let message = "refers to something outside the schema, and nothing is fetched; put it under $defs";
                self.faults.push(Issue::new(pointer, "$ref", message).found(reference));
            }
        }
        let references = if self.named { References::Named } else { References::Pointers };
        Survey { references, faults: self.faults }
    }
}

/// Whether an address means something only beside another one.
fn is_relative(address: &str) -> bool {
    let scheme = address.split(['/', '?']).next().is_some_and(|first| first.contains(':'));
    !scheme && !address.starts_with('/')
}

/// Whether a tree nests too deep to be walked by recursion.
fn is_too_deep(value: &Value) -> bool {
    let mut level: Vec<&Value> = vec![value];
    for _ in 0..=MAX_DEPTH * 2 {
        let next: Vec<&Value> = level
            .iter()
            .flat_map(|value| -> Box<dyn Iterator<Item = &Value>> {
                match value {
                    Value::Array(items) => Box::new(items.iter()),
                    Value::Object(map) => Box::new(map.values()),
                    _ => Box::new(std::iter::empty()),
                }
            })
            .collect();
        if next.is_empty() {
            return false;
        }
        level = next;
    }
    true
}
