//! Clients by the name of their wire.

use std::env;

use haft_http::{Secret, SecretError};
use haft_wire::KnownWire;

use super::key::setting;
use super::{Anthropic, Gemini, HttpModel, OpenAi, anthropic, gemini, openai};

impl HttpModel {
    /// Creates the client of a wire's provider from the environment, as the provider's own client does:
    /// [`OpenAi::from_env`], [`Anthropic::from_env`] or [`Gemini::from_env`].
    pub fn from_env(wire: KnownWire) -> Result<Self, SecretError> {
        Ok(match wire {
            KnownWire::OpenAi => OpenAi::from_env()?.into(),
            KnownWire::OpenAiChat => OpenAi::from_env()?.chat().into(),
            KnownWire::Anthropic => Anthropic::from_env()?.into(),
            KnownWire::Gemini => Gemini::from_env()?.into(),
        })
    }

    /// Creates the client of a server that speaks a wire, with the key from the environment. A server of the Chat
    /// Completions API is a [compatible](OpenAi::compatible) one, which needs no key.
    pub fn from_env_at(wire: KnownWire, base_url: impl Into<String>) -> Result<Self, SecretError> {
        if wire != KnownWire::OpenAiChat {
            return Ok(Self::from_env(wire)?.base_url(base_url));
        }
        let client = OpenAi::compatible("openai-compatible", base_url);
        Ok(match setting(&|variable| env::var(variable), openai::KEY_VARIABLE) {
            Some(key) => client.key(Secret::new(key)).into(),
            None => client.into(),
        })
    }

    /// Returns the environment variables that [`from_env`](Self::from_env) reads the key from. The first that is set
    /// counts.
    #[must_use]
    pub fn key_variables(wire: KnownWire) -> &'static [&'static str] {
        match wire {
            KnownWire::OpenAi | KnownWire::OpenAiChat => &[openai::KEY_VARIABLE],
            KnownWire::Anthropic => &[anthropic::KEY_VARIABLE],
            KnownWire::Gemini => &gemini::KEY_VARIABLES,
        }
    }
}
