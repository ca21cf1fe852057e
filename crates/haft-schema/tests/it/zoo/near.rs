//! JSON values near a schema: most of each value is valid, and some part of it is wrong in a way that models get
//! wrong.

use serde_json::{Map, Value, json};

use super::tape::Tape;

/// The depth of generated values; recursive schemas end there.
const DEEP: usize = 7;

/// Keys that some type of the zoo knows as an alias, skips, or does not contain.
const KEYS: &[&str] =
    &["extra", "alias", "color", "a", "b", "c", "id", "type", "t", "0", "1", "300", "-1", "ß", "a/b~c"];

const TEXTS: &[&str] =
    &["", "a", "ab", "abc", "abcd", "abcde", "x", "no", "Red", "ß", "🦀🦀", "日本語", " a b", "3", "true", "1.2.3.4"];

const INTEGERS: &[i128] = &[
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    10,
    15,
    -1,
    -2,
    127,
    128,
    -128,
    -129,
    255,
    256,
    32_767,
    32_768,
    65_535,
    65_536,
    i32::MAX as i128,
    i32::MAX as i128 + 1,
    i32::MIN as i128,
    u32::MAX as i128,
    u32::MAX as i128 + 1,
    (1 << 53) - 1,
    1 << 53,
    (1 << 53) + 1,
    i64::MAX as i128,
    i64::MAX as i128 + 1,
    i64::MIN as i128,
    u64::MAX as i128,
];

const FLOATS: &[f64] = &[
    0.5,
    0.25,
    -0.0,
    3.0,
    1e0,
    2.0,
    255.0,
    256.0,
    -1.0,
    1.5,
    2.5,
    9.999,
    1e15,
    9_007_199_254_740_992.0,
    1e16,
    1e19,
    1e20,
    3.4e38,
    3.5e38,
    -3.5e38,
    1e39,
    1e300,
    5e-324,
];

/// Generates a value that follows `root`, for the most part.
pub(super) fn value(root: &Value, tape: &mut Tape) -> Value {
    Generator { root }.near(root, tape, 0)
}

/// Generates any JSON value.
pub(super) fn arbitrary(tape: &mut Tape, depth: usize) -> Value {
    match tape.pick(if depth > 3 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => Value::Bool(tape.once_in(2)),
        2 => integer(tape),
        3 => json!(*tape.one_of(FLOATS)),
        4 => json!(*tape.one_of(TEXTS)),
        5 | 6 => (0..tape.pick(4)).map(|_| arbitrary(tape, depth + 1)).collect(),
        _ => {
            let members = (0..tape.pick(4)).map(|_| ((*tape.one_of(KEYS)).to_owned(), arbitrary(tape, depth + 1)));
            Value::Object(members.collect())
        }
    }
}

/// Generates an integer as a tree holds it.
fn integer(tape: &mut Tape) -> Value {
    let integer = *tape.one_of(INTEGERS);
    u64::try_from(integer).map_or_else(|_| json!(i64::try_from(integer).unwrap()), |unsigned| json!(unsigned))
}

struct Generator<'a> {
    root: &'a Value,
}

impl Generator<'_> {
    fn near(&self, schema: &Value, tape: &mut Tape, depth: usize) -> Value {
        let value = self.fitting(schema, tape, depth);
        if tape.once_in(14) { mutated(value, tape) } else { value }
    }

    /// Generates a valid value, unless keywords contradict each other or an inner part was mutated.
    fn fitting(&self, schema: &Value, tape: &mut Tape, depth: usize) -> Value {
        let Value::Object(map) = schema else {
            return arbitrary(tape, depth);
        };
        if depth > DEEP {
            return Value::Null;
        }
        if let Some(literal) = map.get("const") {
            return literal.clone();
        }
        if let Some(Value::Array(literals)) = map.get("enum") {
            return tape.one_of(literals).clone();
        }
        let mut pieces = Vec::new();
        if let Some(Value::String(reference)) = map.get("$ref") {
            let target = self.root.pointer(reference.trim_start_matches('#')).expect("schemas of types hold together");
            pieces.push(self.fitting(target, tape, depth + 1));
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = map.get(word) {
                pieces.push(self.fitting(tape.one_of(branches), tape, depth + 1));
            }
        }
        if let Some(Value::Array(all)) = map.get("allOf") {
            pieces.extend(all.iter().map(|part| self.fitting(part, tape, depth + 1)));
        }
        if map.contains_key("type") || pieces.is_empty() {
            pieces.push(self.typed(map, tape, depth));
        }
        merged(pieces)
    }

    fn typed(&self, map: &Map<String, Value>, tape: &mut Tape, depth: usize) -> Value {
        let kind = match map.get("type") {
            Some(Value::Array(kinds)) => tape.one_of(kinds).as_str(),
            Some(kind) => kind.as_str(),
            None => None,
        };
        match kind {
            Some("null") => Value::Null,
            Some("boolean") => Value::Bool(tape.once_in(2)),
            Some("integer") => whole(map, tape),
            Some("number") => number(map, tape),
            Some("string") => text(map, tape),
            Some("array") => self.array(map, tape, depth),
            Some("object") => self.object(map, tape, depth),
            _ => arbitrary(tape, depth),
        }
    }

    fn array(&self, map: &Map<String, Value>, tape: &mut Tape, depth: usize) -> Value {
        let count = |word: &str| map.get(word).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        let least = count("minItems").unwrap_or(0);
        let most = count("maxItems").unwrap_or(least + 3);
        let length = least + tape.pick(most - least + 1);
        let prefix = map.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let items = map.get("items").unwrap_or(&Value::Bool(true));
        (0..length).map(|index| self.near(prefix.get(index).unwrap_or(items), tape, depth + 1)).collect()
    }

    fn object(&self, map: &Map<String, Value>, tape: &mut Tape, depth: usize) -> Value {
        let required: Vec<&str> =
            map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut object = Map::new();
        for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if required.contains(&name.as_str()) || tape.once_in(2) {
                object.insert(name.clone(), self.near(schema, tape, depth + 1));
            }
        }
        for (pattern, schema) in map.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
            let names: &[&str] =
                if pattern.contains('-') { &["0", "-7", "12", "01"] } else { &["0", "7", "12", "300"] };
            for _ in 0..tape.pick(3) {
                object.insert((*tape.one_of(names)).to_owned(), self.near(schema, tape, depth + 1));
            }
        }
        if let Some(schema) = map.get("additionalProperties").filter(|schema| **schema != Value::Bool(false)) {
            for _ in 0..tape.pick(3) {
                object.insert((*tape.one_of(KEYS)).to_owned(), self.near(schema, tape, depth + 1));
            }
        }
        Value::Object(object)
    }
}

/// Merges the values of all parts: their members together, or the last that is no object.
fn merged(pieces: Vec<Value>) -> Value {
    let mut whole = Value::Null;
    for piece in pieces {
        match (&mut whole, piece) {
            (Value::Object(whole), Value::Object(members)) => whole.extend(members),
            (whole, piece) => *whole = piece,
        }
    }
    whole
}

fn whole(map: &Map<String, Value>, tape: &mut Tape) -> Value {
    let within = |integer: i128| {
        let bound = |word: &str| map.get(word).and_then(Value::as_i64).map(i128::from);
        bound("minimum").is_none_or(|min| integer >= min) && bound("maximum").is_none_or(|max| integer <= max)
    };
    let step = map.get("multipleOf").and_then(Value::as_i64).map_or(1, i128::from);
    let mut integer = *tape.one_of(INTEGERS) / step * step;
    if !within(integer) && !tape.once_in(8) {
        integer = map.get("minimum").and_then(Value::as_i64).map_or(0, i128::from);
    }
    u64::try_from(integer).map_or_else(|_| json!(i64::try_from(integer).unwrap_or(-1)), |unsigned| json!(unsigned))
}

fn number(map: &Map<String, Value>, tape: &mut Tape) -> Value {
    if tape.once_in(3) { whole(map, tape) } else { json!(*tape.one_of(FLOATS)) }
}

fn text(map: &Map<String, Value>, tape: &mut Tape) -> Value {
    let length = |text: &str| text.chars().count() as u64;
    let bound = |word: &str| map.get(word).and_then(Value::as_u64);
    let text = *tape.one_of(TEXTS);
    if tape.once_in(8) || bound("minLength").is_none_or(|min| length(text) >= min) {
        let most = bound("maxLength").unwrap_or(u64::MAX);
        return text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect::<String>().into();
    }
    "ab".chars().take(usize::try_from(bound("maxLength").unwrap_or(2)).unwrap_or(2)).collect::<String>().into()
}

/// Returns the same value with one mistake, or written differently.
fn mutated(value: Value, tape: &mut Tape) -> Value {
    if tape.once_in(5) {
        return arbitrary(tape, 2);
    }
    match value {
        Value::Object(members) => mutated_object(members, tape),
        Value::Array(items) => mutated_array(items, tape),
        Value::String(text) => match tape.pick(5) {
            0 => json!({ text: null }),
            1 => json!([text]),
            2 => json!({ text: {} }),
            3 => json!(text + "~"),
            _ => json!(text.to_uppercase()),
        },
        Value::Number(number) => match (tape.pick(5), number.as_f64()) {
            (0, Some(float)) => json!(float),
            (1, Some(float)) => json!(float + 0.5),
            (2, _) => json!(number.to_string()),
            (3, _) => integer(tape),
            _ => json!(*tape.one_of(FLOATS)),
        },
        Value::Null => json!(tape.one_of(&[json!({}), json!([]), json!(""), json!(0), json!(false)])),
        Value::Bool(flag) => tape.one_of(&[json!(u8::from(flag)), json!(flag.to_string()), json!(null)]).clone(),
    }
}

fn mutated_object(mut members: Map<String, Value>, tape: &mut Tape) -> Value {
    let keys: Vec<String> = members.keys().cloned().collect();
    match tape.pick(6) {
        0 if !keys.is_empty() => {
            members.shift_remove(tape.one_of(&keys));
        }
        1 if !keys.is_empty() => {
            members.insert(tape.one_of(&keys).clone(), Value::Null);
        }
        2 if !keys.is_empty() => {
            let moved = members.shift_remove(tape.one_of(&keys)).unwrap();
            members.insert((*tape.one_of(KEYS)).to_owned(), moved);
        }
        3 => return members.into_iter().map(|(_, member)| member).collect(),
        4 => return Value::Array(vec![Value::Object(members)]),
        _ => {
            members.insert((*tape.one_of(KEYS)).to_owned(), arbitrary(tape, 3));
        }
    }
    Value::Object(members)
}

fn mutated_array(mut items: Vec<Value>, tape: &mut Tape) -> Value {
    match tape.pick(4) {
        0 => {
            items.pop();
        }
        1 if !items.is_empty() => items.push(tape.one_of(&items).clone()),
        2 => return items.into_iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        _ => items.push(arbitrary(tape, 3)),
    }
    Value::Array(items)
}
