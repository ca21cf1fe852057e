//! What a piece of text rests on.
//!
//! The providers' citations differ in what they can point at; this holds what they share, and the rest stays in
//! `provider_data`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One source of a piece of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Citation {
    /// The page cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The title of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The words cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The id of the file cited, at the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    /// Where the citing text begins in its part, counted as the provider counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// Where the citing text ends in its part, counted as the provider counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// What a provider wants back with the citation, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl Citation {
    /// A citation of a web page.
    #[must_use]
    pub fn url(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::default() }
    }

    /// A citation of a file at the provider.
    #[must_use]
    pub fn file(file_id: impl Into<String>) -> Self {
        Self { file_id: Some(file_id.into()), ..Self::default() }
    }

    /// The same citation with the title of its source.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}
