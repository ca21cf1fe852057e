//! The JSON Schema for workspace files.
//!
//! One schema is both enforced when a file is loaded and published for editors. It is generated from the section types
//! and from the registered kinds' settings: an entry must match its kind's `$defs/kind-NAME`, which has the common keys
//! and the kind's own, and no others.

use std::collections::HashSet;
use std::iter::once;

use haft_registry::{ImplementationKind, Kinds, Yields};
use haft_schema::{Issue, Schema, SchemaError, nearest};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::document::{TextFault, keys, member};
use super::settings::{CommonKeys, FileSections, IMPORT_ENTRY, IMPORT_KEYS, TOOL_ENTRY};
use super::simplify::simplify;

/// Returns the JSON Schema for workspace files with entries of these kinds.
///
/// The schema for the kinds in `haft-tools` is published as `haft.schema.json`. To use it in an editor, begin the file
/// with `#:schema` and its address.
#[must_use]
pub fn json_schema(kinds: &Kinds) -> Value {
    let mut root = SchemaGenerator::default().into_root_schema_for::<FileSections>().to_value();
    let mut definitions = Map::new();
    for (name, yields) in [(TOOL_ENTRY, Yields::OneTool), (IMPORT_ENTRY, Yields::ManyTools)] {
        definitions.insert(name.to_owned(), entry_schema(kinds, yields));
    }
    for kind in kinds.iter() {
        definitions.insert(definition(kind.name()), kind_schema(&**kind));
    }
    if let Some(Value::Object(known)) = root.get_mut("$defs") {
        known.extend(definitions);
    } else {
        root["$defs"] = Value::Object(definitions);
    }
    simplify(&mut root);
    root
}

/// The compiled file schema, with the kinds it is made from.
#[derive(Debug)]
pub(crate) struct FileFormat {
    pub(crate) kinds: Kinds,
    schema: Schema,
    /// The common keys of tools, and those of imports.
    tool_keys: HashSet<String>,
    import_keys: HashSet<String>,
}

/// A kind whose entries can't be written in a workspace file.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KindFormatError {
    /// A kind's settings schema is invalid.
    #[error("the settings of a kind have an invalid schema: {0}")]
    Schema(#[from] SchemaError),
    /// A setting has the name of a key that all entries have, with another meaning.
    #[error("the kind `{kind}` has a setting `{key}`, which is a key of all entries; rename the setting")]
    CommonKey {
        /// The kind's name.
        kind: String,
        /// The setting.
        key: String,
    },
}

impl FileFormat {
    pub(crate) fn new(kinds: Kinds) -> Result<Self, KindFormatError> {
        let keys = |yields| -> HashSet<String> {
            once("kind".to_owned()).chain(common_properties(yields).into_iter().map(|(key, _)| key)).collect()
        };
        let (tool_keys, import_keys) = (keys(Yields::OneTool), keys(Yields::ManyTools));
        let schema = Schema::json(json_schema(&kinds))?;
        let format = Self { kinds, schema, tool_keys, import_keys };
        for kind in format.kinds.iter() {
            let settings = kind.settings_schema();
            let own = settings.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
            if let Some(key) = own.into_iter().find(|key| format.common_keys(kind.yields()).contains(*key)) {
                return Err(KindFormatError::CommonKey { kind: kind.name().to_owned(), key: key.clone() });
            }
        }
        Ok(format)
    }

    /// Returns the keys that all entries of a sort have. All others are the kind's settings.
    pub(crate) fn common_keys(&self, yields: Yields) -> &HashSet<String> {
        match yields {
            Yields::OneTool => &self.tool_keys,
            Yields::ManyTools => &self.import_keys,
        }
    }

    /// Returns a file's faults.
    pub(crate) fn check(&self, root: &Value) -> Vec<TextFault> {
        match self.schema.check(root) {
            Ok(()) => Vec::new(),
            Err(issues) => issues.iter().map(|issue| self.fault(root, issue)).collect(),
        }
    }

    fn fault(&self, root: &Value, issue: &Issue) -> TextFault {
        if let Some(message) = self.kind_fault(root, issue) {
            return TextFault::at(&issue.pointer, message);
        }
        issue_fault(issue)
    }

    /// Returns the message about a kind that is unknown, or that belongs to the other sort of entry.
    fn kind_fault(&self, root: &Value, issue: &Issue) -> Option<String> {
        let path: Vec<String> = keys(&issue.pointer).collect();
        let [toolbox, namespace, sort, name, kind] = path.as_slice() else { return None };
        let written = root.pointer(&issue.pointer)?.as_str()?;
        let yields = match sort.as_str() {
            TOOL_ENTRY => Yields::OneTool,
            IMPORT_ENTRY => Yields::ManyTools,
            _ => return None,
        };
        if toolbox != "toolbox" || kind != "kind" {
            return None;
        }
        match self.kinds.get(written) {
            Some(known) if known.yields() == yields => None,
            Some(_) if yields == Yields::OneTool => Some(format!(
                "the kind `{written}` yields many tools; write `[toolbox.{namespace}.import.{name}]` instead"
            )),
            Some(_) => {
                Some(format!("the kind `{written}` is one tool; write `[toolbox.{namespace}.tool.{name}]` instead"))
            }
            None => Some(self.unknown_kind(written, yields)),
        }
    }

    fn unknown_kind(&self, written: &str, yields: Yields) -> String {
        let names = || self.kinds.iter().filter(|kind| kind.yields() == yields).map(|kind| kind.name());
        let known: Vec<_> = names().map(|name| format!("`{name}`")).collect();
        match nearest(written, names()).first() {
            Some(close) => format!("there is no kind `{written}`; did you mean `{close}`?"),
            None if known.is_empty() => format!("there is no kind `{written}`, and none is registered"),
            None => format!("there is no kind `{written}`; the kinds are {}", known.join(", ")),
        }
    }
}

/// Returns a text issue at its place: for a key that must not be there, the key itself.
pub(crate) fn issue_fault(issue: &Issue) -> TextFault {
    match issue.keyword.as_str() {
        "additionalProperties" | "unevaluatedProperties" | "propertyNames" => {
            TextFault::at_key(&issue.pointer, &issue.message)
        }
        _ => TextFault::at(&issue.pointer, &issue.message),
    }
}

fn definition(kind: &str) -> String {
    format!("kind-{kind}")
}

/// Returns the schema for tools or for imports, which depends on the entry's kind.
fn entry_schema(kinds: &Kinds, yields: Yields) -> Value {
    let names: Vec<&str> = kinds.iter().filter(|kind| kind.yields() == yields).map(|kind| kind.name()).collect();
    let by_kind = |name: &&str| {
        json!({
            "if": {"properties": {"kind": {"const": name}}, "required": ["kind"]},
            "then": {"$ref": format!("#/$defs/{}", pointer_text(&definition(name)))},
        })
    };
    let description = match yields {
        Yields::OneTool => "A tool.",
        Yields::ManyTools => "An import of many tools.",
    };
    let mut schema = json!({
        "description": description,
        "type": "object",
        "properties": {"kind": {"description": "The kind of implementation.", "enum": names}},
        "required": ["kind"],
    });
    if !names.is_empty() {
        schema["allOf"] = names.iter().map(by_kind).collect();
    }
    schema
}

/// Returns the schema for a kind's entries: the common keys and the kind's own.
fn kind_schema(kind: &dyn ImplementationKind) -> Value {
    let mut schema = match kind.settings_schema() {
        Value::Object(schema) => schema,
        other => return other,
    };
    schema.remove("$schema");
    schema.remove("title");
    let base = member("#/$defs", &definition(kind.name()));
    schema.values_mut().for_each(|value| rebase(value, &base));

    let mut properties = Map::new();
    properties.insert("kind".to_owned(), json!({"const": kind.name()}));
    for (key, value) in common_properties(kind.yields()) {
        properties.insert(key, value);
    }
    if let Some(Value::Object(own)) = schema.remove("properties") {
        properties.extend(own);
    }
    let is_composed = ["$ref", "allOf", "anyOf", "oneOf", "if"].iter().any(|keyword| schema.contains_key(*keyword));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.remove("additionalProperties");
    // Keys that only a branch declares are declared too.
    let closed = if is_composed { "unevaluatedProperties" } else { "additionalProperties" };
    schema.insert(closed.to_owned(), Value::Bool(false));
    Value::Object(schema)
}

/// Returns the schemas for the keys that all entries of this sort have.
fn common_properties(yields: Yields) -> Map<String, Value> {
    let mut settings = schemars::generate::SchemaSettings::default();
    settings.inline_subschemas = true;
    let mut schema = CommonKeys::json_schema(&mut settings.into_generator()).to_value();
    let mut properties = match schema.get_mut("properties").map(Value::take) {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    match yields {
        Yields::OneTool => {}
        Yields::ManyTools => properties.retain(|key, _| IMPORT_KEYS.contains(&key.as_str())),
    }
    properties
}

/// Rewrites references in a schema that becomes a part of another one.
fn rebase(value: &mut Value, base: &str) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        if let Some(inside) = reference.strip_prefix('#') {
                            *reference = format!("{base}{inside}");
                        }
                    }
                    _ => rebase(value, base),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rebase(item, base)),
        _ => {}
    }
}

fn pointer_text(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
