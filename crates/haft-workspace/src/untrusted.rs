//! The mark on an untrusted file's claims about its tools.

use std::path::Path;
use std::sync::Arc;

use haft_core::Annotation;

/// A mark on tools from an untrusted workspace file: their descriptions and hints are an unknown author's claims. If
/// you ask a person to approve a call, show it. Descriptors do not contain it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntrustedAuthor {
    /// The file's path.
    pub path: Arc<Path>,
}

impl UntrustedAuthor {
    /// Creates the mark for this file's tools.
    #[must_use]
    pub fn new(path: impl Into<Arc<Path>>) -> Self {
        Self { path: path.into() }
    }
}

impl Annotation for UntrustedAuthor {}
