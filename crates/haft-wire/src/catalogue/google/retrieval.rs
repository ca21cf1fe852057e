//! Google's file search, maps and URL context.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::google::{Grounding, NoSettings, executed};
use crate::catalogue::typed::{open_enum, setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, IntoSetting};

settings! {
    /// Settings for [`file_search`].
    #[serde(rename_all = "camelCase")]
    pub struct GoogleFileSearch {
        required {
            /// The stores to search, such as `fileSearchStores/my-store`.
            file_search_store_names: Vec<String>,
        }
        optional {
            /// The number of file chunks to find.
            top_k: u32,
            /// The condition that files must meet.
            metadata_filter: String,
        }
    }
}

settings! {
    /// Settings for [`google_maps`].
    #[serde(rename_all = "camelCase")]
    pub struct GoogleMaps {
        optional {
            /// Requests the token for a map.
            enable_widget: bool,
            /// The answer kinds.
            grounding_types: MapsGrounding,
            /// The authentication. Vertex AI only.
            auth_config: Value,
        }
    }
}

settings! {
    /// Settings for [`url_context`], which takes none.
    pub struct GoogleUrlContext {}
}

setting_object! {
    /// Answer kinds for [`google_maps`].
    #[serde(rename_all = "camelCase")]
    pub struct MapsGrounding {
        optional {
            /// Set to find places.
            places: NoSettings,
            /// Set to find routes.
            routing: NoSettings,
        }
    }
}

/// The fetched pages: a candidate's `urlContextMetadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UrlContextResult {
    /// The pages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub url_metadata: Vec<RetrievedUrl>,
}

/// A page that was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RetrievedUrl {
    /// The address.
    pub retrieved_url: String,
    /// The status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_retrieval_status: Option<UrlRetrievalStatus>,
}

open_enum! {
    /// A fetched page's status.
    pub enum UrlRetrievalStatus {
        /// The page was fetched.
        #[serde(rename = "URL_RETRIEVAL_STATUS_SUCCESS")]
        Success,
        /// The page was not fetched.
        #[serde(rename = "URL_RETRIEVAL_STATUS_ERROR")]
        Error,
        /// The page is behind a paywall.
        #[serde(rename = "URL_RETRIEVAL_STATUS_PAYWALL")]
        Paywall,
        /// The page is unsafe.
        #[serde(rename = "URL_RETRIEVAL_STATUS_UNSAFE")]
        Unsafe,
    }
}

impl CatalogueSettings for GoogleFileSearch {
    const ENTRY: CatalogueEntry =
        executed("google.file_search", "GoogleFileSearch", "file_search", "fileSearch").types::<Self>();
    type Params = ();
    type Success = Grounding;
    type Failure = NoFailure;
}

impl CatalogueSettings for GoogleMaps {
    const ENTRY: CatalogueEntry =
        executed("google.google_maps", "GoogleMaps", "google_maps", "googleMaps").types::<Self>();
    type Params = ();
    type Success = Grounding;
    type Failure = NoFailure;
}

impl CatalogueSettings for GoogleUrlContext {
    const ENTRY: CatalogueEntry =
        executed("google.url_context", "GoogleUrlContext", "url_context", "urlContext").types::<Self>();
    type Params = ();
    type Success = UrlContextResult;
    type Failure = NoFailure;
}

/// Creates the tool with which a model searches files in these stores.
pub fn file_search(stores: impl IntoSetting<Vec<String>>) -> CatalogueTool<GoogleFileSearch> {
    CatalogueTool::new(GoogleFileSearch::new(stores.into_setting()))
}

/// Creates the tool with which a model finds places and routes.
pub fn google_maps() -> CatalogueTool<GoogleMaps> {
    CatalogueTool::new(GoogleMaps::new())
}

/// Creates the tool with which a model reads the pages that a prompt names.
pub fn url_context() -> CatalogueTool<GoogleUrlContext> {
    CatalogueTool::new(GoogleUrlContext::new())
}
