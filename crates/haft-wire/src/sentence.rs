//! Sentences for keywords that a dialect does not have. The model reads them in the description of the value.

use serde_json::Value;

/// The most characters of JSON that a sentence quotes.
const MAX_QUOTE: usize = 1_000;

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

/// Returns the description of a value that is sent as JSON text.
pub(crate) fn of_text(schema: Option<&Value>) -> String {
    match schema {
        Some(schema) => format!("JSON text of a value that is valid by the JSON Schema {}.", quote(schema)),
        None => "JSON text of any value.".to_owned(),
    }
}

/// Joins two parts of a description.
pub(crate) fn join(first: &str, second: &str) -> String {
    match (first.trim_end(), second) {
        ("", only) => only.to_owned(),
        (first, "") => first.to_owned(),
        (first, second) if first.ends_with(['.', '!', '?', ':']) => format!("{first} {second}"),
        (first, second) => format!("{first}. {second}"),
    }
}

fn quote(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((at, _)) = text.char_indices().nth(MAX_QUOTE) {
        text.truncate(at);
        text.push('…');
    }
    text
}
