//! The claim of one writer on a conversation.

use std::fmt;

use haft_core::{RunId, Timestamp};

/// The right to save a conversation until it expires. Only a store creates one that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The id of the conversation.
    pub conversation: String,
    /// The token that tells this claim from all others.
    pub token: ClaimToken,
    /// The time at which the claim expires, by the clock of the store.
    pub expires_at: Timestamp,
}

/// The token of a claim: no two claims have the same one, and none can be guessed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ClaimToken(RunId);

impl Claim {
    /// Creates the value that a store returns.
    #[must_use]
    pub fn new(conversation: impl Into<String>, token: ClaimToken, expires_at: Timestamp) -> Self {
        Self { conversation: conversation.into(), token, expires_at }
    }

    /// Reports whether the claim has expired.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        now >= self.expires_at
    }
}

impl ClaimToken {
    /// Creates a new token.
    #[must_use]
    pub fn random() -> Self {
        Self(RunId::random())
    }

    /// Reads a token that a store has written.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the token as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// Prints no token: whoever has it can save.
impl fmt::Debug for ClaimToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClaimToken(..)")
    }
}
