//! The implementation of a tool that is data, as a digest in its descriptor.
//!
//! An approval is bound to the descriptor of a tool. The descriptor of a function does not depend on its code, but that
//! of a command or a request must change with it: otherwise an approval of one command would run another.

use haft_core::DescribedAnnotation;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::source::FileDigest;

/// The kind of a tool from a workspace file, and a digest of its settings and of the files that they name. An annotation
/// of the tool.
///
/// Names of secrets are among the settings; secrets are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ImplementationDigest {
    /// The name of the kind, such as `http`.
    pub kind: String,
    /// The digest, in hexadecimal digits.
    pub sha256: String,
}

impl DescribedAnnotation for ImplementationDigest {
    const KEY: &'static str = "haft/implementation";
}

impl ImplementationDigest {
    /// Returns the digest of the settings of an entry and of the files that its kind has read.
    pub(crate) fn new(kind: &str, settings: &Map<String, Value>, files: &[FileDigest]) -> Self {
        let files: Vec<Value> = files.iter().map(|file| file.to_string().into()).collect();
        let text = Value::from(vec![Value::Object(settings.clone()), files.into()]).to_string();
        Self { kind: kind.to_owned(), sha256: FileDigest::of(text.as_bytes()).to_string() }
    }
}
