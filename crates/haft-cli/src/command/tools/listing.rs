//! One tool in a list: what it is, where it comes from, and what it hides.

use std::collections::HashMap;
use std::fmt::Display;

use haft::registry::{FullName, RegisteredTool, ToolOrigin};
use haft::tool::{Hints, ToolKind};
use haft::workspace::LoadedEntry;
use serde_json::{Value, json};

use unicode_width::UnicodeWidthStr;

use crate::table::{add_line, cell, rendered, table};
use crate::terminal::printable;
use crate::workspace::OpenWorkspace;

/// The table's columns.
const COLUMNS: [&str; 6] = ["NAME", "KIND", "SOURCE", "HINTS", "HIDES", "DESCRIPTION"];

/// The width that a description needs.
const MIN_DESCRIPTION: usize = 16;

/// The spaces beside a cell's text.
const PADDING: usize = 2;

/// A tool with its provenance.
#[derive(Debug)]
pub(crate) struct ToolListing<'w> {
    pub(crate) tool: &'w RegisteredTool,
    /// The workspace file's entry; unset for standard tools.
    pub(crate) entry: Option<&'w LoadedEntry>,
}

/// The entries of a workspace file, by the tools that they have.
#[derive(Debug)]
pub(crate) struct EntryIndex<'w> {
    by_tool: HashMap<&'w FullName, &'w LoadedEntry>,
    /// The entries whose tools may change.
    live: Vec<&'w LoadedEntry>,
}

impl<'w> EntryIndex<'w> {
    pub(crate) fn new(workspace: &'w OpenWorkspace) -> Self {
        let entries = workspace.loaded.as_ref().map(|loaded| loaded.entries.as_slice()).unwrap_or_default();
        let mut by_tool = HashMap::new();
        for entry in entries {
            for tool in &entry.tools {
                by_tool.entry(tool).or_insert(entry);
            }
        }
        Self { by_tool, live: entries.iter().filter(|entry| entry.live.is_some()).collect() }
    }

    /// Returns a tool's entry; none for standard tools.
    pub(crate) fn of(&self, tool: &RegisteredTool) -> Option<&'w LoadedEntry> {
        if *tool.origin() == ToolOrigin::Internal {
            return None;
        }
        let live = || self.live.iter().find(|entry| entry.has_tool(&tool.name));
        self.by_tool.get(&tool.name).or_else(live).copied()
    }
}

impl<'w> ToolListing<'w> {
    pub(crate) fn new(tool: &'w RegisteredTool, entries: &EntryIndex<'w>) -> Self {
        Self { tool, entry: entries.of(tool) }
    }

    /// Returns the implementation kind: the entry's, or `function`.
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

    /// Returns the tool's cells in column order, with the description's first sentence.
    fn cells(&self) -> [String; 6] {
        let RegisteredTool { name, hides, hidden_by, .. } = self.tool;
        let mut relations = texts(hides);
        relations.extend(hidden_by.iter().map(|other| format!("hidden by {other}")));
        let (kind, hints) = (self.kind().to_owned(), self.hints().join(", "));
        [name.to_string(), kind, self.source(), hints, relations.join(", "), self.summary()]
    }

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

/// Returns the tools' table. If there is no room for a description, other columns are left out.
pub(super) fn table_text(listings: &[ToolListing<'_>], width: usize) -> String {
    let rows: Vec<[String; 6]> = listings.iter().map(ToolListing::cells).collect();
    let has_text = |column: &usize| COLUMNS[*column] != "HIDES" || rows.iter().any(|row| !row[*column].is_empty());
    let mut columns: Vec<usize> = (0..COLUMNS.len()).filter(has_text).collect();
    let needed = |column: &usize| {
        let widest = rows.iter().map(|row| printable(&row[*column]).width()).max().unwrap_or_default();
        widest.max(COLUMNS[*column].len()) + PADDING
    };
    for title in ["HINTS", "SOURCE", "KIND", "HIDES"] {
        let others: usize = columns.iter().filter(|column| COLUMNS[**column] != "DESCRIPTION").map(needed).sum();
        if width.saturating_sub(others) < MIN_DESCRIPTION {
            columns.retain(|column| COLUMNS[*column] != title);
        }
    }
    let titles: Vec<&str> = columns.iter().map(|column| COLUMNS[*column]).collect();
    let mut table = table(width, &titles);
    for row in &rows {
        add_line(&mut table, columns.iter().map(|column| cell(&row[*column])).collect());
    }
    rendered(&table)
}

/// Returns values as texts.
fn texts<T: Display>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::table_text;
    use crate::command::tools::ToolListing;
    use crate::workspace::OpenWorkspace;

    #[test]
    fn a_narrow_table_keeps_names_and_descriptions() {
        let workspace = OpenWorkspace::of_standard(haft::registry::Executor::builder()).unwrap();
        let tools = crate::command::tools::visible(&workspace);
        let entries = super::EntryIndex::new(&workspace);
        let listings: Vec<_> = tools.iter().map(|tool| ToolListing::new(tool, &entries)).collect();
        let titles = |width| table_text(&listings, width).lines().next().unwrap_or_default().to_owned();
        let words = |width| titles(width).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(120), ["NAME", "KIND", "SOURCE", "HINTS", "DESCRIPTION"]);
        assert_eq!(words(60), ["NAME", "KIND", "SOURCE", "DESCRIPTION"]);
        assert_eq!(words(36), ["NAME", "DESCRIPTION"]);
        for width in [30, 40, 60, 80, 120] {
            let text = table_text(&listings, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            assert_eq!(text.lines().count(), listings.len() + 1, "{width}:\n{text}");
        }
    }
}
