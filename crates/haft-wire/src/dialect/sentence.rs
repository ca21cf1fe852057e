//! Sentences for keywords that a dialect lacks. The model reads them in the value's description.

use std::io;

use serde_json::{Map, Value};

use crate::dialect::group::Group;

/// The most JSON bytes that a sentence quotes.
const MAX_QUOTE: usize = 1_000;

/// The most definitions that a sentence quotes.
const MAX_DEFINITIONS: usize = 4;

/// The most subschemas that are searched for references.
const MAX_VISITED: usize = 200;

/// Returns a sentence that states a keyword.
pub(crate) fn of_keyword(keyword: &str, value: &Value) -> String {
    let quoted = quote(value);
    match keyword {
        "minLength" => format!("At least {quoted} characters."),
        "maxLength" => format!("At most {quoted} characters."),
        "pattern" => format!("Must match the regular expression {quoted}."),
        "format" => format!("Format: {}.", value.as_str().unwrap_or(&quoted)),
        "minimum" => format!("At least {quoted}."),
        "maximum" => format!("At most {quoted}."),
        "exclusiveMinimum" if value.is_number() => format!("More than {quoted}."),
        "exclusiveMaximum" if value.is_number() => format!("Less than {quoted}."),
        "multipleOf" => format!("A multiple of {quoted}."),
        "minItems" => format!("At least {quoted} items."),
        "maxItems" => format!("At most {quoted} items."),
        "uniqueItems" if *value == true => "All items must differ.".to_owned(),
        "minProperties" => format!("At least {quoted} keys."),
        "maxProperties" => format!("At most {quoted} keys."),
        "enum" => format!("One of {quoted}."),
        "const" => format!("Must be {quoted}."),
        "default" => format!("Default: {quoted}."),
        "example" => format!("Example: {quoted}."),
        "examples" => format!("Examples: {quoted}."),
        "deprecated" if *value == true => "Deprecated.".to_owned(),
        _ => format!("By JSON Schema: \"{keyword}\": {quoted}."),
    }
}

/// Returns the description for a value that is sent as JSON text, with the schemas that it refers to.
pub(crate) fn of_text(group: &Group<'_>) -> String {
    let is_empty = |schema: &Value| schema.as_object().is_none_or(Map::is_empty);
    let Some(schema) = group.members().map(|member| member.schema).find(|schema| !is_empty(schema.as_json())) else {
        return "JSON text of any value.".to_owned();
    };
    let mut text = format!("JSON text of a value that is valid by the JSON Schema {}", quote(schema.as_json()));
    let (mut open, mut targets, mut visited) = (vec![schema], Vec::new(), 0);
    while let Some(next) = open.pop().filter(|_| visited < MAX_VISITED) {
        visited += 1;
        let found = next.references().map(|(_, target)| target).filter(|target| *target != schema);
        for target in found.collect::<Vec<_>>() {
            if targets.len() < MAX_DEFINITIONS && !targets.contains(&target) {
                targets.push(target);
                open.push(target);
            }
        }
        open.extend(next.parts());
    }
    for target in targets {
        text.push_str(&format!(", where #{} is {}", target.pointer(), quote(target.as_json())));
    }
    text.push('.');
    text
}

/// Joins two description parts.
pub(crate) fn join(first: &str, second: &str) -> String {
    match (first.trim_end(), second) {
        ("", only) => only.to_owned(),
        (first, "") => first.to_owned(),
        (first, second) if first.ends_with(['.', '!', '?', ':']) => format!("{first} {second}"),
        (first, second) => format!("{first}. {second}"),
    }
}

/// Returns the beginning of a value's JSON. A large value is never written whole.
fn quote(value: &Value) -> String {
    let mut quote = Quote(Vec::new());
    let is_whole = serde_json::to_writer(&mut quote, value).is_ok();
    let text = quote.0.utf8_chunks().next().map(|chunk| chunk.valid().to_owned()).unwrap_or_default();
    if is_whole { text } else { text + "…" }
}

/// A text's first bytes.
struct Quote(Vec<u8>);

impl io::Write for Quote {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = MAX_QUOTE.saturating_sub(self.0.len()).min(bytes.len());
        self.0.extend_from_slice(&bytes[..room]);
        if room < bytes.len() { Err(io::ErrorKind::WriteZero.into()) } else { Ok(room) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
