//! Notes about requests that can't be sent as they are: tools with losses, and history parts that are left out.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::model::RequestReport;

/// The notes not shown yet, each once. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestNotes(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    seen: HashSet<String>,
    new: Vec<String>,
}

impl RequestNotes {
    /// Adds a report's new notes.
    pub(crate) fn add(&self, report: &RequestReport<'_>) {
        self.add_lines(report.to_string().lines());
    }

    fn add_lines<'l>(&self, lines: impl IntoIterator<Item = &'l str>) {
        let mut notes = self.notes();
        for line in lines {
            if notes.seen.insert(line.to_owned()) {
                notes.new.push(line.to_owned());
            }
        }
    }

    /// Takes the notes that were not shown yet, as one line: they would push the conversation off the screen.
    pub(crate) fn take(&self) -> Option<String> {
        let mut new = std::mem::take(&mut self.notes().new).into_iter();
        let first = new.next()?;
        Some(match new.len() {
            0 => first,
            more => format!("{first}; and {more} more: `haft check` lists what each provider can't take"),
        })
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::RequestNotes;

    #[test]
    fn notes_are_shown_once_and_as_one_line() {
        let notes = RequestNotes::default();
        notes.add_lines(["a", "a"]);
        assert_eq!(notes.take().as_deref(), Some("a"));
        assert_eq!(notes.take(), None);
        notes.add_lines(["a", "b", "c", "d"]);
        assert_eq!(notes.take().unwrap(), "b; and 2 more: `haft check` lists what each provider can't take");
    }
}
