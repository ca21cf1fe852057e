//! Errors of a store, by cause.

use haft_core::Timestamp;
use haft_executor::BoxError;

/// The reason why a store did not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another claim on the conversation is valid.
    #[error("the conversation is in use by another request, at most until {} ms after the Unix epoch; try again later", .until.unix_millis())]
    Busy {
        /// The time at which the claim expires unless it is renewed.
        until: Timestamp,
    },
    /// The claim is not the current one, or has expired.
    #[error("the claim on the conversation is lost: it was released, has expired, or was followed by another one")]
    ClaimLost,
    /// The conversation was saved since it was loaded.
    #[error("the conversation has changed: it has the version {found} instead of {expected}; load it again")]
    Changed {
        /// The version that the save named.
        expected: u64,
        /// The version of the conversation.
        found: u64,
    },
    /// The stored conversation can't be read. Nothing was changed.
    #[error("the stored conversation can't be read: {place}: {reason}; restore it from a backup, or remove it")]
    Damaged {
        /// The place, such as a path.
        place: String,
        /// The damage.
        reason: String,
        /// The error of reading it, if there is one.
        #[source]
        source: Option<BoxError>,
    },
    /// The conversation was stored by a newer version. Nothing was changed.
    #[error("the stored conversation was written by a newer version ({found}): {place}; this one reads up to {known}")]
    Newer {
        /// The place, such as a path.
        place: String,
        /// The version that was found.
        found: u64,
        /// The newest version that can be read.
        known: u64,
    },
    /// The store itself failed: the disk is full, the database is not available.
    #[error("the store failed: can't {action}: {source}")]
    Failed {
        /// The action that failed, such as `write /var/chats/a.json`.
        action: String,
        /// The error.
        source: BoxError,
    },
}

impl StoreError {
    /// Creates the error of an action that failed.
    pub fn failed(action: impl Into<String>, source: impl Into<BoxError>) -> Self {
        Self::Failed { action: action.into(), source: source.into() }
    }

    /// Creates the error of a conversation that can't be read.
    pub fn damaged(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Damaged { place: place.into(), reason: reason.into(), source: None }
    }

    /// Returns the cause as a word, for logs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "busy",
            Self::ClaimLost => "claim_lost",
            Self::Changed { .. } => "changed",
            Self::Damaged { .. } => "damaged",
            Self::Newer { .. } => "newer",
            Self::Failed { .. } => "failed",
        }
    }
}
