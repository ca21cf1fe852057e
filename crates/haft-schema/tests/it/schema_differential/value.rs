//! Values: arbitrary ones, ones that are made to match a schema, and ones that nearly do.

use serde_json::{Map, Value, json};

use super::schema::KEYS;
use super::tape::Tape;

/// Generates any value with at most this many levels below it.
pub(super) fn any(tape: &mut Tape, levels: usize) -> Value {
    match tape.pick(if levels > 0 { 8 } else { 5 }) {
        0 => json!({}),
        1 => number(tape),
        2 => string(tape),
        3 => tape.one_of(&[json!(null), json!(true), json!(false)]).clone(),
        4 => json!([]),
        5 | 6 => {
            let mut map = Map::new();
            for _ in 0..=tape.pick(3) {
                map.insert(key(tape), any(tape, levels - 1));
            }
            map.into()
        }
        _ => (0..=tape.pick(3)).map(|_| any(tape, levels - 1)).collect(),
    }
}

fn number(tape: &mut Tape) -> Value {
    let numbers = [
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(-1),
        json!(10),
        json!(0.5),
        json!(2.5),
        json!(2.0),
        json!(-0.0),
        json!(100),
        json!(1e2),
        json!(0.03),
        json!(9_007_199_254_740_993_u64),
        json!(1e300),
        json!(i64::MIN),
    ];
    tape.one_of(&numbers).clone()
}

fn string(tape: &mut Tape) -> Value {
    (*tape.one_of(&["a", "", "b", "ab", "abc", "x1", "é", "😀", "abab", "1\n", "c"])).into()
}

fn key(tape: &mut Tape) -> String {
    // One that haft rejects in all text from outside, and one that it rejects only inside of `constructor`.
    let key = if tape.once_in(40) { *tape.one_of(&["__proto__", "prototype"]) } else { *tape.one_of(&KEYS) };
    key.to_owned()
}

/// Generates a value that tries to match a schema. Keywords it does not handle are left to chance.
pub(super) fn fitting(schema: &Value, root: &Value, tape: &mut Tape, levels: usize) -> Value {
    let Some(map) = schema.as_object() else { return any(tape, 1) };
    if levels == 0 || map.is_empty() {
        return any(tape, 0);
    }
    if let Some(target) = map.get("$ref").and_then(Value::as_str).and_then(|reference| target(reference, root)) {
        let base = fitting(target, root, tape, levels - 1);
        return if map.len() > 1 { completed(base, map, root, tape, levels) } else { base };
    }
    if map.contains_key("$recursiveRef") || map.contains_key("$dynamicRef") {
        let base = fitting(root, root, tape, levels - 1);
        return completed(base, map, root, tape, levels);
    }
    if let Some(literal) = map.get("const") {
        return literal.clone();
    }
    if let Some(literals) = map.get("enum").and_then(Value::as_array).filter(|literals| !literals.is_empty()) {
        return tape.one_of(literals).clone();
    }
    let base = match ["anyOf", "oneOf", "allOf"].into_iter().find_map(|word| map.get(word)?.as_array()) {
        Some(schemas) if !schemas.is_empty() => {
            let picked = tape.pick(schemas.len());
            fitting(&schemas[picked], root, tape, levels - 1)
        }
        _ => of_type(map, tape),
    };
    completed(base, map, root, tape, levels)
}

/// Returns the subschema that a reference leads to, for the plain ones.
pub(super) fn target<'a>(reference: &str, root: &'a Value) -> Option<&'a Value> {
    let word = if root.get("$defs").is_some() { "$defs" } else { "definitions" };
    let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let base = match address.rsplit('/').next()?.strip_prefix("resource") {
        Some(at) => root.pointer(&format!("/{word}/d{at}"))?,
        None => root,
    };
    match fragment.strip_prefix("anchor") {
        Some(at) => root.pointer(&format!("/{word}/d{at}")),
        None => base.pointer(fragment),
    }
}

/// Generates a value of a type that the schema names, or else of one that it has keywords for.
fn of_type(map: &Map<String, Value>, tape: &mut Tape) -> Value {
    let named = match map.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => tape.one_of(names).as_str(),
        _ => None,
    };
    let hinted = || {
        map.keys().find_map(|word| match word.as_str() {
            "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "propertyNames"
            | "unevaluatedProperties"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies"
            | "minProperties"
            | "maxProperties" => Some("object"),
            "items" | "prefixItems" | "contains" | "unevaluatedItems" | "uniqueItems" | "minItems" | "maxItems" => {
                Some("array")
            }
            "minLength" | "maxLength" | "pattern" => Some("string"),
            "minimum" | "maximum" | "multipleOf" | "exclusiveMinimum" | "exclusiveMaximum" => Some("number"),
            _ => None,
        })
    };
    match named.or_else(hinted) {
        Some("object") => json!({}),
        Some("array") => json!([]),
        Some("string") => string(tape),
        Some("integer" | "number") => number(tape),
        Some("null") => Value::Null,
        Some("boolean") => json!(tape.once_in(2)),
        _ => any(tape, 1),
    }
}

/// Adds the members and items that a schema mentions.
fn completed(mut base: Value, map: &Map<String, Value>, root: &Value, tape: &mut Tape, levels: usize) -> Value {
    if levels > 1 {
        for schema in in_place(map) {
            if tape.once_in(2) {
                base = completed(base, schema, root, tape, levels - 1);
            }
        }
    }
    match base {
        Value::Object(mut members) => {
            let properties = map.get("properties").and_then(Value::as_object);
            for (name, schema) in properties.into_iter().flatten() {
                if !tape.once_in(3) {
                    members.insert(name.clone(), fitting(schema, root, tape, levels - 1));
                }
            }
            for name in map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
                if !members.contains_key(name) {
                    members.insert(name.to_owned(), any(tape, 1));
                }
            }
            let is_closed = map.get("unevaluatedProperties") == Some(&Value::Bool(false));
            if tape.once_in(if is_closed { 6 } else { 2 }) {
                let words = ["additionalProperties", "unevaluatedProperties"];
                let rest = words.into_iter().find_map(|word| map.get(word)).unwrap_or(&Value::Bool(true));
                members.insert(key(tape), fitting(rest, root, tape, levels - 1));
            }
            members.into()
        }
        Value::Array(mut items) => {
            let prefix = map.get("prefixItems").or_else(|| map.get("items").filter(|items| items.is_array()));
            let prefix = prefix.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let words = ["items", "additionalItems", "unevaluatedItems", "contains"];
            let rest: Vec<&Value> =
                words.into_iter().filter_map(|word| map.get(word)).filter(|schema| !schema.is_array()).collect();
            for at in items.len()..tape.pick(5) {
                let schema = prefix.get(at).or_else(|| (!rest.is_empty()).then(|| *tape.one_of(&rest)));
                let item = match schema {
                    Some(schema) => fitting(schema, root, tape, levels - 1),
                    None => any(tape, 1),
                };
                items.push(item);
            }
            items.into()
        }
        other => other,
    }
}

/// Returns the subschemas in a schema that apply to the same value.
fn in_place(map: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|word| map.get(word)?.as_array()).flatten();
    let alone = ["if", "then", "else"].into_iter().filter_map(|word| map.get(word));
    let by_key = map.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(|map| map.values());
    lists.chain(alone).chain(by_key).filter_map(Value::as_object)
}

/// Changes a value at one position.
pub(super) fn mutated(mut value: Value, tape: &mut Tape) -> Value {
    let levels = tape.pick(3);
    mutate(&mut value, levels, tape);
    value
}

fn mutate(value: &mut Value, levels: usize, tape: &mut Tape) {
    match value {
        Value::Object(map) if levels > 0 && !map.is_empty() => {
            let picked = tape.pick(map.len());
            mutate(map.values_mut().nth(picked).unwrap(), levels - 1, tape);
        }
        Value::Array(items) if levels > 0 && !items.is_empty() => {
            let picked = tape.pick(items.len());
            mutate(&mut items[picked], levels - 1, tape);
        }
        Value::Object(map) if !map.is_empty() && tape.once_in(2) => {
            let name = map.keys().nth(tape.pick(map.len())).unwrap().clone();
            map.remove(&name);
        }
        Value::Object(map) if !tape.once_in(3) => {
            map.insert(key(tape), any(tape, 1));
        }
        Value::Array(items) if !items.is_empty() && tape.once_in(2) => {
            let again = tape.one_of(items).clone();
            items.push(again);
        }
        Value::Array(items) if !items.is_empty() && tape.once_in(2) => {
            items.pop();
        }
        other => *other = any(tape, 1),
    }
}
