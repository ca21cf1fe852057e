//! Anthropic's web fetch.

use haft_executor::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::{ResponseInclusion, fetch};
use crate::catalogue::typed::{open_enum, setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`web_fetch`].
    pub struct AnthropicWebFetch {
        optional {
            /// The most pages in one request.
            max_uses: u32,
            /// The only domains to fetch from. Excludes `blocked_domains`.
            allowed_domains: Vec<String>,
            /// The domains that pages may not be from.
            blocked_domains: Vec<String>,
            /// Page citations.
            citations: CitationSetting,
            /// The number of tokens after which a page is truncated.
            max_content_tokens: u32,
            /// Set to false to fetch pages anew.
            use_cache: bool,
            /// The conversation parts whose addresses may be fetched.
            url_sources: UrlSources,
            /// Includes or excludes pages that only code has read.
            response_inclusion: ResponseInclusion,
        }
    }
}

setting_object! {
    /// Page citations.
    pub struct CitationSetting {
        optional {
            /// Set to enable citations.
            enabled: bool,
        }
    }
}

setting_object! {
    /// The conversation parts whose addresses may be fetched.
    pub struct UrlSources {
        optional {
            /// User messages.
            user_input: UrlSource,
            /// Results from tools that your application executes.
            client_tool_results: UrlSource,
            /// Results from tools that the provider executes.
            server_tool_results: UrlSource,
        }
    }
}

/// The tools whose results may contain addresses to fetch. User messages have no tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum UrlSource {
    /// All.
    All {},
    /// None.
    None {},
    /// Only these.
    Only {
        /// The tools.
        tools: Vec<UrlSourceTool>,
    },
    /// All except these.
    Except {
        /// The tools.
        tools: Vec<UrlSourceTool>,
    },
}

/// A tool whose results may contain addresses to fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum UrlSourceTool {
    /// A tool.
    ToolReference {
        /// Its name at the provider.
        name: String,
    },
}

/// A call to [`web_fetch`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebFetchCall {
    /// The address.
    pub url: String,
}

/// A page that was fetched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebFetchResult {
    /// The address.
    pub url: String,
    /// The time, by ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieved_at: Option<String>,
    /// The content.
    pub content: FetchedDocument,
}

/// A fetched page's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FetchedDocument {
    /// The data.
    pub source: FetchedSource,
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The page's citations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citations: Option<CitationSetting>,
}

/// A fetched page's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FetchedSource {
    /// Text.
    Text {
        /// The MIME type.
        media_type: String,
        /// The text.
        data: String,
    },
    /// A PDF document.
    Base64 {
        /// The MIME type.
        media_type: String,
        /// The document, in base64.
        data: String,
    },
}

/// The failure to fetch a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebFetchError {
    /// The reason.
    pub error_code: WebFetchErrorCode,
}

open_enum! {
    /// The reason that a page was not fetched.
    pub enum WebFetchErrorCode {
        /// The address is invalid.
        InvalidToolInput,
        /// The address is too long.
        UrlTooLong,
        /// The domain is not allowed.
        UrlNotAllowed,
        /// The address is not from the conversation.
        UrlNotInPriorContext,
        /// The page does not respond.
        UrlNotAccessible,
        /// The page is neither text nor PDF.
        UnsupportedContentType,
        /// The rate limit is exceeded.
        TooManyRequests,
        /// More pages were requested than `max_uses`.
        MaxUsesExceeded,
        /// An internal error.
        Unavailable,
        /// The page is too large.
        ContentTooLarge,
    }
}

impl Failure for WebFetchError {
    fn message(&self) -> String {
        format!("the page was not fetched: {:?}", self.error_code)
    }
}

impl CatalogueSettings for AnthropicWebFetch {
    const ENTRY: CatalogueEntry = fetch("anthropic.web_fetch_20260318", "web_fetch_20260318").fallible::<Self>();
    type Params = WebFetchCall;
    type Success = WebFetchResult;
    type Failure = WebFetchError;
}

/// Creates the tool by which Claude fetches pages.
pub fn web_fetch() -> CatalogueTool<AnthropicWebFetch> {
    CatalogueTool::new(AnthropicWebFetch::new())
}
