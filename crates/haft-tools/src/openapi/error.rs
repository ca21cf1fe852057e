//! Errors that concern a whole document.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::document::{MAX_BYTES, MAX_DEPTH};

/// A document that can't be imported at all.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenApiError {
    /// The file can't be read.
    #[error("the document `{}` can't be read: {source}", .path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        source: Arc<io::Error>,
    },
    /// The text is larger than any document may be.
    #[error("the document is larger than {MAX_BYTES} bytes; split it")]
    TooLarge,
    /// The text is not JSON.
    #[error("the document is not valid JSON: {0}")]
    Json(Arc<serde_json::Error>),
    /// The text is not YAML, or it expands to far more than was written.
    #[error("the document is not valid YAML: {0}")]
    Yaml(String),
    /// The value nests too deeply.
    #[error("the document nests deeper than {MAX_DEPTH} levels; use references")]
    TooDeep,
    /// The value is not an object.
    #[error("an OpenAPI document must be an object")]
    NotAnObject,
    /// There is no version, or an unsupported one.
    #[error("the document has {found}; versions 3.0 and 3.1 are supported, so convert it")]
    Version {
        /// The version, as the document names it.
        found: String,
    },
    /// The document has no operations.
    #[error("the document has no `paths`, so it describes no operations")]
    NoPaths,
}

impl OpenApiError {
    /// Returns this error's stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::TooLarge => "document_too_large",
            Self::Json(_) => "json",
            Self::Yaml(_) => "yaml",
            Self::TooDeep => "document_too_deep",
            Self::NotAnObject => "not_an_object",
            Self::Version { .. } => "unsupported_version",
            Self::NoPaths => "no_paths",
        }
    }
}
