//! Tool names.
//!
//! A name depends on its operation alone, unless two operations want the same one: then each gets a suffix that depends
//! on its method and path. So a filter, an added operation or another order changes no name.

use std::collections::HashMap;

use haft_registry::MAX_SEGMENT_LEN;

/// A suffix's length: an underscore and eight hexadecimal digits.
const SUFFIX_LEN: usize = 9;

/// Returns the operations' names. Each operation is given by its `operationId`, if it has one, and its method and path.
pub(super) fn names<'a>(operations: impl Iterator<Item = (Option<&'a str>, &'a str, &'a str)>) -> Vec<String> {
    let wanted: Vec<_> = operations.map(|(id, method, path)| (wanted(id, method, path), method, path)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (name, _, _) in &wanted {
        *counts.entry(name).or_default() += 1;
    }
    let unique = wanted.iter().map(|(name, method, path)| match counts.get(&**name) {
        Some(1) => name.clone(),
        _ => suffixed(name, &format!("{method} {path}")),
    });
    unique.collect()
}

/// Returns a definition's name in a tool's schema, for its JSON Pointer in the document. Equal pointers have equal
/// names, and different ones have different names.
pub(super) fn definition_name(pointer: &str) -> String {
    let component = pointer.strip_prefix("/components/schemas/");
    match component {
        Some(name) if is_plain(name) && name.len() <= MAX_SEGMENT_LEN && !has_suffix(name) => name.to_owned(),
        _ => {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            suffixed(&sanitized(last), pointer)
        }
    }
}

/// Returns a plain name for any text. Different texts have different names, except where one is plain already.
#[cfg(feature = "mcp")]
pub(crate) fn plain_name(text: &str) -> String {
    let name = sanitized(text);
    if name == text && name.len() <= MAX_SEGMENT_LEN { name } else { suffixed(&name, text) }
}

fn wanted(id: Option<&str>, method: &str, path: &str) -> String {
    let sanitized_id = id.map(sanitized).filter(|name| !name.is_empty());
    let (name, full) = match (sanitized_id, id) {
        (Some(name), Some(id)) => (name, id.to_owned()),
        _ => (sanitized(&format!("{}_{path}", method.to_ascii_lowercase())), format!("{method} {path}")),
    };
    if name.len() <= MAX_SEGMENT_LEN { name } else { suffixed(&name, &full) }
}

/// Replaces every run of characters that names can't have by an underscore, and removes those at the ends.
fn sanitized(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for character in text.chars() {
        if is_allowed(character) {
            name.push(character);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let is_edge = |character: char| !character.is_ascii_alphanumeric();
    name.trim_start_matches(is_edge).trim_end_matches('_').to_owned()
}

fn suffixed(name: &str, full: &str) -> String {
    // A sanitised name is ASCII, so every index is a boundary.
    let kept = name.get(..name.len().min(MAX_SEGMENT_LEN - SUFFIX_LEN)).unwrap_or_default();
    let kept = if kept.is_empty() { "x" } else { kept };
    format!("{kept}_{:08x}", digest(full))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_allowed)
}

/// Reports whether a name looks like one with a suffix, which no plain name may equal.
fn has_suffix(name: &str) -> bool {
    let Some((_, suffix)) = name.rsplit_once('_') else { return false };
    suffix.len() == SUFFIX_LEN - 1 && suffix.chars().all(|digit| matches!(digit, '0'..='9' | 'a'..='f'))
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.')
}

/// Computes the 64-bit FNV-1a hash, folded to 32 bits. It is the same in every version and on every machine.
fn digest(text: &str) -> u32 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    u32::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or_default()
}
