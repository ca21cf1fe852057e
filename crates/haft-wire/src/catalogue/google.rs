//! The provider-defined tools of Google.

use crate::catalogue::entry::SchemaSource::Any;
use crate::catalogue::{CatalogueEntry, Vendor};

/// The functions that a model calls to use a browser.
const COMPUTER_FUNCTIONS: &[&str] = &[
    "click_at",
    "drag_and_drop",
    "go_back",
    "go_forward",
    "hover_at",
    "key_combination",
    "navigate",
    "open_web_browser",
    "scroll_at",
    "scroll_document",
    "search",
    "type_text_at",
    "wait_5_seconds",
];

/// All tools of Google. Searches report their calls only to clients that request it.
pub(super) static ENTRIES: &[CatalogueEntry] = &[
    executed("google.code_execution", "GoogleCodeExecution", "code_execution", "codeExecution").reported(
        &[],
        "executableCode",
        &["codeExecutionResult"],
    ),
    CatalogueEntry::function(Vendor::Google, "google.computer_use", "GoogleComputerUse", "computer_use", "computerUse")
        .functions(None, COMPUTER_FUNCTIONS)
        .args(Any),
    executed(
        "google.enterprise_web_search",
        "GoogleEnterpriseWebSearch",
        "enterprise_web_search",
        "enterpriseWebSearch",
    )
    .args(Any),
    executed("google.file_search", "GoogleFileSearch", "file_search", "fileSearch").args(Any),
    executed("google.google_maps", "GoogleMaps", "google_maps", "googleMaps").args(Any),
    executed("google.google_search", "GoogleSearch", "google_search", "googleSearch").args(Any),
    executed(
        "google.google_search_retrieval",
        "GoogleSearchRetrieval",
        "google_search_retrieval",
        "googleSearchRetrieval",
    )
    .args(Any)
    .superseded(),
    executed("google.url_context", "GoogleUrlContext", "url_context", "urlContext"),
];

const fn executed(
    id: &'static str,
    custom_name: &'static str,
    provider_name: &'static str,
    member: &'static str,
) -> CatalogueEntry {
    CatalogueEntry::executed(Vendor::Google, id, custom_name, provider_name, member).reported(
        &[],
        "toolCall",
        &["toolResponse"],
    )
}
