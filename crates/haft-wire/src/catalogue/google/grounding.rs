//! Sources for Gemini's answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer's sources: a candidate's `groundingMetadata`. Members that a search did not report are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Grounding {
    /// The web search queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_search_queries: Option<Vec<String>>,
    /// The image search queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_search_queries: Option<Vec<String>>,
    /// The file search queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieval_queries: Option<Vec<String>>,
    /// The sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grounding_chunks: Option<Vec<GroundingChunk>>,
    /// The answer parts that sources support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grounding_supports: Option<Vec<GroundingSupport>>,
    /// The search suggestions that you must show beside the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_entry_point: Option<SearchEntryPoint>,
    /// A token for a map that you may show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub google_maps_widget_context_token: Option<String>,
}

/// A source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GroundingChunk {
    /// A page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<GroundingSource>,
    /// A place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maps: Option<GroundingSource>,
    /// A file chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieved_context: Option<GroundingSource>,
    /// An image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Value>,
}

/// A source's page, place or file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GroundingSource {
    /// The address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The page's domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The text of a place or file chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The place's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_id: Option<String>,
}

/// An answer part that sources support.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GroundingSupport {
    /// The source indexes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grounding_chunk_indices: Vec<u32>,
    /// The confidence in each source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_scores: Option<Vec<f64>>,
    /// The answer part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<GroundingSegment>,
}

/// A part of an answer, by bytes. An absent index is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GroundingSegment {
    /// The index of the content part that contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_index: Option<u32>,
    /// Its first byte's index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_index: Option<u32>,
    /// The index after its last byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_index: Option<u32>,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The search suggestions that you must show beside an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SearchEntryPoint {
    /// HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered_content: Option<String>,
}
