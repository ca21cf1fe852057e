//! An input that breaks a promise: minimised, and saved.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::trial::Panic;

/// The maximum number of tries to minimise it. The result is smaller, and not necessarily the smallest.
const MOST_TRIES: usize = 4_000;

/// A failing input and its fault.
#[derive(Debug)]
pub(crate) struct Finding {
    input: Vec<u8>,
    message: String,
}

impl Finding {
    /// Creates a finding from an input that makes a target panic, and minimises it as long as `still_fails` holds.
    pub(crate) fn panic(input: &[u8], panic: &Panic, still_fails: impl FnMut(&[u8]) -> bool) -> Self {
        Self { input: shrink(input, still_fails), message: panic.to_string() }
    }

    /// Creates a finding from an input on which a target hangs. It is not minimised: each try would take as long
    /// again.
    pub(crate) fn hang(input: Vec<u8>) -> Self {
        Self { input, message: "the input does not end".to_owned() }
    }

    pub(crate) fn input(&self) -> &[u8] {
        &self.input
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns the beginning of the input, readable.
    pub(crate) fn excerpt(&self) -> String {
        let start = &self.input[..self.input.len().min(200)];
        start.escape_ascii().to_string()
    }

    /// Writes the input into the folder, named by its content.
    pub(crate) fn save(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        self.input.hash(&mut hasher);
        let file = folder.join(format!("{:016x}.bin", hasher.finish()));
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        fs::write(&file, &self.input).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }
}

/// Removes pieces, large ones first, as long as the rest still fails; rounds follow until one removes nothing.
fn shrink(input: &[u8], mut still_fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut smallest = input.to_vec();
    let mut tries = 0;
    loop {
        let before = smallest.len();
        let mut piece = smallest.len();
        while piece > 0 && tries < MOST_TRIES {
            let mut at = 0;
            while at + piece <= smallest.len() && tries < MOST_TRIES {
                let candidate = [&smallest[..at], &smallest[at + piece..]].concat();
                tries += 1;
                if still_fails(&candidate) {
                    smallest = candidate;
                } else {
                    at += (piece / 8).max(1);
                }
            }
            // Small pieces are tried in every size: a member of an object is rarely a power of two.
            piece = (piece - (piece / 8).max(1)).min(smallest.len());
        }
        if smallest.len() == before || tries >= MOST_TRIES {
            return smallest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Finding, shrink};

    #[test]
    fn irrelevant_bytes_are_removed() {
        let has_ab = |bytes: &[u8]| bytes.contains(&b'a') && bytes.contains(&b'b');
        assert_eq!(shrink(b"xxxxaxxxxxxxbxxxxxxxxxxxxx", has_ab), b"ab");
        assert_eq!(shrink(b"", |_| true), b"");
        assert_eq!(shrink(b"all of it", |bytes| bytes == b"all of it"), b"all of it");
    }

    #[test]
    fn a_saved_finding_is_the_input_byte_for_byte() {
        let folder = std::env::temp_dir().join(format!("haft-fuzz-{}", std::process::id()));
        let finding = Finding::hang(vec![0, 255, b'x']);
        let file = finding.save(&folder).unwrap();
        assert_eq!(std::fs::read(file).unwrap(), [0, 255, b'x']);
        assert_eq!(finding.excerpt(), r"\x00\xffx");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
