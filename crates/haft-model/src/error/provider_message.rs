//! The message of a provider, and the response that it was read from.

use std::borrow::Cow;
use std::fmt;

/// The message of a provider about a failed request, with what identifies the response: the provider, the HTTP status
/// and the id of the request, as far as they are known.
///
/// Errors are logged and stored, so a message must not contain credentials: a client leaves out headers and the query
/// of its URL.
///
/// ```
/// use haft_model::{ModelError, ProviderMessage};
///
/// let message = ProviderMessage::new("slow down").provider("openai").status(429).request_id("req_1");
/// let error = ModelError::RateLimited { message, retry_after: None };
/// assert_eq!((error.provider(), error.status(), error.request_id()), (Some("openai"), Some(429), Some("req_1")));
/// assert_eq!(
///     error.to_string(),
///     "the provider limits the request rate: slow down (openai, status 429, request req_1)"
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderMessage {
    text: String,
    /// Absent if nothing is known.
    origin: Option<Box<ResponseOrigin>>,
}

/// The response that a message was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ResponseOrigin {
    provider: Option<Cow<'static, str>>,
    status: Option<u16>,
    request_id: Option<String>,
    should_retry: Option<bool>,
}

impl ProviderMessage {
    /// Creates a message.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), origin: None }
    }

    /// Sets the provider, named as in [`ModelInfo`](crate::ModelInfo).
    #[must_use]
    pub fn provider(mut self, provider: impl Into<Cow<'static, str>>) -> Self {
        self.origin.get_or_insert_default().provider = Some(provider.into());
        self
    }

    /// Sets the HTTP status of the response.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.origin.get_or_insert_default().status = Some(status);
        self
    }

    /// Sets the provider's id of the request, which its support asks for.
    #[must_use]
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.origin.get_or_insert_default().request_id = Some(id.into());
        self
    }

    /// Sets the provider's statement about a retry, in the header `x-should-retry`. It decides, whatever the cause is:
    /// see [`ModelError::retryable`](crate::ModelError::retryable).
    #[must_use]
    pub fn should_retry(mut self, should_retry: bool) -> Self {
        self.origin.get_or_insert_default().should_retry = Some(should_retry);
        self
    }

    /// Returns the text alone.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn provider_name(&self) -> Option<&str> {
        self.origin.as_ref()?.provider.as_deref()
    }

    pub(super) fn response_status(&self) -> Option<u16> {
        self.origin.as_ref()?.status
    }

    pub(super) fn id_of_request(&self) -> Option<&str> {
        self.origin.as_ref()?.request_id.as_deref()
    }

    pub(super) fn stated_retry(&self) -> Option<bool> {
        self.origin.as_ref()?.should_retry
    }
}

impl From<&str> for ProviderMessage {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for ProviderMessage {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Writes the text, followed by what is known about the response in parentheses.
impl fmt::Display for ProviderMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        let Some(origin) = &self.origin else { return Ok(()) };
        let ResponseOrigin { provider, status, request_id, should_retry: _ } = &**origin;
        let status = status.map(|status| format!("status {status}"));
        let request_id = request_id.as_ref().map(|id| format!("request {id}"));
        let known = [provider.as_deref(), status.as_deref(), request_id.as_deref()];
        let known: Vec<&str> = known.into_iter().flatten().collect();
        if known.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", known.join(", "))
    }
}

/// Writes what `Display` writes, quoted.
impl fmt::Debug for ProviderMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ModelError;

    #[test]
    fn what_is_known_about_the_response_follows_the_text() {
        let plain = ProviderMessage::from("no");
        let table = [
            (plain.clone(), "no"),
            (plain.clone().should_retry(true), "no"),
            (plain.clone().status(500), "no (status 500)"),
            (plain.clone().request_id("r"), "no (request r)"),
            (plain.provider("anthropic").request_id("r").status(529), "no (anthropic, status 529, request r)"),
        ];
        for (message, written) in table {
            assert_eq!(message.to_string(), written);
            assert_eq!(format!("{message:?}"), format!("{written:?}"));
            assert_eq!(message.text(), "no");
        }
    }

    #[test]
    fn errors_without_a_response_know_nothing_about_one() {
        for error in
            [ModelError::IncompleteTurn, ModelError::Cancelled, ModelError::Authentication { message: "no".into() }]
        {
            assert_eq!((error.provider(), error.status(), error.request_id()), (None, None, None));
        }
    }
}
