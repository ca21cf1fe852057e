//! The changes of lock files since they were trusted.

use haft::workspace::pins::{ImportDifference, PinnedImport, Pins};
use haft::workspace::{Loaded, LoadedPins};

use crate::command::mcp::change_lines;
use crate::context::Context;
use crate::error::Fault;
use crate::terminal::escaped;

/// Writes the differences between the lock files and those that were trusted.
pub(super) fn note(cx: &Context, loaded: &Loaded) -> Result<(), Fault> {
    let store = cx.trust_store()?;
    for lock in &loaded.locks {
        // Of a workspace that was never trusted, everything is new, and the list of what it may do is what counts.
        let Some(trusted) = store.trusted_pins(loaded, lock) else { continue };
        let lines = lines(lock, &trusted);
        if !lines.is_empty() {
            let path = escaped(&lock.path.display().to_string());
            cx.terminal.note(format!("In {path}, since it was trusted:\n{}", lines.join("\n")));
        }
    }
    Ok(())
}

fn lines(lock: &LoadedPins, trusted: &Pins) -> Vec<String> {
    let mut names: Vec<&str> = trusted.iter().chain(lock.pins.iter()).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let mut lines = Vec::new();
    for name in names {
        let (before, after) = (trusted.get(name), lock.pins.get(name));
        let Some(known) = after.or(before) else { continue };
        let empty = PinnedImport::new(known.kind(), known.origin().clone());
        let difference = ImportDifference::between(before.unwrap_or(&empty), after.unwrap_or(&empty));
        if difference.is_none() && difference.reported.is_none() && before.is_some() == after.is_some() {
            continue;
        }
        let state = match (before, after) {
            (None, _) => "is new",
            (_, None) => "is gone",
            _ => "has changed",
        };
        lines.push(format!("  {} {state}", escaped(name)));
        lines.extend(change_lines(&difference, |_| true));
    }
    lines
}
