//! Mutations that preserve JSON: they change a value and write it again.

use serde_json::{Map, Number, Value, json};

use crate::random::Random;

/// The depth to which a value may be wrapped: beyond every depth limit, and short enough to write.
const DEEPEST_WRAP: usize = 200;

/// Changes one JSON document of the input, if there is one. A document is a line; `other` is a source of values.
pub(crate) fn mutate(input: &[u8], other: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut lines: Vec<&[u8]> = input.split(|&byte| byte == b'\n').collect();
    let at = random.below(lines.len());
    let mut value: Value = serde_json::from_slice(lines[at]).ok()?;
    let lent = other.split(|&byte| byte == b'\n').find_map(|line| serde_json::from_slice(line).ok());
    change(&mut value, &lent.unwrap_or(Value::Null), random);
    let text = serde_json::to_vec(&value).ok()?;
    lines[at] = &text;
    Some(lines.join(&b'\n'))
}

/// Descends to some value and changes it there.
fn change(value: &mut Value, lent: &Value, random: &mut Random) {
    if !random.one_in(3) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                let at = random.below(items.len());
                return change(&mut items[at], lent, random);
            }
            Value::Object(fields) if !fields.is_empty() => {
                let at = random.below(fields.len());
                if let Some(field) = fields.values_mut().nth(at) {
                    return change(field, lent, random);
                }
            }
            _ => {}
        }
    }
    match random.below(7) {
        0 => *value = any(random, 3),
        1 => *value = lent.clone(),
        2 => wrap(value, random),
        3 => add(value, random),
        4 => remove(value, random),
        5 => rename(value, random),
        _ => nudge(value, random),
    }
}

fn wrap(value: &mut Value, random: &mut Random) {
    let times = if random.one_in(4) { random.below(DEEPEST_WRAP) } else { 1 + random.below(3) };
    for _ in 0..times {
        let inner = value.take();
        *value = if random.one_in(2) { json!([inner]) } else { json!({ "a": inner }) };
    }
}

fn add(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(items) if random.one_in(2) && !items.is_empty() => {
            let copy = items[random.below(items.len())].clone();
            items.push(copy);
        }
        Value::Array(items) => items.push(any(random, 2)),
        Value::Object(fields) => {
            fields.insert(key(random), any(random, 2));
        }
        scalar => *scalar = any(random, 1),
    }
}

fn remove(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            items.remove(random.below(items.len()));
        }
        Value::Object(fields) => {
            let name = fields.keys().nth(random.below(fields.len())).cloned();
            name.and_then(|name| fields.remove(&name));
        }
        _ => *value = Value::Null,
    }
}

fn rename(value: &mut Value, random: &mut Random) {
    let Value::Object(fields) = value else { return nudge(value, random) };
    let at = random.below(fields.len());
    let renamed = std::mem::take(fields).into_iter().enumerate().map(|(index, (name, field))| {
        let name = if index == at { key(random) } else { name };
        (name, field)
    });
    *fields = renamed.collect();
}

/// Replaces a scalar by a similar one, and other values by a scalar.
fn nudge(value: &mut Value, random: &mut Random) {
    *value = match value {
        Value::Number(number) => nudge_number(number, random),
        Value::String(text) if random.one_in(2) => Value::from(text.repeat(random.below(4))),
        Value::String(text) => Value::from(format!("{text}{}", string(random))),
        Value::Bool(flag) => Value::from(!*flag),
        _ => scalar(random),
    };
}

fn nudge_number(number: &Number, random: &mut Random) -> Value {
    match (number.as_i64(), random.below(4)) {
        (Some(integer), 0) => Value::from(integer.wrapping_add(1)),
        (Some(integer), 1) => Value::from(integer.wrapping_sub(1)),
        (Some(integer), 2) => Value::from(integer.wrapping_neg()),
        _ => Value::from(number.as_f64().unwrap_or(0.0) + 0.5),
    }
}

fn any(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 6 }) {
        4 => (0..random.below(4)).map(|_| any(random, depth - 1)).collect(),
        5 => (0..random.below(4)).map(|_| (key(random), any(random, depth - 1))).collect::<Map<_, _>>().into(),
        _ => scalar(random),
    }
}

fn scalar(random: &mut Random) -> Value {
    match random.below(4) {
        0 => Value::Null,
        1 => Value::from(random.one_in(2)),
        2 => number(random),
        _ => Value::from(string(random)),
    }
}

fn number(random: &mut Random) -> Value {
    const EDGES: [i64; 10] = [0, 1, -1, 127, 256, -129, 1 << 31, (1 << 53) + 1, i64::MAX, i64::MIN];
    match random.below(4) {
        0 => Value::from(u64::MAX),
        1 => Value::from(f64::from(random.byte()) * 0.25),
        2 => Value::from(random.byte()),
        _ => Value::from(random.choose(&EDGES).copied().unwrap_or_default()),
    }
}

fn string(random: &mut Random) -> String {
    const TEXTS: [&str; 9] = ["", "a", "aaaa", "é", "\u{1f600}", "\0", "2024-01-01", "red", "a/b~1"];
    random.choose(&TEXTS).copied().unwrap_or_default().to_owned()
}

fn key(random: &mut Random) -> String {
    const KEYS: [&str; 24] = [
        "",
        "a",
        "b",
        "kind",
        "name",
        "count",
        "items",
        "tag",
        "__proto__",
        "constructor",
        "prototype",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "$ref",
        "$defs",
        "anyOf",
        "oneOf",
        "not",
        "enum",
        "minimum",
        "maxLength",
        "pattern",
    ];
    random.choose(&KEYS).copied().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::mutate;
    use crate::random::Random;

    #[test]
    fn json_stays_json_and_mostly_changes() {
        let input = br#"{"a":[1,{"b":"x"}],"c":null}"#;
        let mut random = Random::new(3);
        let mut changed = 0;
        for _ in 0..500 {
            let text = mutate(input, b"[true]", &mut random).unwrap();
            let mut reader = serde_json::Deserializer::from_slice(&text);
            reader.disable_recursion_limit();
            let _: Value = serde::Deserialize::deserialize(&mut reader).unwrap();
            changed += usize::from(text != input);
        }
        assert!(changed > 400, "{changed}");
    }

    #[test]
    fn each_line_is_a_separate_document() {
        let mut random = Random::new(4);
        let outputs: Vec<_> = (0..100).filter_map(|_| mutate(b"[1]\n[2]", b"", &mut random)).collect();
        assert!(outputs.iter().all(|output| output.split(|&byte| byte == b'\n').count() == 2));
        assert!(outputs.iter().any(|output| output.starts_with(b"[1]\n")));
        assert!(outputs.iter().any(|output| output.ends_with(b"\n[2]")));
    }

    #[test]
    fn invalid_json_is_left_to_other_mutations() {
        assert_eq!(mutate(b"{nope", b"", &mut Random::new(1)), None);
    }
}
