//! The client of Gemini.

use haft_http::{Secret, SecretError};
use haft_wire::GeminiContent;

use super::HttpModel;
use super::compatible::client_of_http_model;

const BASE_URL: &str = "https://generativelanguage.googleapis.com";

/// Gemini, by its `generateContent` API.
///
/// ```
/// use haft_http::Secret;
/// use haft_model::{Gemini, LanguageModel};
///
/// let model = Gemini::new(Secret::new("k-123")).model("gemini-2.5-flash");
/// assert_eq!(model.info().to_string(), "google/gemini-2.5-flash");
/// ```
#[derive(Clone, Debug)]
#[must_use = "a model does nothing until it is asked"]
pub struct Gemini {
    model: HttpModel,
}

impl Gemini {
    /// Creates a client.
    pub fn new(key: Secret) -> Self {
        // In a header: a key in the query would be part of URLs that proxies log.
        Self { model: HttpModel::new(GeminiContent::new(), BASE_URL).key_header("x-goog-api-key", key) }
    }

    /// Creates a client from the environment: `GEMINI_API_KEY`, or else `GOOGLE_API_KEY`.
    pub fn from_env() -> Result<Self, SecretError> {
        let key = Secret::from_env("GEMINI_API_KEY");
        key.or_else(|missing| Secret::from_env("GOOGLE_API_KEY").map_err(|_| missing)).map(Self::new)
    }

    /// Uses the `generateContent` API in this form.
    pub fn wire(mut self, wire: GeminiContent) -> Self {
        self.model = self.model.with_wire(wire);
        self
    }
}

client_of_http_model!(Gemini);
