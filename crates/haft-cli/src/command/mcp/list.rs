//! The imports as a table or as JSON, from the lock alone.

use haft::workspace::Loaded;
use haft::workspace::pins::PinnedImport;
use serde_json::{Value, json};

use super::difference::{origin_text, server_text};
use super::import::{LockedImport, imports};
use crate::context::Context;
use crate::error::CommandError;
use crate::table::{add_line, cell, rendered, table};
use crate::terminal::escaped_json;

/// Prints a workspace's imports.
pub(super) fn print(cx: &Context, loaded: &Loaded, is_json: bool) -> Result<(), CommandError> {
    let imports = imports(loaded);
    if is_json || !cx.terminal.stdout {
        let all: Vec<Value> = imports.iter().map(import_json).collect();
        return cx.terminal.print(escaped_json(&json!(all)));
    }
    if imports.is_empty() {
        cx.terminal.note("the workspace has no imports; add a server with `haft add mcp`");
        return Ok(());
    }
    let mut shown = table(cx.terminal.width(), &["IMPORT", "KIND", "TOOLS", "STATE", "ORIGIN"]);
    for import in &imports {
        let tools = import.pinned.map_or_else(|| "-".to_owned(), |pinned| pinned.tools().count().to_string());
        let origin = import.pinned.map(|pinned| match pinned.reported() {
            Some(server) => format!("{} ({})", origin_text(pinned.origin()), server_text(server)),
            None => origin_text(pinned.origin()),
        });
        let origin = origin.unwrap_or_default();
        let cells: [&str; 5] = [&import.name, &import.entry.kind, &tools, state(import), &origin];
        add_line(&mut shown, cells.into_iter().map(cell).collect());
    }
    cx.terminal.print(rendered(&shown))
}

/// Returns the state of an import in a word or two.
fn state<'s>(import: &LockedImport<'_>) -> &'s str {
    let is_logged_out = import.entry.login.as_ref().is_some_and(|login| !login.is_logged_in());
    match (import.entry.is_left_out, import.pinned) {
        (true, _) => "not trusted",
        (false, _) if is_logged_out => "not logged in",
        (false, Some(_)) => "accepted",
        (false, None) => "not accepted",
    }
}

fn import_json(import: &LockedImport<'_>) -> Value {
    let pinned = import.pinned;
    json!({
        "import": import.name,
        "kind": import.entry.kind,
        "state": state(import).replace(' ', "_"),
        "origin": pinned.map(PinnedImport::origin),
        "server": pinned.and_then(|pinned| pinned.reported()),
        "tools": pinned.map(|pinned| pinned.tools().map(|(name, _)| name).collect::<Vec<_>>()),
    })
}
