//! The client of OpenAI, and of servers that speak its Chat Completions API.

use std::borrow::Cow;
use std::env;

use haft_http::SecretError;
use haft_wire::{ChatQuirks, OpenAiChat, OpenAiResponses};

use super::HttpModel;
use super::compatible::client_of_http_model;
use super::credential::ApiKey;
use super::key::{VariableLookup, key, setting};

/// The variable with the key.
pub(super) const KEY_VARIABLE: &str = "OPENAI_API_KEY";
const BASE_URL: &str = "https://api.openai.com/v1";
/// The headers that environment variables set.
const ENV_HEADERS: [(&str, &str); 2] =
    [("OPENAI_ORG_ID", "OpenAI-Organization"), ("OPENAI_PROJECT_ID", "OpenAI-Project")];

/// OpenAI, by its Responses API or its Chat Completions API.
///
/// ```
/// use haft_http::Secret;
/// use haft_model::{LanguageModel, OpenAi};
///
/// let model = OpenAi::new(Secret::new("sk-123")).model("gpt-5");
/// assert_eq!(model.info().to_string(), "openai/gpt-5");
/// assert!(!format!("{model:?}").contains("sk-123"));
///
/// let local = OpenAi::compatible("ollama", "http://localhost:11434/v1").model("llama3.3");
/// assert_eq!(local.info().to_string(), "ollama/llama3.3");
/// ```
#[derive(Clone, Debug)]
#[must_use = "a model does nothing until it is asked"]
pub struct OpenAi {
    model: HttpModel,
    /// The form of the Chat Completions API, if it is not that of OpenAI.
    chat: Option<OpenAiChat>,
}

impl OpenAi {
    /// Creates a client of the Responses API. The key is a [`Secret`](haft_http::Secret), or an [`ApiKey`] that changes.
    pub fn new(key: impl Into<ApiKey>) -> Self {
        Self { model: HttpModel::new(OpenAiResponses::new(), BASE_URL).bearer(key), chat: None }
    }

    /// Creates a client of a resource of Azure `OpenAI`, by its `v1` API: `https://NAME.openai.azure.com`. The models of
    /// requests are the names of deployments. A [`Secret`](haft_http::Secret) is sent as the resource's API key, tokens such as
    /// those of [`EntraToken`](crate::EntraToken) as bearer tokens.
    ///
    /// ```
    /// use haft_http::Secret;
    /// use haft_model::OpenAi;
    ///
    /// let model = OpenAi::azure("https://my-resource.openai.azure.com", Secret::new("k-123")).model("my-deployment");
    /// # drop(model);
    /// ```
    pub fn azure(endpoint: impl AsRef<str>, key: impl Into<ApiKey>) -> Self {
        let key = key.into();
        let (endpoint, query) = endpoint.as_ref().split_once('?').unwrap_or((endpoint.as_ref(), ""));
        let separator = if query.is_empty() { "" } else { "?" };
        let url = format!("{}/openai/v1{separator}{query}", endpoint.trim_end_matches('/'));
        let model = HttpModel::new(OpenAiResponses::new(), url);
        let model = if key.is_fixed() { model.key_header("api-key", key) } else { model.bearer(key) };
        Self { model, chat: None }
    }

    /// Creates a client from the environment: `OPENAI_API_KEY`, and if they are set `OPENAI_BASE_URL`, `OPENAI_ORG_ID`
    /// and `OPENAI_PROJECT_ID`.
    pub fn from_env() -> Result<Self, SecretError> {
        Self::from_lookup(&|variable| env::var(variable))
    }

    fn from_lookup(lookup: &VariableLookup<'_>) -> Result<Self, SecretError> {
        let mut client = Self::new(key(lookup, KEY_VARIABLE)?);
        if let Some(url) = setting(lookup, "OPENAI_BASE_URL") {
            client = client.base_url(url);
        }
        for (variable, header) in ENV_HEADERS {
            if let Some(value) = setting(lookup, variable) {
                client = client.header(header, value);
            }
        }
        Ok(client)
    }

    /// Creates a client of a server that speaks the Chat Completions API, such as Ollama, vLLM, llama.cpp, `OpenRouter` or
    /// Mistral. The provider is the name under which its options are given and its data is kept. A server that demands a
    /// key gets it with [`key`](Self::key).
    ///
    /// Deviations of the server are found by the host of the URL, else by the provider's name: see
    /// [`ChatQuirks`]. Change it with [`chat_wire`](Self::chat_wire).
    pub fn compatible(provider: impl Into<Cow<'static, str>>, base_url: impl Into<String>) -> Self {
        let base_url = base_url.into();
        let mut wire = OpenAiChat::compatible(provider);
        if let Some(quirks) = ChatQuirks::at_url(&base_url) {
            wire = wire.quirks(quirks);
        }
        Self { model: HttpModel::new(wire.clone(), base_url), chat: Some(wire) }
    }

    /// Sets the key.
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.model = self.model.bearer(key);
        self
    }

    /// Uses the Chat Completions API. The provider of a [`compatible`](Self::compatible) client and the form that was set
    /// with [`chat_wire`](Self::chat_wire) are kept.
    pub fn chat(mut self) -> Self {
        let wire = self.chat.clone().unwrap_or_default();
        self.model = self.model.with_wire(wire);
        self
    }

    /// Uses the Chat Completions API in this form.
    pub fn chat_wire(mut self, wire: OpenAiChat) -> Self {
        self.chat = Some(wire.clone());
        self.model = self.model.with_wire(wire);
        self
    }

    /// Uses the Responses API in this form.
    pub fn responses_wire(mut self, wire: OpenAiResponses) -> Self {
        self.model = self.model.with_wire(wire);
        self
    }
}

client_of_http_model!(
    OpenAi,
    "Sets the base URL, in place of `https://api.openai.com/v1`. It includes the version, usually `/v1`: \
     `/responses` or `/chat/completions` is added to its path."
);

#[cfg(test)]
mod tests {
    use std::env::VarError;

    use haft_core::{Item, TurnRequest};
    use haft_wire::{Delivery, Wire};

    use super::*;
    use crate::client::key::Key;

    /// A lookup of these variables.
    fn among<'v>(set: &'v [(&'v str, &'v str)]) -> impl Fn(&str) -> Result<String, VarError> + 'v {
        |name| {
            let found = set.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned()).ok_or(VarError::NotPresent)
        }
    }

    #[test]
    fn the_quirks_of_a_server_follow_from_its_url_and_else_from_its_name() {
        let request = TurnRequest::new("m", vec![Item::user("hi")]);
        for (provider, url, asks_for_usage) in [
            ("gateway", "https://api.mistral.ai/v1", false),
            ("mistral", "http://localhost:8080/v1", false),
            ("mistral", "https://openrouter.ai/api/v1", true),
            ("gateway", "http://localhost:8080/v1", true),
        ] {
            let wire = OpenAi::compatible(provider, url).chat.unwrap();
            let body = wire.request(&request, Delivery::Streamed).unwrap().body;
            assert_eq!(body.contains("stream_options"), asks_for_usage, "{provider} {url}");
        }
    }

    #[test]
    fn the_environment_sets_key_url_and_headers() {
        let set = [("OPENAI_API_KEY", " sk-1\n"), ("OPENAI_BASE_URL", "http://a/v1"), ("OPENAI_PROJECT_ID", "p")];
        let client = OpenAi::from_lookup(&among(&set)).unwrap();
        assert_eq!(client.model.base_url, "http://a/v1");
        assert_eq!(client.model.headers, [("OpenAI-Project".into(), "p".to_owned())]);
        assert!(matches!(&client.model.key, Key::Bearer(key) if key.fixed() == "sk-1"));
    }

    #[test]
    fn empty_settings_are_not_set() {
        let set = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", ""), ("OPENAI_ORG_ID", " ")];
        let client = OpenAi::from_lookup(&among(&set)).unwrap();
        assert_eq!((client.model.base_url.as_str(), client.model.headers.len()), (BASE_URL, 0));
    }

    #[test]
    fn a_missing_or_empty_key_is_a_clear_error() {
        let missing = OpenAi::from_lookup(&among(&[])).unwrap_err().to_string();
        assert_eq!(missing, "the environment variable `OPENAI_API_KEY` is not set; set it to the API key");
        let empty = OpenAi::from_lookup(&among(&[("OPENAI_API_KEY", " \n")])).unwrap_err().to_string();
        assert_eq!(empty, "the environment variable `OPENAI_API_KEY` is empty; set it to the API key");
        let unreadable = OpenAi::from_lookup(&|_| Err(VarError::NotUnicode("sk-1".into()))).unwrap_err();
        assert!(unreadable.to_string().contains("not valid Unicode") && !format!("{unreadable:?}").contains("sk-1"));
    }
}
