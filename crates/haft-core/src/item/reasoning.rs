//! What the model thought before it spoke.
//!
//! Providers want reasoning back unchanged, next to the calls it led to, and refuse it when its signature or encrypted
//! form is missing or comes from another provider. So both are kept to the byte, with the provider's name.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the model thought: in words, as a summary, or only in a form its provider can read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reasoning {
    /// The id the provider gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider that can check `signature` and read `encrypted`. It must not be sent to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Summaries in words, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<String>,
    /// The thoughts in words, where the provider shows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What proves to the provider that the text is its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The thoughts in a form only the provider can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<String>,
    /// What a provider wants back with the reasoning, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl Reasoning {
    /// Reasoning in words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Reasoning only its provider can read.
    #[must_use]
    pub fn encrypted(provider: impl Into<String>, data: impl Into<String>) -> Self {
        Self { provider: Some(provider.into()), encrypted: Some(data.into()), ..Self::default() }
    }

    /// The same reasoning, signed by its provider.
    #[must_use]
    pub fn signed(mut self, provider: impl Into<String>, signature: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self.signature = Some(signature.into());
        self
    }

    /// The same reasoning with one more summary.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary.push(summary.into());
        self
    }

    /// The same reasoning with the id the provider gave it.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The same reasoning with what `provider` wants back.
    #[must_use]
    pub fn provider_data(mut self, provider: impl Into<String>, data: impl Into<Value>) -> Self {
        self.provider_data.insert(provider.into(), data.into());
        self
    }

    /// What a person can read of it: the thoughts, else the summaries, one paragraph each; empty when encrypted only.
    #[must_use]
    pub fn words(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.summary.join("\n\n"))
    }
}
