//! The client of Gemini.

use std::env;

use haft_http::SecretError;
use haft_wire::GeminiContent;

use super::HttpModel;
use super::compatible::client_of_http_model;
use super::credential::ApiKey;
use super::key::{VariableLookup, either_key, setting};

const BASE_URL: &str = "https://generativelanguage.googleapis.com";
/// The variables with the key. The first one that has one wins.
pub(super) const KEY_VARIABLES: [&str; 2] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];

/// Gemini, by its `generateContent` API.
///
/// ```
/// use haft_http::Secret;
/// use haft_model::{Gemini, LanguageModel};
///
/// let model = Gemini::new(Secret::new("k-123")).model("gemini-2.5-flash");
/// assert_eq!(model.info().to_string(), "gcp.gemini/gemini-2.5-flash");
/// ```
#[derive(Clone, Debug)]
#[must_use = "a model does nothing until it is asked"]
pub struct Gemini {
    model: HttpModel,
}

/// A project of Google Cloud and the location of its models, for [`Gemini::vertex`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a location does nothing until it is given to a client"]
pub struct Vertex {
    project: String,
    location: String,
    version: String,
}

impl Vertex {
    /// Creates a location of a project, such as `europe-west4` or `global`. The version of the API is `v1`.
    pub fn new(project: impl Into<String>, location: impl Into<String>) -> Self {
        Self { project: project.into(), location: location.into(), version: "v1".to_owned() }
    }

    /// Sets the version of the API: `v1beta1` has what is not released yet.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }
}

impl Gemini {
    /// Creates a client. The key is a [`Secret`](haft_http::Secret), or an [`ApiKey`] that changes.
    pub fn new(key: impl Into<ApiKey>) -> Self {
        // In a header: a key in the query would be part of URLs that proxies log.
        Self { model: HttpModel::new(GeminiContent::new(), BASE_URL).key_header("x-goog-api-key", key) }
    }

    /// Creates a client of Vertex AI. The key is sent as a bearer token: those of `GoogleToken` (feature `google-adc`), or
    /// what `gcloud auth print-access-token` [prints](ApiKey::command).
    ///
    /// ```
    /// use haft_model::{ApiKey, Gemini, Vertex};
    ///
    /// let vertex = Vertex::new("my-project", "europe-west4").version("v1beta1");
    /// let key = ApiKey::command(["gcloud", "auth", "print-access-token"]);
    /// let model = Gemini::vertex(&vertex, key).model("gemini-2.5-flash");
    /// # drop(model);
    /// ```
    pub fn vertex(vertex: &Vertex, key: impl Into<ApiKey>) -> Self {
        let Vertex { project, location, version } = vertex;
        let wire = GeminiContent::new().without_call_ids().vertex(project, location, version);
        let host = match location.as_str() {
            "global" => "aiplatform.googleapis.com".to_owned(),
            region => format!("{region}-aiplatform.googleapis.com"),
        };
        Self { model: HttpModel::new(wire, format!("https://{host}")).bearer(key) }
    }

    /// Creates a client from the environment: `GEMINI_API_KEY`, or else `GOOGLE_API_KEY`, and `GOOGLE_GEMINI_BASE_URL` if
    /// it is set. The error names the variable that can't be used, or both if neither is set.
    pub fn from_env() -> Result<Self, SecretError> {
        Self::from_lookup(&|variable| env::var(variable))
    }

    fn from_lookup(lookup: &VariableLookup<'_>) -> Result<Self, SecretError> {
        let client = Self::new(either_key(lookup, KEY_VARIABLES)?);
        Ok(match setting(lookup, "GOOGLE_GEMINI_BASE_URL") {
            Some(url) => client.base_url(url),
            None => client,
        })
    }

    /// Uses the `generateContent` API in this form.
    pub fn wire(mut self, wire: GeminiContent) -> Self {
        self.model = self.model.with_wire(wire);
        self
    }
}

client_of_http_model!(
    Gemini,
    "Sets the base URL, in place of `https://generativelanguage.googleapis.com`. It does not include the version: \
     `/v1beta/models/…` is added to its path."
);

#[cfg(test)]
mod tests {
    use std::env::VarError;

    use super::*;
    use crate::client::key::Key;

    fn key_of(gemini: Option<&str>, google: Option<&str>) -> Result<String, SecretError> {
        let client = Gemini::from_lookup(&|name| {
            let value = match name {
                "GEMINI_API_KEY" => gemini,
                "GOOGLE_API_KEY" => google,
                _ => None,
            };
            value.map(str::to_owned).ok_or(VarError::NotPresent)
        })?;
        assert_eq!(client.model.base_url, BASE_URL);
        let Key::Header("x-goog-api-key", key) = &client.model.key else { panic!("another header") };
        Ok(key.fixed().to_owned())
    }

    #[test]
    fn either_variable_sets_the_key() {
        assert_eq!(key_of(Some("a"), Some("b")).unwrap(), "a");
        assert_eq!(key_of(None, Some("b")).unwrap(), "b");
        assert_eq!(key_of(Some(" "), Some("b")).unwrap(), "b");
    }

    #[test]
    fn the_error_names_both_variables_or_the_one_that_is_empty() {
        let error = |gemini, google| key_of(gemini, google).unwrap_err().to_string();
        let neither = "none of the environment variables `GEMINI_API_KEY`, `GOOGLE_API_KEY` is set; set one of them to \
                       the API key";
        assert_eq!(error(None, None), neither);
        let empty = |name: &str| format!("the environment variable `{name}` is empty; set it to the API key");
        assert_eq!(error(Some(""), None), empty("GEMINI_API_KEY"));
        assert_eq!(error(None, Some(" ")), empty("GOOGLE_API_KEY"));
        assert_eq!(error(Some(""), Some("")), empty("GEMINI_API_KEY"));
    }
}
