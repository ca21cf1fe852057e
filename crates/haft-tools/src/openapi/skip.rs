//! Operations that were not imported, each with a reason.

use std::fmt;

/// An operation that was not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The operation, such as `GET /pets/{id}`.
    pub operation: String,
    /// The reason.
    pub reason: SkipReason,
}

/// The reason why an operation was not imported, with advice. [`code`](Self::code) is the stable form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// A reference leads to nothing in the document.
    #[error("the reference `{reference}` leads to nothing in the document; add its target")]
    UnresolvedRef {
        /// The reference.
        reference: String,
    },
    /// A reference leads to another document.
    #[error("the reference `{reference}` leads out of the document; bundle the documents into one")]
    ExternalRef {
        /// The reference.
        reference: String,
    },
    /// References lead to each other and never to a value.
    #[error("the reference `{reference}` leads back to itself; replace it by its target")]
    CyclicRef {
        /// The reference.
        reference: String,
    },
    /// A part of the operation is not what OpenAPI defines.
    #[error("{part} is malformed; {expected}")]
    InvalidOperation {
        /// The operation's part.
        part: String,
        /// The form that it must have.
        expected: &'static str,
    },
    /// The path is malformed.
    #[error("the path is malformed: {fault}")]
    InvalidPath {
        /// The fault.
        fault: &'static str,
    },
    /// The method can't be sent.
    #[error("requests with the method `{method}` are not supported")]
    UnsupportedMethod {
        /// The method.
        method: String,
    },
    /// There is no server with an absolute URL.
    #[error("no server has a usable URL ({fault}); set a base URL")]
    NoServer {
        /// The fault in the last server that was examined.
        fault: String,
    },
    /// The request body has a media type that tools can't send.
    #[error("the request body must be one of {media_types}, which tools can't send")]
    UnsupportedBody {
        /// The media types.
        media_types: String,
    },
    /// A parameter is serialized in a way that tools can't reproduce.
    #[error("the parameter `{parameter}` can't be sent: {fault}")]
    UnsupportedParameter {
        /// The name of the parameter.
        parameter: String,
        /// The reason.
        fault: String,
    },
    /// Every way to authenticate requires an unsupported scheme.
    #[error("the security scheme `{scheme}` is not supported: {fault}")]
    UnsupportedSecurity {
        /// The name of the scheme.
        scheme: String,
        /// The reason.
        fault: String,
    },
    /// The argument schema is invalid.
    #[error("the schema of the arguments is invalid: {fault}")]
    InvalidSchema {
        /// The faults.
        fault: String,
    },
    /// The argument schema is too large for a model.
    #[error("the schema of the arguments is larger than {limit} bytes; raise the limit, or call a smaller operation")]
    SchemaTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The argument schema nests too deep.
    #[error("the schema of the arguments nests too deeply; use references")]
    SchemaTooDeep,
    /// The schemas of earlier operations already use up an import's maximum size.
    #[error("the schemas of one import are larger than {limit} bytes together; import fewer operations")]
    ImportTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// Another operation has the same name.
    #[error("another operation has the name `{name}` as well; give each an `operationId` of its own")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The tool is invalid for another reason.
    #[error("the tool can't be built: {fault}")]
    InvalidTool {
        /// The faults.
        fault: String,
    },
}

impl SkipReason {
    /// Returns this reason's stable code, such as `unresolved_ref`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnresolvedRef { .. } => "unresolved_ref",
            Self::ExternalRef { .. } => "external_ref",
            Self::CyclicRef { .. } => "cyclic_ref",
            Self::InvalidOperation { .. } => "invalid_operation",
            Self::InvalidPath { .. } => "invalid_path",
            Self::UnsupportedMethod { .. } => "unsupported_method",
            Self::NoServer { .. } => "no_server",
            Self::UnsupportedBody { .. } => "unsupported_body",
            Self::UnsupportedParameter { .. } => "unsupported_parameter",
            Self::UnsupportedSecurity { .. } => "unsupported_security",
            Self::InvalidSchema { .. } => "invalid_schema",
            Self::SchemaTooLarge { .. } => "schema_too_large",
            Self::SchemaTooDeep => "schema_too_deep",
            Self::ImportTooLarge { .. } => "import_too_large",
            Self::Duplicate { .. } => "duplicate",
            Self::InvalidTool { .. } => "invalid_tool",
        }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was not imported ({}): {}", self.operation, self.reason.code(), self.reason)
    }
}
