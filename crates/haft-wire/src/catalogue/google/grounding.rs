//! The sources of an answer of Gemini.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The sources of an answer: the `groundingMetadata` of a candidate. What a search did not report is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Grounding {
    /// The queries of a web search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web_search_queries: Option<Vec<String>>,
    /// The queries of an image search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_search_queries: Option<Vec<String>>,
    /// The queries of a search in files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieval_queries: Option<Vec<String>>,
    /// The sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grounding_chunks: Option<Vec<GroundingChunk>>,
    /// The parts of the answer that sources support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grounding_supports: Option<Vec<GroundingSupport>>,
    /// The suggestions that an application must show beside the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_entry_point: Option<SearchEntryPoint>,
    /// The token of a map that an application may show.
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
    /// A part of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieved_context: Option<GroundingSource>,
    /// An image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Value>,
}

/// The page, place or file of a source.
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
    /// The domain of a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The text of a place or a part of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The id of a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_id: Option<String>,
}

/// A part of an answer that sources support.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GroundingSupport {
    /// The indexes of the sources.
    #[serde(default)]
    pub grounding_chunk_indices: Vec<u32>,
    /// The confidence in each source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_scores: Option<Vec<f64>>,
    /// The part of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<GroundingSegment>,
}

/// A part of an answer, by bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GroundingSegment {
    /// The index of the part that contains it.
    #[serde(default)]
    pub part_index: u32,
    /// The index of its first byte.
    #[serde(default)]
    pub start_index: u32,
    /// The index after its last byte.
    #[serde(default)]
    pub end_index: u32,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The suggestions that an application must show beside an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SearchEntryPoint {
    /// HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered_content: Option<String>,
}
