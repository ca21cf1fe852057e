//! JSON Pointers to the values of a document, for reports.
//!
//! Keys are chosen by whoever wrote the text, and a report may contain many pointers, so both a key and a whole pointer
//! are cut. A key longer than 256 bytes is cut there and ends with `…`. A pointer longer than 1,024 bytes keeps the
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

/// The most bytes of a cut pointer before its `…`.
const MAX_HEAD: usize = 512;

const GAP: &str = "/…";

/// The way from an array or object to one of its values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// The cell of a key.
    Key(u32),
    Index(usize),
}

impl Document<'_> {
    /// Returns the pointer to the value with this id, or to the value of the key with this id, shortened where it is
    /// long. It searches from the root, so it is meant for reports.
    pub(crate) fn pointer_to(&self, id: u32) -> String {
        self.pointer_along(&steps(&self.cells, id))
    }

    /// Returns the pointer that leads along these steps from the root, shortened where it is long.
    pub(crate) fn pointer_along(&self, steps: &[Step]) -> String {
        render(steps, |key| Quoted::of(self.text(), self.cell(key)))
    }
}

/// Finds the way from the root to a cell.
fn steps(cells: &[Cell], target: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    loop {
        let first = at + 1;
        match cells[at as usize].kind() {
            Kind::Array if at < target => {
                let mut item = first;
                let mut index = 0;
                while cells[item as usize].next <= target {
                    item = cells[item as usize].next;
                    index += 1;
                }
                steps.push(Step::Index(index));
                at = item;
            }
            Kind::Object if at < target => {
                let mut key = first;
                while cells[key as usize + 1].next <= target {
                    key = cells[key as usize + 1].next;
                }
                steps.push(Step::Key(key));
                at = key + 1;
            }
            _ => return steps,
        }
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

/// Writes a pointer, shortened where it is long.
pub(super) fn render<'t>(steps: &[Step], key: impl Fn(u32) -> Quoted<'t>) -> String {
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

/// Appends the gap and as many of the last steps as there is room for.
fn with_tail<'t>(mut pointer: String, steps: &[Step], key: impl Fn(u32) -> Quoted<'t>) -> String {
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

fn write_step<'t>(step: Step, key: impl Fn(u32) -> Quoted<'t>, pointer: &mut String) {
    pointer.push('/');
    match step {
        Step::Index(index) => pointer.push_str(&index.to_string()),
        Step::Key(cell) => {
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
