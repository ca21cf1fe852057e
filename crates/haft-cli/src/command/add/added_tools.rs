//! Remarks about an added entry's tools: an import's names, and tools that nobody may call.

use std::path::Path;

use haft::registry::FullName;
use haft::workspace::{Loaded, LoadedEntry};

use super::entry::{EntrySort, NewEntry};
use crate::context::Context;
use crate::report;
use crate::terminal::printable;
use crate::workspace::OpenWorkspace;

/// The most tools to name.
const MAX_NAMES: usize = 8;

/// Reports an import's tools, and those that the file's permissions deny.
pub(super) fn report(cx: &Context, entry: &NewEntry, path: &Path, after: Loaded) {
    let Some(added) = after.entries.iter().find(|known| entry.is_like(known, path)).cloned() else { return };
    if entry.sort == EntrySort::Import && !added.is_left_out {
        let count = match added.tools.len() {
            1 => "1 tool".to_owned(),
            count => format!("{count} tools"),
        };
        cx.terminal.note(printable(&format!("it has {count}: {}", names(&added.tools))));
    }
    let denied = denied(&added, after);
    if let Some((_, reason)) = denied.first() {
        let tools: Vec<FullName> = denied.iter().map(|(name, _)| name.clone()).collect();
        report::note(cx, &format!("nobody may call {}: {reason}", names(&tools)));
        report::help(cx, &format!("add a rule to `permissions.allow` in `{}`", path.display()));
    }
}

/// Returns the tools that nobody may call, each with the reason.
fn denied(added: &LoadedEntry, after: Loaded) -> Vec<(FullName, String)> {
    let Ok(workspace) = OpenWorkspace::of(after) else { return Vec::new() };
    let registry = workspace.executor.registry();
    let explained = added.tools.iter().filter_map(|name| {
        let tool = registry.find(&format!("/{name}")).ok()?;
        let explanation = workspace.executor.explain(&tool)?;
        explanation.is_denied().then(|| (name.clone(), explanation.to_string()))
    });
    explained.collect()
}

/// Returns the first names, and how many follow.
fn names(tools: &[FullName]) -> String {
    let shown: Vec<String> = tools.iter().take(MAX_NAMES).map(ToString::to_string).collect();
    match tools.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
