//! JSON Pointers to the values of a document, for reports.
//!
//! Keys come from the author of the text, and a report may contain many pointers, so both a key and a whole pointer are
//! truncated. A key longer than 256 bytes is cut there and ends with `…`. A pointer longer than 1,024 bytes keeps the
//! first and the last of its keys and indices, whole ones, with one `…` in place of those between:
//! `/filter/and/0/…/or/1/value`.

use super::Document;
use super::cell::Cell;
use super::escape::Quoted;
use super::instance::Kind;

/// The most bytes of a key, without the `…` after it.
const MAX_KEY: usize = 256;

/// The most bytes of a pointer.
const MAX_POINTER: usize = 1_024;

/// The most bytes of a truncated pointer before its `…`.
const MAX_HEAD: usize = 512;

const GAP: &str = "/…";

/// A step from an array or object to one of its values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathStep {
    /// The cell of a key.
    Key(u32),
    Index(usize),
}

/// Pointers to the values of a document.
///
/// The search for a value starts from the path of the previous one, so that the pointers of many values, requested in
/// text order, take one pass over the document in total.
#[derive(Debug)]
pub(crate) struct Pointers<'d> {
    document: &'d Document<'d>,
    levels: Vec<PointerLevel>,
}

/// An array or object on the path to a value, and the part of it that contains the value.
#[derive(Clone, Copy, Debug)]
struct PointerLevel {
    container: u32,
    /// The cell of an item, or of a key.
    part: u32,
    index: usize,
}

impl Document<'_> {
    /// Returns the pointer to the value with this id, or to the value of the key with this id, truncated if it is long.
    /// It searches from the root.
    #[cfg(test)]
    pub(crate) fn pointer_to(&self, id: u32) -> String {
        Pointers::new(self).to(id)
    }

    /// Returns the pointer along these steps from the root, truncated if it is long.
    pub(crate) fn pointer_along(&self, steps: &[PathStep]) -> String {
        render(steps, |key| Quoted::of(self.text(), self.cell(key)))
    }
}

impl<'d> Pointers<'d> {
    pub(crate) fn new(document: &'d Document<'d>) -> Self {
        Self { document, levels: Vec::new() }
    }

    /// Returns the pointer to the value with this id, or to the value of the key with this id, truncated if it is long.
    pub(crate) fn to(&mut self, id: u32) -> String {
        self.seek(id);
        let is_object = |level: &PointerLevel| self.document.cell(level.container).is_object();
        let step = |level: &PointerLevel| {
            if is_object(level) { PathStep::Key(level.part) } else { PathStep::Index(level.index) }
        };
        let steps: Vec<PathStep> = self.levels.iter().map(step).collect();
        render(&steps, |key| Quoted::of(self.document.text(), self.document.cell(key)))
    }

    /// Finds the path from the root to a cell.
    fn seek(&mut self, target: u32) {
        let document = self.document;
        let contains = |level: &PointerLevel| level.part <= target && target < document.cell(level.container).next;
        while self.levels.last().is_some_and(|level| !contains(level)) {
            self.levels.pop();
        }
        loop {
            let value = match self.levels.last_mut() {
                Some(level) => {
                    while document.end_of_part(*level) <= target {
                        level.part = document.end_of_part(*level);
                        level.index += 1;
                    }
                    document.value_of_part(*level)
                }
                None => 0,
            };
            let is_container = matches!(document.cell(value).kind(), Kind::Array | Kind::Object);
            if target <= value || !is_container {
                return;
            }
            self.levels.push(PointerLevel { container: value, part: value + 1, index: 0 });
        }
    }
}

impl Document<'_> {
    /// Returns the cell of the value in a part of an array or object.
    fn value_of_part(&self, level: PointerLevel) -> u32 {
        if self.cell(level.container).is_object() { level.part + 1 } else { level.part }
    }

    /// Returns the cell after a part of an array or object.
    fn end_of_part(&self, level: PointerLevel) -> u32 {
        self.cell(self.value_of_part(level)).next
    }
}

/// Returns the position of an item in an array that may still be open.
pub(super) fn position(cells: &[Cell], array: u32, item: u32) -> usize {
    let mut at = array + 1;
    let mut position = 0;
    while at < item {
        at = cells[at as usize].next;
        position += 1;
    }
    position
}

/// Writes a pointer, truncated if it is long.
pub(super) fn render<'t>(steps: &[PathStep], key: impl Fn(u32) -> Quoted<'t>) -> String {
    let mut pointer = String::with_capacity(32.min(steps.len() * 32));
    let mut head = (0, 0);
    for (at, step) in steps.iter().enumerate() {
        write_step(*step, &key, &mut pointer);
        if pointer.len() <= MAX_HEAD {
            head = (at + 1, pointer.len());
        }
        if pointer.len() > MAX_POINTER {
            let (kept, length) = head;
            pointer.truncate(length);
            return with_tail(pointer, &steps[kept..], key);
        }
    }
    pointer
}

/// Appends the gap and as many of the last steps as fit.
fn with_tail<'t>(mut pointer: String, steps: &[PathStep], key: impl Fn(u32) -> Quoted<'t>) -> String {
    pointer.push_str(GAP);
    let mut tail = Vec::new();
    let mut room = MAX_POINTER - pointer.len();
    for step in steps.iter().rev() {
        let mut token = String::new();
        write_step(*step, &key, &mut token);
        if token.len() > room {
            break;
        }
        room -= token.len();
        tail.push(token);
    }
    pointer.extend(tail.iter().rev().map(String::as_str));
    pointer
}

fn write_step<'t>(step: PathStep, key: impl Fn(u32) -> Quoted<'t>, pointer: &mut String) {
    pointer.push('/');
    match step {
        PathStep::Index(digit @ 0..10) => pointer.push(char::from(b"0123456789"[digit])),
        PathStep::Index(index) => pointer.push_str(&index.to_string()),
        PathStep::Key(cell) => {
            let start = pointer.len();
            let key = key(cell);
            if key.raw.len() <= MAX_KEY && !key.raw.bytes().any(|byte| matches!(byte, b'~' | b'/' | b'\\')) {
                pointer.push_str(key.raw);
                return;
            }
            for char in key.chars() {
                let length = pointer.len();
                match char {
                    '~' => pointer.push_str("~0"),
                    '/' => pointer.push_str("~1"),
                    char => pointer.push(char),
                }
                if pointer.len() - start > MAX_KEY {
                    pointer.truncate(length);
                    pointer.push('…');
                    return;
                }
            }
        }
    }
}
