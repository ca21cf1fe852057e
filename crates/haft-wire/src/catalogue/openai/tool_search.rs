//! OpenAI's search for tools.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::item::PlainForm;
use crate::catalogue::openai::handled;
use crate::catalogue::typed::{open_enum, settings};
use crate::catalogue::{ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`tool_search`].
    pub struct OpenAiToolSearch {
        optional {
            /// The party that searches. By default the provider.
            execution: SearchExecution,
            /// The description for a search that your application runs.
            description: String,
            /// The argument schema for a search that your application runs.
            parameters: Value,
        }
    }
}

open_enum! {
    /// The party that searches for tools.
    pub enum SearchExecution {
        /// The provider.
        Server,
        /// The application.
        Client,
    }
}

/// A call to [`tool_search`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolSearchCall {
    /// The arguments, by the schema in the settings.
    pub arguments: Value,
}

/// The tools that a search has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolSearchOutput {
    /// The tool definitions, as in a request.
    pub tools: Vec<Value>,
    /// The party that has searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<SearchExecution>,
    /// The search's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

impl ToolSearchOutput {
    /// Creates the result of a search that your application ran.
    #[must_use]
    pub fn new(tools: impl IntoIterator<Item = Value>) -> Self {
        let (execution, status) = (Some(SearchExecution::Client), Some("completed".to_owned()));
        Self { tools: tools.into_iter().collect(), execution, status }
    }
}

impl CatalogueSettings for OpenAiToolSearch {
    const ENTRY: CatalogueEntry = handled("openai.tool_search", "OpenAiToolSearch", "tool_search")
        .items("tool_search_call", &["arguments"], "tool_search_output", PlainForm::Tools)
        .executed_by("/execution", &[Some("client")])
        .types::<Self>();
    type Params = ToolSearchCall;
    type Success = ToolSearchOutput;
    type Failure = NoFailure;
}

impl ApplicationTool for OpenAiToolSearch {}

/// Creates the tool with which a model finds deferred tools. To handle searches yourself, set
/// [`SearchExecution::Client`].
pub fn tool_search() -> CatalogueTool<OpenAiToolSearch> {
    CatalogueTool::new(OpenAiToolSearch::new())
}
