//! Citations: the sources of a piece of text.
//!
//! Providers differ in what a citation can refer to; this type holds what they share, and the rest is kept in
//! `provider_data`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One source of a piece of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Citation {
    /// The URL of the cited page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The title of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The cited text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The provider's id of the cited file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    /// The start of the citing text in its part, in the provider's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// The end of the citing text in its part, in the provider's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// Opaque data that must be returned to a provider with the citation, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl Citation {
    /// Creates a citation of a web page.
    #[must_use]
    pub fn url(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::default() }
    }

    /// Creates a citation of a file at the provider.
    #[must_use]
    pub fn file(file_id: impl Into<String>) -> Self {
        Self { file_id: Some(file_id.into()), ..Self::default() }
    }

    /// Sets the title of the source.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}
