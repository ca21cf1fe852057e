//! A warning about a request that is sent as it is.

use std::borrow::Cow;
use std::fmt;

/// A request part that the model is not known to support. It is sent anyway: haft's knowledge about a model may be
/// outdated, and the provider decides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestWarning {
    /// The part's name, such as `images` or `max_output_tokens`.
    pub part: Cow<'static, str>,
    /// The doubt, for people.
    pub message: String,
}

impl RequestWarning {
    /// Creates a warning.
    #[must_use]
    pub fn new(part: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { part: part.into(), message: message.into() }
    }
}

impl fmt::Display for RequestWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, message } = self;
        write!(f, "{part}: {message}")
    }
}
