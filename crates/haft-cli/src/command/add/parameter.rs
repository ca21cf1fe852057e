//! A parameter as written on the command line: `name:type=description`.

use std::str::FromStr;

use toml_edit::{InlineTable, Value};

/// The parameter types.
const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "object", "array"];

/// A new tool's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParameterSpec {
    pub(super) name: String,
    /// True unless the name ends with `?`.
    pub(super) is_required: bool,
    /// The JSON type; an array's may include its items' type.
    kind: &'static str,
    items: Option<&'static str>,
    description: Option<String>,
}

/// A parameter that can't be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ParameterSpecError {
    #[error("the type is missing; write `name:type`, such as `count:integer`")]
    NoType,
    #[error("the name is empty; write `name:type`, such as `count:integer`")]
    NoName,
    #[error("there is no type `{name}`; {}", suggestion(.name))]
    UnknownType { name: String },
}

impl ParameterSpec {
    /// Creates a placeholder's parameter: a required string.
    pub(super) fn string(name: impl Into<String>) -> Self {
        Self { name: name.into(), is_required: true, kind: "string", items: None, description: None }
    }

    /// Returns the JSON Schema as an inline table.
    pub(super) fn schema(&self) -> InlineTable {
        let mut schema = InlineTable::new();
        schema.insert("type", Value::from(self.kind));
        if let Some(items) = self.items {
            let mut inner = InlineTable::new();
            inner.insert("type", Value::from(items));
            schema.insert("items", Value::InlineTable(inner));
        }
        if let Some(description) = &self.description {
            schema.insert("description", Value::from(description.as_str()));
        }
        schema
    }
}

impl FromStr for ParameterSpec {
    type Err = ParameterSpecError;

    fn from_str(text: &str) -> Result<Self, ParameterSpecError> {
        let (name, rest) = text.split_once(':').ok_or(ParameterSpecError::NoType)?;
        let (kind, description) = match rest.split_once('=') {
            Some((kind, description)) => (kind, Some(description.to_owned()).filter(|text| !text.is_empty())),
            None => (rest, None),
        };
        let (name, is_required) = match name.strip_suffix('?') {
            Some(name) => (name, false),
            None => (name, true),
        };
        if name.is_empty() {
            return Err(ParameterSpecError::NoName);
        }
        let (kind, items) = match kind.strip_suffix("[]") {
            Some(items) => ("array", Some(known_type(items)?)),
            None => (known_type(kind)?, None),
        };
        Ok(Self { name: name.to_owned(), is_required, kind, items, description })
    }
}

fn known_type(name: &str) -> Result<&'static str, ParameterSpecError> {
    let known = TYPES.into_iter().find(|known| *known == name);
    known.ok_or_else(|| ParameterSpecError::UnknownType { name: name.to_owned() })
}

/// Returns the type that was probably meant, or all types.
fn suggestion(name: &str) -> String {
    const LEAST_SIMILAR: f64 = 0.8;
    let other_names =
        [("text", "string"), ("str", "string"), ("int", "integer"), ("float", "number"), ("bool", "boolean")];
    let other = other_names.into_iter().find(|(other, _)| *other == name).map(|(_, known)| known);
    let similar = || TYPES.into_iter().find(|known| strsim::jaro_winkler(known, name) >= LEAST_SIMILAR);
    match other.or_else(similar) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("the types are {}, and `type[]` for arrays", TYPES.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> String {
        let spec: ParameterSpec = text.parse().unwrap();
        format!("{}{} {}", spec.name, if spec.is_required { "" } else { "?" }, spec.schema())
    }

    #[test]
    fn parameters_are_read_with_type_and_description() {
        assert_eq!(schema("city:string"), r#"city { type = "string" }"#);
        assert_eq!(schema("n:integer=How many: 1=one"), r#"n { type = "integer", description = "How many: 1=one" }"#);
        assert_eq!(schema("tags?:string[]"), r#"tags? { type = "array", items = { type = "string" } }"#);
        assert_eq!(schema("x:object="), r#"x { type = "object" }"#);
    }

    #[test]
    fn invalid_parameters_say_what_to_write() {
        let message = |text: &str| text.parse::<ParameterSpec>().unwrap_err().to_string();
        assert!(message("city").starts_with("the type is missing"));
        assert!(message(":string").starts_with("the name is empty"));
        assert!(message("n:int").contains("did you mean `integer`?"));
        assert!(message("n:strng").contains("did you mean `string`?"));
        assert!(message("n:date").contains("the types are string, integer"));
    }
}
