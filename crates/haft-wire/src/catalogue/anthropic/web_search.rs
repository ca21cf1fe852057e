//! Anthropic's web search.

use haft_executor::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::search;
use crate::catalogue::typed::{open_enum, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, UserLocation};

settings! {
    /// Settings for [`web_search`].
    pub struct AnthropicWebSearch {
        optional {
            /// The most searches in one request.
            max_uses: u32,
            /// The only domains to search. Excludes `blocked_domains`.
            allowed_domains: Vec<String>,
            /// The domains that results may not be from.
            blocked_domains: Vec<String>,
            /// The location by which results are adapted.
            user_location: UserLocation,
            /// Includes or excludes results that only code has read.
            response_inclusion: ResponseInclusion,
        }
    }
}

open_enum! {
    /// The results in a response that only code has read.
    pub enum ResponseInclusion {
        /// The results are contained.
        Full,
        /// The results are left out.
        Excluded,
    }
}

/// A call to [`web_search`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebSearchCall {
    /// The query.
    pub query: String,
}

/// A page that a search has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebSearchResult {
    /// The address.
    pub url: String,
    /// The title.
    pub title: String,
    /// The content, which only the provider can read.
    pub encrypted_content: String,
    /// The page's age, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_age: Option<String>,
}

/// A failed search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebSearchError {
    /// The reason.
    pub error_code: WebSearchErrorCode,
}

open_enum! {
    /// The reason that a search failed.
    pub enum WebSearchErrorCode {
        /// The query is invalid.
        InvalidToolInput,
        /// An internal error.
        Unavailable,
        /// There were more searches than `max_uses`.
        MaxUsesExceeded,
        /// The rate limit is exceeded.
        TooManyRequests,
        /// The query is too long.
        QueryTooLong,
        /// The request is too large.
        RequestTooLarge,
    }
}

impl Failure for WebSearchError {
    fn message(&self) -> String {
        format!("the web search failed: {:?}", self.error_code)
    }
}

impl CatalogueSettings for AnthropicWebSearch {
    const ENTRY: CatalogueEntry = search("anthropic.web_search_20260318", "web_search_20260318").fallible::<Self>();
    type Params = WebSearchCall;
    type Success = Vec<WebSearchResult>;
    type Failure = WebSearchError;
}

/// Creates the tool by which Claude searches the web.
///
/// ```
/// use haft_wire::catalogue::{UserLocation, anthropic};
///
/// let search = anthropic::web_search().max_uses(3).user_location(UserLocation::approximate().country("NO")).define()?;
/// assert_eq!(search.name(), "AnthropicWebSearch");
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
pub fn web_search() -> CatalogueTool<AnthropicWebSearch> {
    CatalogueTool::new(AnthropicWebSearch::new())
}
