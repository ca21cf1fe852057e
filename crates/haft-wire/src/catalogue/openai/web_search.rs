//! OpenAI's web search.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::openai::executed;
use crate::catalogue::typed::{open_enum, setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, UserLocation};

settings! {
    /// Settings for [`web_search`].
    pub struct OpenAiWebSearch {
        optional {
            /// The pages that may be found.
            filters: WebFilters,
            /// The location by which results are adapted.
            user_location: UserLocation,
            /// The context size that results may use.
            search_context_size: SearchContextSize,
            /// False to search only what the provider has stored.
            external_web_access: bool,
        }
    }
}

settings! {
    /// Settings for [`web_search_preview`].
    pub struct OpenAiWebSearchPreview {
        optional {
            /// The location by which results are adapted.
            user_location: UserLocation,
            /// The context size that results may use.
            search_context_size: SearchContextSize,
            /// The result kinds: `text` and `image`.
            search_content_types: Vec<String>,
        }
    }
}

setting_object! {
    /// The pages that may be found.
    pub struct WebFilters {
        optional {
            /// The only domains.
            allowed_domains: Vec<String>,
        }
    }
}

open_enum! {
    /// The context size that results may use.
    pub enum SearchContextSize {
        /// Little.
        Low,
        /// The default.
        Medium,
        /// Much.
        High,
    }
}

/// A search's call and result: only the model reads the pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebSearchActivity {
    /// The action.
    pub action: WebSearchAction,
    /// The action's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// A search action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum WebSearchAction {
    /// Searches the web.
    Search {
        /// The query.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// All queries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queries: Option<Vec<String>>,
        /// The sources. Absent unless the request includes them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sources: Option<Vec<WebSource>>,
    },
    /// Opens a page.
    OpenPage {
        /// The address.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// Searches in a page.
    FindInPage {
        /// The address.
        url: String,
        /// The text to find.
        pattern: String,
    },
}

/// A search source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebSource {
    /// The address.
    pub url: String,
}

impl CatalogueSettings for OpenAiWebSearch {
    const ENTRY: CatalogueEntry =
        executed("openai.web_search", "OpenAiWebSearch", "web_search", "web_search_call").types::<Self>();
    type Params = WebSearchActivity;
    type Success = WebSearchActivity;
    type Failure = NoFailure;
}

impl CatalogueSettings for OpenAiWebSearchPreview {
    const ENTRY: CatalogueEntry =
        executed("openai.web_search_preview", "OpenAiWebSearchPreview", "web_search_preview", "web_search_call")
            .types::<Self>()
            .superseded();
    type Params = ();
    type Success = WebSearchActivity;
    type Failure = NoFailure;
}

/// Creates the tool with which a model searches the web.
pub fn web_search() -> CatalogueTool<OpenAiWebSearch> {
    CatalogueTool::new(OpenAiWebSearch::new())
}

/// Creates the first version of [`web_search`].
pub fn web_search_preview() -> CatalogueTool<OpenAiWebSearchPreview> {
    CatalogueTool::new(OpenAiWebSearchPreview::new())
}
