//! The client of OpenAI, and of servers that speak its Chat Completions API.

use std::borrow::Cow;
use std::env;

use haft_http::{Secret, SecretError};
use haft_wire::{OpenAiChat, OpenAiResponses};

use super::HttpModel;
use super::compatible::client_of_http_model;
use super::key::{Lookup, key, setting};

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
}

impl OpenAi {
    /// Creates a client of the Responses API.
    pub fn new(key: Secret) -> Self {
        Self { model: HttpModel::new(OpenAiResponses::new(), BASE_URL).bearer(key) }
    }

    /// Creates a client from the environment: `OPENAI_API_KEY`, and if they are set `OPENAI_BASE_URL`, `OPENAI_ORG_ID`
    /// and `OPENAI_PROJECT_ID`.
    pub fn from_env() -> Result<Self, SecretError> {
        Self::from_lookup(&|variable| env::var(variable))
    }

    fn from_lookup(lookup: &Lookup<'_>) -> Result<Self, SecretError> {
        let mut client = Self::new(key(lookup, "OPENAI_API_KEY")?);
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
    pub fn compatible(provider: impl Into<Cow<'static, str>>, base_url: impl Into<String>) -> Self {
        Self { model: HttpModel::new(OpenAiChat::compatible(provider), base_url) }
    }

    /// Sets the key.
    pub fn key(mut self, key: Secret) -> Self {
        self.model = self.model.bearer(key);
        self
    }

    /// Uses the Chat Completions API.
    pub fn chat(self) -> Self {
        self.chat_wire(OpenAiChat::new())
    }

    /// Uses the Chat Completions API in this form.
    pub fn chat_wire(mut self, wire: OpenAiChat) -> Self {
        self.model = self.model.with_wire(wire);
        self
    }

    /// Uses the Responses API in this form.
    pub fn responses_wire(mut self, wire: OpenAiResponses) -> Self {
        self.model = self.model.with_wire(wire);
        self
    }
}

client_of_http_model!(OpenAi);
