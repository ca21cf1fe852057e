//! Something that was said, and by whom.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::ContentPart;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The person, or the program that stands for one.
    User,
    /// The model.
    Assistant,
    /// The rules of the conversation.
    System,
    /// The rules of the application, where a wire tells them from the system's. Else sent as the system's.
    Developer,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: Vec<ContentPart>,
    /// What a provider wants back with the message, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl Message {
    /// A message of several parts.
    #[must_use]
    pub fn new(role: Role, content: Vec<ContentPart>) -> Self {
        Self { role, content, provider_data: Map::new() }
    }

    /// A message of one text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![ContentPart::text(text)])
    }

    /// The same message with what `provider` wants back.
    #[must_use]
    pub fn provider_data(mut self, provider: impl Into<String>, data: impl Into<Value>) -> Self {
        self.provider_data.insert(provider.into(), data.into());
        self
    }
}
