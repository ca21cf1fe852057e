//! The text form of pins.
//!
//! It is JSON, because a JSON Schema may contain `null`, which TOML does not have. Imports and tools are sorted by
//! name, and members have fixed places, so that a change of one tool is a change of its own lines. A definition keeps
//! its server's order of members.
//!
//! Reading believes nothing: each digest must be that of its definition, so a text that was edited by hand, or merged
//! by halves, is an error and never a definition that nobody accepted.

use std::collections::BTreeMap;

use haft_registry::{PinOrigin, PinnedImport, PinnedTool, ReportedServer};
use haft_schema::internal::{nests_within, unambiguous_tree};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::PinsError;

/// The version of the format.
const VERSION: u64 = 1;

/// The deepest nesting of a whole text: that of a tool's definition and its place.
const MAX_DEPTH: usize = 256;

/// The first line of a conflict, as version control writes it into a file.
const CONFLICT: &str = "<<<<<<< ";

/// An import as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportForm<T> {
    kind: String,
    origin: PinOrigin,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<ReportedServer>,
    tools: T,
}

/// A tool as it is written.
#[derive(Serialize)]
struct ToolForm<'a> {
    digest: &'a str,
    definition: &'a Value,
}

impl<'a> ToolForm<'a> {
    fn of(tool: &'a PinnedTool) -> Self {
        Self { digest: tool.digest(), definition: tool.definition() }
    }
}

/// A tool as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnedToolForm {
    digest: String,
    definition: Value,
}

/// All pins as they are written.
#[derive(Serialize)]
struct PinsForm<'a> {
    version: u64,
    imports: BTreeMap<&'a str, ImportForm<BTreeMap<&'a str, ToolForm<'a>>>>,
}

/// Returns the text of pins.
pub(super) fn write(imports: &BTreeMap<String, PinnedImport>) -> String {
    let form =
        PinsForm { version: VERSION, imports: imports.iter().map(|(name, import)| (&**name, form(import))).collect() };
    // No map here has a key that is not a text, which is all that could fail.
    let mut text = serde_json::to_string_pretty(&form).unwrap_or_default();
    text.push('\n');
    text
}

fn form(import: &PinnedImport) -> ImportForm<BTreeMap<&str, ToolForm<'_>>> {
    ImportForm {
        kind: import.kind().to_owned(),
        origin: import.origin().clone(),
        server: import.reported().cloned(),
        tools: import.tools().map(|(name, tool)| (name, ToolForm::of(tool))).collect(),
    }
}

/// Reads pins from their text.
pub(super) fn read(text: &str) -> Result<BTreeMap<String, PinnedImport>, PinsError> {
    if let Some(line) = text.lines().position(|line| line.starts_with(CONFLICT)) {
        return Err(PinsError::Conflict { line: line + 1 });
    }
    let mut root = tree(text)?;
    let version = root.get("version").and_then(Value::as_u64).ok_or_else(|| {
        PinsError::structure("", "`version` is missing, or no whole number; this is not a lock that haft wrote")
    })?;
    if version != VERSION {
        return Err(PinsError::Version { found: version, known: VERSION });
    }
    let imports = object(root.remove("imports"), "imports", "")?;
    if let Some(key) = root.keys().find(|key| *key != "version") {
        return Err(PinsError::structure("", format!("the key `{key}` is not known")));
    }
    let read = |(name, value): (String, Value)| import(&name, value).map(|import| (name, import));
    imports.into_iter().map(read).collect()
}

fn tree(text: &str) -> Result<Map<String, Value>, PinsError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // The tree's own limit is higher, and counts the levels.
    deserializer.disable_recursion_limit();
    let root = unambiguous_tree(&mut deserializer).and_then(|root| deserializer.end().map(|()| root));
    let root = root.map_err(PinsError::Syntax)?;
    if !nests_within(&root, MAX_DEPTH) {
        return Err(PinsError::structure("", format!("it nests deeper than {MAX_DEPTH} levels")));
    }
    match root {
        Value::Object(members) => Ok(members),
        _ => Err(PinsError::structure("", "it must be an object")),
    }
}

fn object(value: Option<Value>, name: &str, at: &str) -> Result<Map<String, Value>, PinsError> {
    match value {
        Some(Value::Object(members)) => Ok(members),
        Some(_) => Err(PinsError::structure(at, format!("`{name}` must be an object"))),
        None => Err(PinsError::structure(at, format!("`{name}` is missing"))),
    }
}

fn import(name: &str, value: Value) -> Result<PinnedImport, PinsError> {
    let form: ImportForm<Map<String, Value>> =
        serde_json::from_value(value).map_err(|error| PinsError::structure(name, error.to_string()))?;
    let mut read = PinnedImport::new(form.kind, form.origin);
    if let Some(ReportedServer { name, version, .. }) = form.server {
        read = read.server(name, version);
    }
    for (tool, value) in form.tools {
        let at = || format!("{name}, tool `{tool}`");
        let OwnedToolForm { digest, definition } =
            serde_json::from_value(value).map_err(|error| PinsError::structure(at(), error.to_string()))?;
        let pinned = PinnedTool::new(definition);
        if pinned.digest() != digest {
            return Err(PinsError::Digest { import: name.to_owned(), tool });
        }
        read.set(tool, Some(pinned));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Pins;
    use super::*;

    fn pins() -> Pins {
        let mut pins = Pins::new();
        let import = PinnedImport::new("mcp", PinOrigin::url("https://mcp.example/v1")).server("docs", "1.2.0");
        let search =
            json!({"name": "search", "inputSchema": {"type": "object", "default": null}, "_meta": {"b": 1, "a": 2.5}});
        pins.insert("docs/server", import.tool("search", search).tool("fetch", json!({"name": "fetch"})));
        pins.insert("a/api", PinnedImport::new("openapi", PinOrigin::file("api.yaml")));
        pins
    }

    fn error(text: &str) -> String {
        text.parse::<Pins>().unwrap_err().to_string()
    }

    #[test]
    fn the_text_is_sorted_and_has_a_value_per_line() {
        insta::assert_snapshot!(pins());
    }

    #[test]
    fn what_was_written_is_read_again() {
        assert_eq!(pins().to_string().parse::<Pins>().unwrap(), pins());
        assert_eq!(Pins::new().to_string().parse::<Pins>().unwrap(), Pins::new());
    }

    #[test]
    fn a_text_that_haft_did_not_write_is_rejected_with_its_fault() {
        let whole = pins().to_string();
        let edited = |old: &str, new: &str| {
            assert!(whole.contains(old), "{old}");
            error(&whole.replacen(old, new, 1))
        };
        let faults = [
            error(""),
            error("[]"),
            error("{}"),
            error(&whole[..whole.len() / 2]),
            error(&format!("{whole}{whole}")),
            edited("\"version\": 1", "\"version\": 2"),
            edited("\"version\": 1", "\"version\": \"1\""),
            edited("\"imports\"", "\"import\""),
            edited("\"version\": 1", "\"version\": 1, \"extra\": 0"),
            edited("\"a/api\"", "\"docs/server\""),
            edited("\"kind\": \"openapi\",", ""),
            edited("\"file\":", "\"path\":"),
            edited("\"b\": 1", "\"b\": 2"),
            edited("\"digest\":", "\"hash\":"),
            edited("  \"imports\"", "<<<<<<< HEAD\n  \"imports\""),
            error(&format!("{{\"version\": 1, \"imports\": {}1{}}}", "[".repeat(300), "]".repeat(300))),
            error(&"[".repeat(100_000)),
        ];
        insta::assert_snapshot!(faults.join("\n"));
    }
}
