//! Messages and the roles that send them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::ContentPart;

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The user, or a program in the user's place.
    User,
    /// The model.
    Assistant,
    /// The system: rules of the conversation.
    System,
    /// The developer: rules of the application. Sent as `system` by wire formats without this role.
    Developer,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// The sender.
    pub role: Role,
    /// The content.
    pub content: Vec<ContentPart>,
    /// Opaque data that must be returned to a provider with the message, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl Message {
    /// Creates a message of several parts.
    #[must_use]
    pub fn new(role: Role, content: Vec<ContentPart>) -> Self {
        Self { role, content, provider_data: Map::new() }
    }

    /// Creates a message of one text.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![ContentPart::text(text)])
    }

    /// Adds data that must be returned to `provider`.
    #[must_use]
    pub fn provider_data(mut self, provider: impl Into<String>, data: impl Into<Value>) -> Self {
        self.provider_data.insert(provider.into(), data.into());
        self
    }
}
