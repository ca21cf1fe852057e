//! JSON Pointers into schemas.

use std::fmt::Write;

use crate::issue::CharBoundary;

/// The longest key that is written in full, in bytes; a hostile one could be as long as the text.
const LONGEST_KEY: usize = 256;
/// The longest pointer that is written in full, in bytes.
const LONGEST_POINTER: usize = 1_024;

/// Appends an escaped key to a JSON Pointer. A very long key is truncated and ends with `…`. A very long pointer is
/// left unchanged.
pub(super) fn push_key(pointer: &mut String, key: &str) {
    if pointer.len() > LONGEST_POINTER {
        return;
    }
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

/// Appends an index to a JSON Pointer. A very long pointer is left unchanged.
pub(super) fn push_index(pointer: &mut String, index: usize) {
    if pointer.len() > LONGEST_POINTER {
        return;
    }
    // Writing into a string never fails.
    let _ = write!(pointer, "/{index}");
}
