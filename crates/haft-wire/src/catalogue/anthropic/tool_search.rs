//! Anthropic's search for tools.

use haft_executor::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::executed;
use crate::catalogue::typed::{open_enum, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`tool_search_regex`], which takes none.
    pub struct AnthropicToolSearchRegex {}
}

settings! {
    /// Settings for [`tool_search_bm25`], which takes none.
    pub struct AnthropicToolSearchBm25 {}
}

/// A search for tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolQuery {
    /// The query: a regular expression, or words.
    pub query: String,
}

/// The tools that a search has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FoundTools {
    /// References to the tools.
    pub tool_references: Vec<ToolReference>,
}

/// A reference to a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolReference {
    /// The tool's name at the provider.
    pub tool_name: String,
}

/// A failed tool search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolSearchError {
    /// The reason.
    pub error_code: ToolSearchErrorCode,
    /// Details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

open_enum! {
    /// The reason that a search for tools failed.
    pub enum ToolSearchErrorCode {
        /// The query is invalid.
        InvalidToolInput,
        /// An internal error.
        Unavailable,
        /// The rate limit is exceeded.
        TooManyRequests,
        /// The search took too long.
        ExecutionTimeExceeded,
    }
}

impl Failure for ToolSearchError {
    fn message(&self) -> String {
        let code = || format!("the search for tools failed: {:?}", self.error_code);
        self.error_message.clone().unwrap_or_else(code)
    }
}

impl CatalogueSettings for AnthropicToolSearchRegex {
    const ENTRY: CatalogueEntry = executed(
        "anthropic.tool_search_tool_regex_20251119",
        "AnthropicToolSearchRegex",
        "tool_search_tool_regex",
        "tool_search_tool_regex_20251119",
    )
    .reported(&["tool_search_tool_regex"], "server_tool_use", &["tool_search_tool_result"])
    .fallible::<Self>();
    type Params = ToolQuery;
    type Success = FoundTools;
    type Failure = ToolSearchError;
}

impl CatalogueSettings for AnthropicToolSearchBm25 {
    const ENTRY: CatalogueEntry = executed(
        "anthropic.tool_search_tool_bm25_20251119",
        "AnthropicToolSearchBM25",
        "tool_search_tool_bm25",
        "tool_search_tool_bm25_20251119",
    )
    .reported(&["tool_search_tool_bm25"], "server_tool_use", &["tool_search_tool_result"])
    .fallible::<Self>();
    type Params = ToolQuery;
    type Success = FoundTools;
    type Failure = ToolSearchError;
}

/// Creates the tool with which Claude finds deferred tools by regular expression.
pub fn tool_search_regex() -> CatalogueTool<AnthropicToolSearchRegex> {
    CatalogueTool::new(AnthropicToolSearchRegex::new())
}

/// Creates the tool with which Claude finds deferred tools by words.
pub fn tool_search_bm25() -> CatalogueTool<AnthropicToolSearchBm25> {
    CatalogueTool::new(AnthropicToolSearchBm25::new())
}
