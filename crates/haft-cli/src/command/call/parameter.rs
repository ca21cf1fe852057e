//! A tool's parameters in short, for a rejected call.

use haft::serde_json::Value;

use crate::terminal::printable;

/// The most parameters to list.
const MAX_LISTED: usize = 12;

/// Returns a line per parameter: its name, type, whether it is required, and its description.
pub(super) fn in_short(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
        return vec!["no parameters".to_owned()];
    };
    let is_required = |key: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|name| name == key))
    };
    let width = properties.keys().take(MAX_LISTED).map(|key| key.chars().count()).max().unwrap_or_default();
    let line = |(key, property): (&String, &Value)| {
        let mut line = format!("{key:width$}  {}", kind(property, schema));
        if is_required(key) {
            line.push_str(", required");
        }
        if let Some(description) = property.get("description").and_then(Value::as_str) {
            line.push_str("  ");
            line.push_str(description.lines().next().unwrap_or_default());
        }
        printable(&line).into_owned()
    };
    let mut lines: Vec<String> = properties.iter().take(MAX_LISTED).map(line).collect();
    if properties.len() > MAX_LISTED {
        lines.push(format!("and {} more", properties.len() - MAX_LISTED));
    }
    lines
}

/// Returns a parameter's type in a word or a few.
fn kind(property: &Value, root: &Value) -> String {
    let referred = || property.get("$ref")?.as_str()?.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let shown: Vec<String> = values.iter().take(6).map(ToString::to_string).collect();
        let rest = if values.len() > 6 { " | …" } else { "" };
        return format!("{}{rest}", shown.join(" | "));
    }
    match property.get("type") {
        Some(Value::String(kind)) if kind == "array" => {
            let items = property.get("items").and_then(|items| items.get("type")).and_then(Value::as_str);
            items.map_or_else(|| "array".to_owned(), |items| format!("array of {items}s"))
        }
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ => match referred() {
            Some(referred) if referred.get("$ref").is_none() => kind(referred, root),
            _ => "any".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use haft::serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_listed_with_their_types() {
        let schema = json!({
            "properties": {
                "path": {"type": "string", "description": "The path.\nBelow the root."},
                "limit": {"type": ["integer", "null"]},
                "mode": {"enum": ["fast", "slow"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "size": {"$ref": "#/$defs/size"},
                "rest": {}
            },
            "required": ["path"],
            "$defs": {"size": {"type": "number"}}
        });
        assert_eq!(
            in_short(&schema),
            [
                "path   string, required  The path.",
                "limit  integer | null",
                "mode   \"fast\" | \"slow\"",
                "tags   array of strings",
                "size   number",
                "rest   any",
            ]
        );
        assert_eq!(in_short(&json!({"type": "object"})), ["no parameters"]);
    }
}
