//! Notes about requests that can't be sent as they are: tools with losses, and history parts that are left out.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::model::RequestReport;

/// The most notes to show about one request.
const MAX_NOTES: usize = 6;

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

    /// Takes the notes that were not shown yet.
    pub(crate) fn take(&self) -> Vec<String> {
        let mut new = std::mem::take(&mut self.notes().new);
        let rest = new.len().saturating_sub(MAX_NOTES);
        if rest > 0 {
            new.truncate(MAX_NOTES);
            new.push(format!("and {rest} more; `haft check` lists what each provider can't take"));
        }
        new
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_NOTES, RequestNotes};

    #[test]
    fn a_note_is_shown_once_and_many_are_counted() {
        let notes = RequestNotes::default();
        notes.add_lines(["a", "b", "a"]);
        assert_eq!(notes.take(), ["a", "b"]);
        let many: Vec<String> = (0..MAX_NOTES + 2).map(|number| number.to_string()).collect();
        notes.add_lines(many.iter().map(String::as_str).chain(["a"]));
        let shown = notes.take();
        assert_eq!((shown.len(), notes.take().len()), (MAX_NOTES + 1, 0));
        assert!(shown[MAX_NOTES].starts_with("and 2 more"), "{shown:?}");
    }
}
