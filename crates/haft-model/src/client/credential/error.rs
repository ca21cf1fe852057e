//! Errors of credentials.

/// The reason why a credential can't authorise a request. Its message must contain no secret: it is logged and stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The credential does not exist or can't be read: a variable, a file or a program is missing. Another attempt fails the
    /// same way.
    #[error("{message}")]
    Missing {
        /// The missing part, and what to do.
        message: String,
    },
    /// The token server rejected the client.
    #[error("{message}")]
    Rejected {
        /// The rejected part, and what to do.
        message: String,
    },
    /// The token server or the program did not answer in time or is out of order. A loop tries again.
    #[error("{message}")]
    Unavailable {
        /// A description of the failure.
        message: String,
    },
}
