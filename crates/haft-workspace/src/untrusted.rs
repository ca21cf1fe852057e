//! The mark on what an untrusted file says about its tools.

use std::path::Path;
use std::sync::Arc;

use haft_core::Annotation;

/// A mark on the tools of a workspace file that is not trusted: their descriptions and hints are claims of somebody
/// unknown. Whoever asks a person to approve a call should show it. Descriptors do not contain it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntrustedAuthor {
    /// The path of the file.
    pub path: Arc<Path>,
}

impl UntrustedAuthor {
    /// Creates the mark for tools of this file.
    #[must_use]
    pub fn new(path: impl Into<Arc<Path>>) -> Self {
        Self { path: path.into() }
    }
}

impl Annotation for UntrustedAuthor {}
