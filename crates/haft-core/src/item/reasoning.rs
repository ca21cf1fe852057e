//! Reasoning of a model.
//!
//! Providers require reasoning back unchanged, next to the calls that it led to, and reject it if its signature or
//! encrypted form is missing or belongs to another provider. So both are kept to the byte, with the provider's name.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Reasoning of a model: as text, as a summary, or only in a form that its provider can read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reasoning {
    /// The id that the provider assigned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider that can verify `signature` and read `encrypted`. Neither must be sent to another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The summaries, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<String>,
    /// The full text, if the provider discloses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The provider's signature of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The reasoning in a form that only the provider can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<String>,
    /// Opaque data that must be returned to a provider with the reasoning, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl Reasoning {
    /// Creates reasoning from its text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Creates reasoning that only its provider can read.
    #[must_use]
    pub fn encrypted(provider: impl Into<String>, data: impl Into<String>) -> Self {
        Self { provider: Some(provider.into()), encrypted: Some(data.into()), ..Self::default() }
    }

    /// Sets the provider and its signature.
    #[must_use]
    pub fn signed(mut self, provider: impl Into<String>, signature: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self.signature = Some(signature.into());
        self
    }

    /// Adds a summary.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary.push(summary.into());
        self
    }

    /// Sets the id that the provider assigned.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Adds data that must be returned to `provider`.
    #[must_use]
    pub fn provider_data(mut self, provider: impl Into<String>, data: impl Into<Value>) -> Self {
        self.provider_data.insert(provider.into(), data.into());
        self
    }

    /// Returns the readable text: the full text, else the summaries, one paragraph each; empty if encrypted only.
    #[must_use]
    pub fn words(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.summary.join("\n\n"))
    }
}
