//! The folders of the installed parts.

use std::path::{Path, PathBuf};

/// Returns the folder of an installed part: under `HAFT_PARTS`, else under `target/parts`.
///
/// # Panics
///
/// Panics with advice if the part is not installed.
#[must_use]
pub fn folder(part: &str) -> PathBuf {
    let root = std::env::var_os("HAFT_PARTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/parts"), PathBuf::from);
    let folder = root.join(part);
    assert!(folder.is_dir(), "{} is missing: run `cargo xtask setup`", folder.display());
    folder
}
