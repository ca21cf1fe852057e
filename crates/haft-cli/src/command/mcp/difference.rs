//! Differences between accepted and current definitions, for people and as JSON.
//!
//! A person accepts what is shown here, and a server's author wants it to look harmless. So every fact is one line with
//! all characters visible, and nothing is cut.

use haft::workspace::pins::{
    FieldChange, FieldDifference, ImportDifference, PinOrigin, ReportedServer, TextPiece, ToolChange,
};
use serde_json::{Value, json};

use super::import::LiveImport;
use super::selection::ImportSelection;
use crate::terminal::{escaped, escaped_json};

const RED: anstyle::Style = anstyle::AnsiColor::Red.on_default();
const GREEN: anstyle::Style = anstyle::AnsiColor::Green.on_default();
const YELLOW: anstyle::Style = anstyle::AnsiColor::Yellow.on_default();

/// Returns an import's difference, a fact per line. The words that were removed are in `[-…-]`, new ones in `{+…+}`.
pub(crate) fn difference_lines(import: &LiveImport, selection: &ImportSelection) -> Vec<String> {
    let LiveImport { difference, quarantined, .. } = import;
    let is_same = !difference.tools.iter().any(|tool| selection.has_tool(&import.name, &tool.name));
    let state = match (import.is_new, is_same && difference.origin.is_none()) {
        (true, _) => "nothing was accepted yet".to_owned(),
        (false, true) => format!("{} as accepted", counted(import.offered.tools().count(), "tool")),
        (false, false) => "differs from what was accepted".to_owned(),
    };
    let mut lines = vec![format!("{}: {state}", escaped(&import.name))];
    lines.extend(change_lines(difference, |tool| selection.has_tool(&import.name, tool)));
    for (name, reason) in quarantined {
        let name = name.as_deref().unwrap_or("a tool without a name");
        lines.push(format!("  {YELLOW}quarantined{YELLOW:#}: {}: {}", escaped(name), escaped(reason)));
    }
    lines
}

/// Returns the facts of a difference, with those about the tools that a function picks.
pub(crate) fn change_lines(difference: &ImportDifference, has_tool: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((old, new)) = &difference.origin {
        lines.push(format!("  {YELLOW}origin{YELLOW:#}: {} is now {}", origin_text(old), origin_text(new)));
    }
    if let Some(change) = &difference.reported {
        lines.push(match (&change.old, &change.new) {
            (Some(old), Some(new)) => format!("  server: {} is now {}", server_text(old), server_text(new)),
            (None, Some(new)) => format!("  server: {}", server_text(new)),
            _ => "  server: no longer reports its name and version".to_owned(),
        });
    }
    for tool in difference.tools.iter().filter(|tool| has_tool(&tool.name)) {
        let name = escaped(&tool.name);
        match &tool.change {
            ToolChange::New(definition) => {
                lines.push(format!("  {GREEN}+ {name}{GREEN:#}"));
                lines.extend(members(definition));
            }
            ToolChange::Removed(_) => lines.push(format!("  {RED}- {name}{RED:#}")),
            ToolChange::Changed(fields) => {
                lines.push(format!("  {YELLOW}~ {name}{YELLOW:#}"));
                lines.extend(fields.iter().map(|field| format!("      {}", field_text(field))));
            }
            other => lines.push(format!("  {name}: {other:?}")),
        }
    }
    lines
}

/// Returns the members of a new definition, except for its name.
fn members(definition: &Value) -> Vec<String> {
    let Value::Object(members) = definition else { return vec![format!("      {}", escaped_json(definition))] };
    let shown = members.iter().filter(|(key, _)| *key != "name").map(|(key, value)| {
        let text = value.as_str().map_or_else(|| escaped_json(value), escaped);
        format!("      {}: {text}", escaped(key))
    });
    shown.collect()
}

fn field_text(field: &FieldDifference) -> String {
    let place = if field.pointer.is_empty() { "the definition".to_owned() } else { escaped(&field.pointer) };
    let change = match &field.change {
        FieldChange::Added(value) => format!("new: {GREEN}{}{GREEN:#}", escaped_json(value)),
        FieldChange::Removed(value) => format!("removed: {RED}{}{RED:#}", escaped_json(value)),
        FieldChange::Replaced { old, new } => {
            format!("{RED}{}{RED:#} is now {GREEN}{}{GREEN:#}", escaped_json(old), escaped_json(new))
        }
        FieldChange::Text(pieces) => pieces.iter().map(piece_text).collect(),
        FieldChange::Items { removed, added } => {
            let list = |style: anstyle::Style, sign: char, items: &[Value]| -> Vec<String> {
                items.iter().map(|item| format!("{style}{sign}{}{style:#}", escaped_json(item))).collect()
            };
            let items: Vec<String> = list(RED, '-', removed).into_iter().chain(list(GREEN, '+', added)).collect();
            items.join(" ")
        }
        other => format!("{other:?}"),
    };
    format!("{place}: {change}")
}

fn piece_text(piece: &TextPiece) -> String {
    match piece {
        TextPiece::Same(text) => escaped_part(text),
        TextPiece::Removed(text) => format!("{RED}[-{}-]{RED:#}", escaped_part(text)),
        TextPiece::Added(text) => format!("{GREEN}{{+{}+}}{GREEN:#}", escaped_part(text)),
    }
}

/// Returns a part of a text, whose spaces at the ends are no deceit.
fn escaped_part(text: &str) -> String {
    let (start, end) = (text.starts_with(' '), text.len() > 1 && text.ends_with(' '));
    let inside = &text[usize::from(start)..text.len() - usize::from(end)];
    format!("{}{}{}", if start { " " } else { "" }, escaped(inside), if end { " " } else { "" })
}

/// Returns an origin for people.
pub(super) fn origin_text(origin: &PinOrigin) -> String {
    match origin {
        PinOrigin::Command(_) => "a command".to_owned(),
        PinOrigin::Url(url) => escaped(url),
        PinOrigin::File(path) => escaped(path),
        other => format!("{other:?}"),
    }
}

pub(super) fn server_text(server: &ReportedServer) -> String {
    escaped(&format!("{} {}", server.name, server.version))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Returns an import's difference.
pub(crate) fn difference_json(import: &LiveImport, selection: &ImportSelection) -> Value {
    let LiveImport { difference, quarantined, .. } = import;
    let tools = difference.tools.iter().filter(|tool| selection.has_tool(&import.name, &tool.name));
    let tools: Vec<Value> = tools
        .map(|tool| match &tool.change {
            ToolChange::New(definition) => json!({"name": tool.name, "change": "new", "definition": definition}),
            ToolChange::Removed(definition) => {
                json!({"name": tool.name, "change": "removed", "definition": definition})
            }
            ToolChange::Changed(fields) => {
                let fields: Vec<Value> = fields.iter().map(field_json).collect();
                json!({"name": tool.name, "change": "changed", "fields": fields})
            }
            _ => json!({"name": tool.name, "change": "other"}),
        })
        .collect();
    let origin = difference.origin.as_ref().map(|(old, new)| json!({"old": old, "new": new}));
    let server = difference.reported.as_ref().map(|change| json!({"old": change.old, "new": change.new}));
    let quarantined: Vec<Value> =
        quarantined.iter().map(|(name, reason)| json!({"name": name, "reason": reason})).collect();
    json!({
        "import": import.name,
        "accepted": !import.is_new,
        "origin": origin,
        "server": server,
        "tools": tools,
        "quarantined": quarantined,
    })
}

fn field_json(field: &FieldDifference) -> Value {
    let mut json = match &field.change {
        FieldChange::Added(value) => json!({"new": value}),
        FieldChange::Removed(value) => json!({"old": value}),
        FieldChange::Replaced { old, new } => json!({"old": old, "new": new}),
        FieldChange::Text(pieces) => {
            let side = |is_old: bool| -> String {
                let part = |piece: &TextPiece| match piece {
                    TextPiece::Same(text) => text.clone(),
                    TextPiece::Removed(text) if is_old => text.clone(),
                    TextPiece::Added(text) if !is_old => text.clone(),
                    TextPiece::Removed(_) | TextPiece::Added(_) => String::new(),
                };
                pieces.iter().map(part).collect()
            };
            json!({"old": side(true), "new": side(false)})
        }
        FieldChange::Items { removed, added } => json!({"removed": removed, "added": added}),
        _ => json!({}),
    };
    json["at"] = json!(field.pointer);
    json
}
