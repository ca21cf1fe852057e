//! One tool in a list: what it is, where it comes from, and what it hides.

use std::fmt::Display;

use haft::registry::file::LoadedEntry;
use haft::registry::{RegisteredTool, ToolOrigin};
use haft::tool::{Hints, ToolKind};
use serde_json::{Value, json};

use crate::table::{add_line, cell, rendered, table};
use crate::workspace::OpenWorkspace;

/// A tool with its provenance.
#[derive(Debug)]
pub(crate) struct ToolListing<'w> {
    pub(crate) tool: &'w RegisteredTool,
    /// The entry of the workspace file; unset for tools of the standard toolbox.
    pub(crate) entry: Option<&'w LoadedEntry>,
}

impl<'w> ToolListing<'w> {
    pub(crate) fn new(tool: &'w RegisteredTool, workspace: &'w OpenWorkspace) -> Self {
        let entries = workspace.loaded.as_ref().map(|loaded| loaded.entries.as_slice()).unwrap_or_default();
        let is_its = |entry: &&LoadedEntry| *tool.origin() != ToolOrigin::Internal && entry.tools.contains(&tool.name);
        Self { tool, entry: entries.iter().find(is_its) }
    }

    /// Returns the kind of implementation: that of the entry, or `function`.
    pub(crate) fn kind(&self) -> &str {
        match (self.entry, self.tool.tool.kind()) {
            (Some(entry), _) => &entry.kind,
            (None, ToolKind::Signal) => "signal",
            (None, ToolKind::Interaction) => "interaction",
            (None, ToolKind::Provider(_)) => "provider",
            (None, _) => "function",
        }
    }

    /// Returns the source: the standard toolbox, the project, or an organisation.
    pub(crate) fn source(&self) -> String {
        match self.tool.origin() {
            ToolOrigin::Internal => "standard".to_owned(),
            ToolOrigin::Project(_) => "project".to_owned(),
            ToolOrigin::Org(org, _) => format!("org {org}"),
            other => format!("{other:?}"),
        }
    }

    /// Returns the hints that hold, also by default.
    pub(crate) fn hints(&self) -> Vec<&'static str> {
        let Hints { readonly, destructive, idempotent, open_world, .. } = self.tool.tool.descriptor().hints;
        let hints = [
            (readonly, "readonly"),
            (destructive && !readonly, "destructive"),
            (idempotent, "idempotent"),
            (open_world, "open-world"),
        ];
        hints.into_iter().filter(|(holds, _)| *holds).map(|(_, name)| name).collect()
    }

    /// Returns the first sentence of the description.
    fn summary(&self) -> String {
        let description = self.tool.tool.description().unwrap_or_default();
        let line = description.lines().next().unwrap_or_default();
        line.find(". ").map_or(line, |at| &line[..=at]).to_owned()
    }

    pub(crate) fn json(&self) -> Value {
        let RegisteredTool { name, tool, exported, hides, hidden_by, .. } = self.tool;
        let mut json = json!({
            "name": name.to_string(),
            "kind": self.kind(),
            "source": self.source(),
            "title": tool.title(),
            "description": tool.description(),
            "hints": self.hints(),
            "exported": exported,
            "hides": texts(hides),
            "hidden_by": texts(hidden_by),
        });
        if let Some(entry) = self.entry {
            json["file"] = json!(entry.path.display().to_string());
            json["line"] = json!(entry.position.map(|position| position.line));
            json["key"] = json!(entry.key);
        }
        json
    }
}

/// Returns the table of the tools.
pub(super) fn table_text(listings: &[ToolListing<'_>], width: usize) -> String {
    let hides_any = listings.iter().any(|listing| !listing.tool.hides.is_empty() || !listing.tool.hidden_by.is_empty());
    let mut columns = vec!["NAME", "KIND", "SOURCE", "HINTS", "DESCRIPTION"];
    if hides_any {
        columns.insert(4, "HIDES");
    }
    let mut table = table(width, &columns);
    for listing in listings {
        let RegisteredTool { name, hides, hidden_by, .. } = listing.tool;
        let mut cells = vec![
            cell(&name.to_string()),
            cell(listing.kind()),
            cell(&listing.source()),
            cell(&listing.hints().join(", ")),
            cell(&listing.summary()),
        ];
        if hides_any {
            let mut relations = texts(hides);
            relations.extend(hidden_by.iter().map(|other| format!("hidden by {other}")));
            cells.insert(4, cell(&relations.join(", ")));
        }
        add_line(&mut table, cells);
    }
    rendered(&table)
}

/// Returns values as texts.
fn texts<T: Display>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}
