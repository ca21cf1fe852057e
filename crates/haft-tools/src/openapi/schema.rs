//! A document's schemas as JSON Schema, draft 2020-12.
//!
//! A schema is converted keyword by keyword. `keyword` decides what a keyword means. A keyword that is malformed, or
//! that can't be enforced, is left out and recorded, so that the rest of the schema is still enforced. References stay
//! references: their targets become definitions, each converted once per document, so recursion needs no special case
//! and no schema is copied into another.

mod keyword;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use haft_schema::Schema;
use serde_json::{Map, Value, json};

pub(super) use self::keyword::is_example;
use self::keyword::{Keyword, bounds};
use super::document::{OpenApi, OpenApiVersion, pointer_of, reference_of};
use super::name::definition_name;
use super::skip::SkipReason;
use super::text::capped;

/// A schema's deepest nesting, not counting references.
const MAX_NESTING: usize = 96;

/// The most left-out keywords to record.
const MAX_LOOSENED: usize = 10_000;

/// The direction in which a schema's values travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the server: read-only properties are left out.
    Request,
    /// From the server: write-only properties are left out.
    Response,
}

/// A keyword that was left out from a schema, so values are checked less strictly than the document states.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loosened {
    /// The operation, or the schema's reference.
    pub place: String,
    /// The keyword.
    pub keyword: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for Loosened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` is not enforced: {}", self.place, self.keyword, self.reason)
    }
}

/// A document's schemas converted so far.
#[derive(Debug)]
pub(super) struct Schemas<'d> {
    document: &'d OpenApi,
    direction: Direction,
    definitions: HashMap<String, Result<Arc<Definition>, SkipReason>>,
    patterns: HashMap<&'d str, bool>,
    pub(super) loosened: Vec<Loosened>,
}

/// A schema that references lead to.
#[derive(Debug)]
struct Definition {
    name: String,
    schema: Value,
    bytes: usize,
    references: Vec<String>,
}

/// A schema in the making: what it refers to, and how much may still be added.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    place: &'a str,
    /// The JSON Pointers to all schemas that it refers to.
    references: Vec<String>,
    budget: usize,
    limit: usize,
}

impl<'a> Draft<'a> {
    /// Starts a schema with at most this size. `place` is reported if something is left out.
    pub(super) fn new(place: &'a str, limit: usize) -> Self {
        Self { place, references: Vec::new(), budget: limit, limit }
    }

    /// Returns the size added so far.
    pub(super) fn spent(&self) -> usize {
        self.limit - self.budget
    }

    /// Subtracts an addition's size from what may still be added.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), SkipReason> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                // Whatever it was, it was visited, so the whole budget counts as spent.
                self.budget = 0;
                Err(SkipReason::SchemaTooLarge { limit: self.limit })
            }
        }
    }
}

impl<'d> Schemas<'d> {
    pub(super) fn new(document: &'d OpenApi, direction: Direction) -> Self {
        let (definitions, patterns) = (HashMap::new(), HashMap::new());
        Self { document, direction, definitions, patterns, loosened: Vec::new() }
    }

    /// Converts a schema. Its references lead to definitions that [`define`](Self::define) adds.
    pub(super) fn convert(&mut self, schema: &'d Value, draft: &mut Draft<'_>) -> Result<Value, SkipReason> {
        self.convert_at(schema, draft, 0)
    }

    /// Adds the definitions that a schema refers to, directly or not, and returns the total size.
    pub(super) fn define(&mut self, schema: &mut Map<String, Value>, draft: Draft<'_>) -> Result<usize, SkipReason> {
        let mut found: BTreeMap<String, (String, Arc<Definition>)> = BTreeMap::new();
        let too_large = || SkipReason::SchemaTooLarge { limit: draft.limit };
        let mut bytes = size_of(schema);
        let mut pending = draft.references;
        while let Some(pointer) = pending.pop() {
            let definition = self.definition(&pointer, draft.limit)?;
            match found.get(&definition.name) {
                Some((other, _)) if *other == pointer => continue,
                Some(_) => {
                    let fault = format!("two definitions have the name `{}`", definition.name);
                    return Err(SkipReason::InvalidSchema { fault });
                }
                None => {}
            }
            bytes += definition.bytes;
            if bytes > draft.limit {
                return Err(too_large());
            }
            pending.extend(definition.references.iter().cloned());
            found.insert(definition.name.clone(), (pointer, definition));
        }
        if bytes > draft.limit {
            return Err(too_large());
        }
        if !found.is_empty() {
            let definitions = found.into_iter().map(|(name, (_, definition))| (name, definition.schema.clone()));
            schema.insert("$defs".to_owned(), Value::Object(definitions.collect()));
        }
        Ok(bytes)
    }

    fn definition(&mut self, pointer: &str, limit: usize) -> Result<Arc<Definition>, SkipReason> {
        if let Some(known) = self.definitions.get(pointer) {
            return known.clone();
        }
        let made = self.make_definition(pointer, limit);
        self.definitions.insert(pointer.to_owned(), made.clone());
        made
    }

    fn make_definition(&mut self, pointer: &str, limit: usize) -> Result<Arc<Definition>, SkipReason> {
        let place = format!("#{pointer}");
        let document = self.document;
        let target = document.at(&place, pointer)?;
        let mut draft = Draft::new(&place, limit);
        let schema = self.convert_at(target, &mut draft, 0)?;
        let bytes = serialized_len(&schema);
        Ok(Arc::new(Definition { name: definition_name(pointer), schema, bytes, references: draft.references }))
    }

    fn convert_at(&mut self, schema: &'d Value, draft: &mut Draft<'_>, depth: usize) -> Result<Value, SkipReason> {
        if depth > MAX_NESTING {
            return Err(SkipReason::SchemaTooDeep);
        }
        draft.spend(2)?;
        let map = match schema {
            Value::Bool(_) => return Ok(schema.clone()),
            Value::Object(map) => map,
            _ => {
                self.left_out(draft, "schema", "a schema must be an object");
                return Ok(Value::Bool(true));
            }
        };
        let mut converted = Map::new();
        if let Some(reference) = reference_of(schema) {
            converted.insert("$ref".to_owned(), self.reference(reference, draft)?.into());
            if self.document.version == OpenApiVersion::V3_0 {
                // Version 3.0 ignores whatever is beside a reference; a description misleads nobody.
                if let Some(text) = map.get("description").and_then(Value::as_str) {
                    converted.insert("description".to_owned(), capped(text).into());
                }
                return Ok(converted.into());
            }
        }
        if let Some(name) = map.keys().find(|name| matches!(&***name, "$dynamicRef" | "$recursiveRef")) {
            return Err(SkipReason::InvalidSchema { fault: format!("`{name}` is not supported; use `$ref`") });
        }
        let removed = self.one_way_properties(map, draft)?;
        for (name, value) in map {
            let Some(keyword) = Keyword::named(name) else { continue };
            if let Some(value) = self.keyword(keyword, name, value, &removed, draft, depth)? {
                draft.spend(name.len() + 4)?;
                converted.insert(name.clone(), value);
            }
        }
        bounds(map, &mut converted);
        if let Some(example) = map.get("example").filter(|example| is_example(example)) {
            converted.entry("examples").or_insert_with(|| json!([example]));
        }
        let is_nullable = map.get("nullable") == Some(&Value::Bool(true));
        Ok(if is_nullable { keyword::nullable(converted) } else { converted.into() })
    }

    /// Converts a keyword's value, or returns `None` if it is left out.
    fn keyword(
        &mut self,
        keyword: Keyword,
        name: &str,
        value: &'d Value,
        removed: &HashSet<&str>,
        draft: &mut Draft<'_>,
        depth: usize,
    ) -> Result<Option<Value>, SkipReason> {
        Ok(match (keyword, value) {
            (Keyword::Schema, Value::Object(_) | Value::Bool(_)) => Some(self.convert_at(value, draft, depth + 1)?),
            (Keyword::Schemas, Value::Array(list)) if !list.is_empty() => {
                let all: Result<_, _> = list.iter().map(|schema| self.convert_at(schema, draft, depth + 1)).collect();
                Some(Value::Array(all?))
            }
            (Keyword::SchemaMap, Value::Object(map)) => {
                let mut all = Map::new();
                for (key, schema) in map.iter().filter(|(key, _)| name != "properties" || !removed.contains(&***key)) {
                    if name == "patternProperties" && !self.is_pattern(key) {
                        self.left_out(draft, name, not_compiled(key));
                        continue;
                    }
                    draft.spend(key.len() + 4)?;
                    all.insert(key.clone(), self.convert_at(schema, draft, depth + 1)?);
                }
                Some(Value::Object(all))
            }
            (Keyword::Pattern, Value::String(pattern)) if self.is_pattern(pattern) => {
                draft.spend(pattern.len())?;
                Some(value.clone())
            }
            (Keyword::Required, Value::Array(names)) => {
                let kept = names.iter().filter(|name| name.as_str().is_some_and(|name| !removed.contains(name)));
                let mut unique: Vec<Value> = Vec::new();
                let mut seen = HashSet::new();
                unique.extend(kept.filter(|name| seen.insert(name.as_str())).cloned());
                draft.spend(serialized_len(value))?;
                (!unique.is_empty()).then_some(Value::Array(unique))
            }
            (Keyword::Plain(is_valid), value) if is_valid(value) => {
                let value = keyword::plain(name, value);
                draft.spend(serialized_len(&value))?;
                Some(value)
            }
            (Keyword::Annotation(is_valid), value) => {
                let value = is_valid(value).then(|| keyword::plain(name, value));
                draft.spend(value.as_ref().map_or(0, serialized_len))?;
                value
            }
            (Keyword::Type, value) => keyword::types(value).or_else(|| {
                self.left_out(draft, name, "it names no type of JSON");
                None
            }),
            (Keyword::Bound, _) => None,
            (Keyword::Pattern, Value::String(pattern)) => {
                self.left_out(draft, name, not_compiled(pattern));
                None
            }
            _ => {
                self.left_out(draft, name, "its value is malformed");
                None
            }
        })
    }

    fn reference(&mut self, reference: &str, draft: &mut Draft<'_>) -> Result<String, SkipReason> {
        let pointer = pointer_of(reference)?.into_owned();
        // Found now, an unresolved reference is reported as it is written.
        self.document.at(reference, &pointer)?;
        let name = definition_name(&pointer);
        draft.spend(name.len() + 20)?;
        draft.references.push(pointer);
        Ok(format!("#/$defs/{name}"))
    }

    /// Returns the properties that do not travel in this direction.
    fn one_way_properties(
        &self,
        schema: &'d Map<String, Value>,
        draft: &mut Draft<'_>,
    ) -> Result<HashSet<&'d str>, SkipReason> {
        let flag = match self.direction {
            Direction::Request => "readOnly",
            Direction::Response => "writeOnly",
        };
        let is_set = |schema: &Value| schema.get(flag) == Some(&Value::Bool(true));
        let mut removed = HashSet::new();
        let Some(Value::Object(properties)) = schema.get("properties") else { return Ok(removed) };
        draft.spend(properties.len())?;
        for (name, property) in properties {
            if is_set(property) || (reference_of(property).is_some() && is_set(self.document.follow(property)?)) {
                removed.insert(&**name);
            }
        }
        Ok(removed)
    }

    /// Reports whether the pattern compiles. Each is compiled once.
    fn is_pattern(&mut self, pattern: &'d str) -> bool {
        let compiles = || Schema::json(json!({"pattern": pattern})).is_ok();
        *self.patterns.entry(pattern).or_insert_with(compiles)
    }

    fn left_out(&mut self, draft: &Draft<'_>, keyword: &str, reason: impl Into<String>) {
        if self.loosened.len() < MAX_LOOSENED {
            let (place, keyword) = (draft.place.to_owned(), keyword.to_owned());
            self.loosened.push(Loosened { place, keyword, reason: reason.into() });
        }
    }
}

fn not_compiled(pattern: &str) -> String {
    format!("the pattern `{}` can't be compiled", pattern.chars().take(100).collect::<String>())
}

fn size_of(schema: &Map<String, Value>) -> usize {
    schema.iter().map(|(name, value)| name.len() + 4 + serialized_len(value)).sum()
}

/// Returns about the length of a value's JSON text.
fn serialized_len(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(list) => list.iter().map(|value| serialized_len(value) + 1).sum::<usize>() + 2,
        Value::Object(map) => size_of(map) + 2,
    }
}
