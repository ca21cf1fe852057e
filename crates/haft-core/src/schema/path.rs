//! Where a walk stands, as a chain on the stack: a pointer is only spelled out when something is wrong there.

use std::fmt::Write;

use crate::issue::CharBoundary;

/// A place in a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// The JSON Pointer of this place.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = String::with_capacity(self.len());
        self.write(&mut pointer);
        pointer
    }

    /// How long the pointer is, if no key must be escaped.
    fn len(&self) -> usize {
        match self {
            Self::Root => 0,
            Self::Key(parent, key) => parent.len() + 1 + key.len().min(LONGEST_KEY),
            Self::Index(parent, index) => parent.len() + 2 + index.checked_ilog10().unwrap_or(0) as usize,
        }
    }

    fn write(&self, pointer: &mut String) {
        match self {
            Self::Root => {}
            Self::Key(parent, key) => {
                parent.write(pointer);
                push_key(pointer, key);
            }
            Self::Index(parent, index) => {
                parent.write(pointer);
                push_index(pointer, *index);
            }
        }
    }
}

/// The longest key that is spelled out, in bytes; a hostile one could be as long as the text.
const LONGEST_KEY: usize = 256;

/// Appends a key to a JSON Pointer, escaped. Of a very long one only the beginning, with `…` behind it.
pub(super) fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    if key.len() > LONGEST_KEY {
        push_key_characters(pointer, &key[..key.floor_char_boundary_at(LONGEST_KEY)]);
        pointer.push('…');
    } else {
        push_key_characters(pointer, key);
    }
}

fn push_key_characters(pointer: &mut String, key: &str) {
    if !key.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        pointer.push_str(key);
        return;
    }
    for c in key.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(c),
        }
    }
}

/// Appends an index to a JSON Pointer.
pub(super) fn push_index(pointer: &mut String, index: usize) {
    pointer.push('/');
    // Writing into a string never fails.
    let _ = write!(pointer, "{index}");
}
