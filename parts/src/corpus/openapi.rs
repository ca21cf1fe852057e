//! Real OpenAPI documents, as JSON.

use std::fs;
use std::path::{Path, PathBuf};

use crate::folder;

/// A document of the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApiDocument {
    /// The path in the directory, such as `gitea.io.json`. It begins with the name of the provider.
    pub path: String,
    /// The document.
    pub text: String,
}

impl OpenApiDocument {
    /// Returns the name of the provider, which is the host that the document is from.
    #[must_use]
    pub fn provider(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".json").unwrap_or(first)
    }
}

/// Returns the documents, in the order of their paths.
///
/// # Panics
///
/// Panics with advice if the part is not installed.
#[must_use]
pub fn openapi() -> Vec<OpenApiDocument> {
    documents("openapi")
}

/// Returns ten large documents, in the order of their paths.
///
/// # Panics
///
/// Panics with advice if the part is not installed.
#[must_use]
pub fn large_openapi() -> Vec<OpenApiDocument> {
    documents("openapi-large")
}

fn documents(part: &str) -> Vec<OpenApiDocument> {
    let root = folder(part);
    let mut folders = vec![root.clone()];
    let mut paths = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    let read =
        |path: &PathBuf| OpenApiDocument { path: relative(&root, path), text: fs::read_to_string(path).unwrap() };
    let mut documents: Vec<_> = paths.iter().map(read).collect();
    documents.sort_by(|one, other| one.path.cmp(&other.path));
    documents
}

fn relative(root: &Path, path: &Path) -> String {
    let names = path.strip_prefix(root).unwrap().components();
    names.map(|name| name.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
