//! The client of Anthropic.

use std::env;

use haft_http::SecretError;
use haft_wire::AnthropicMessages;

use super::HttpModel;
use super::compatible::client_of_http_model;
use super::credential::ApiKey;
use super::key::{VariableLookup, key, setting};

/// The variable with the key.
pub(super) const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";
const BASE_URL: &str = "https://api.anthropic.com";
/// The version of the API, which every request states.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Anthropic, by its Messages API.
///
/// ```
/// use haft_http::Secret;
/// use haft_model::{Anthropic, LanguageModel};
///
/// let model = Anthropic::new(Secret::new("sk-ant-123")).model("claude-sonnet-4-5");
/// assert_eq!(model.info().to_string(), "anthropic/claude-sonnet-4-5");
/// ```
#[derive(Clone, Debug)]
#[must_use = "a model does nothing until it is asked"]
pub struct Anthropic {
    model: HttpModel,
}

impl Anthropic {
    /// Creates a client. The key is a [`Secret`](haft_http::Secret), or an [`ApiKey`] that changes.
    pub fn new(key: impl Into<ApiKey>) -> Self {
        let (name, version) = VERSION;
        let model = HttpModel::new(AnthropicMessages::new(), BASE_URL);
        Self { model: model.key_header("x-api-key", key).header(name, version) }
    }

    /// Creates a client from the environment: `ANTHROPIC_API_KEY`, and `ANTHROPIC_BASE_URL` if it is set.
    pub fn from_env() -> Result<Self, SecretError> {
        Self::from_lookup(&|variable| env::var(variable))
    }

    fn from_lookup(lookup: &VariableLookup<'_>) -> Result<Self, SecretError> {
        let client = Self::new(key(lookup, KEY_VARIABLE)?);
        Ok(match setting(lookup, "ANTHROPIC_BASE_URL") {
            Some(url) => client.base_url(url),
            None => client,
        })
    }

    /// Uses the Messages API in this form.
    pub fn wire(mut self, wire: AnthropicMessages) -> Self {
        self.model = self.model.with_wire(wire);
        self
    }
}

client_of_http_model!(
    Anthropic,
    "Sets the base URL, in place of `https://api.anthropic.com`. It does not include the version: `/v1/messages` is \
     added to its path."
);

#[cfg(test)]
mod tests {
    use std::env::VarError;

    use super::*;
    use crate::client::key::Key;

    #[test]
    fn the_environment_sets_key_and_url() {
        let both = |name: &str| Ok(if name == "ANTHROPIC_API_KEY" { "k" } else { "http://a" }.to_owned());
        let client = Anthropic::from_lookup(&both).unwrap();
        assert_eq!(client.model.base_url, "http://a");
        assert!(matches!(&client.model.key, Key::Header("x-api-key", key) if key.fixed() == "k"));
        let empty_url = |name: &str| Ok(if name == "ANTHROPIC_API_KEY" { "k" } else { "" }.to_owned());
        assert_eq!(Anthropic::from_lookup(&empty_url).unwrap().model.base_url, BASE_URL);
        let missing = Anthropic::from_lookup(&|_| Err(VarError::NotPresent)).unwrap_err().to_string();
        assert_eq!(missing, "the environment variable `ANTHROPIC_API_KEY` is not set; set it to the API key");
    }
}
