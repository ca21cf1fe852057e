//! Google's web search.

use haft_executor::NoFailure;

use crate::catalogue::google::{Grounding, executed};
use crate::catalogue::typed::{open_enum, setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`google_search`].
    #[serde(rename_all = "camelCase")]
    pub struct GoogleSearch {
        optional {
            /// The search kinds. By default, web search only.
            search_types: SearchTypes,
            /// The time in which pages must have been published.
            time_range_filter: TimeRange,
            /// The domains to exclude from results. Vertex AI only.
            exclude_domains: Vec<String>,
            /// The confidence from which risky pages are left out. Vertex AI only.
            blocking_confidence: PhishingThreshold,
        }
    }
}

settings! {
    /// Settings for [`enterprise_web_search`].
    #[serde(rename_all = "camelCase")]
    pub struct GoogleEnterpriseWebSearch {
        optional {
            /// The domains that results may not be from.
            exclude_domains: Vec<String>,
            /// The confidence from which risky pages are left out.
            blocking_confidence: PhishingThreshold,
        }
    }
}

settings! {
    /// Settings for [`google_search_retrieval`].
    #[serde(rename_all = "camelCase")]
    pub struct GoogleSearchRetrieval {
        optional {
            /// The condition for a search.
            dynamic_retrieval_config: DynamicRetrieval,
        }
    }
}

setting_object! {
    /// The kinds of searches.
    #[serde(rename_all = "camelCase")]
    pub struct SearchTypes {
        optional {
            /// Set to search pages.
            web_search: NoSettings,
            /// Set to search images.
            image_search: NoSettings,
        }
    }
}

setting_object! {
    /// An empty settings object.
    pub struct NoSettings {}
}

setting_object! {
    /// A time range in RFC 3339.
    #[serde(rename_all = "camelCase")]
    pub struct TimeRange {
        required {
            /// The beginning.
            start_time: String,
            /// The end.
            end_time: String,
        }
    }
}

setting_object! {
    /// The condition for a search.
    #[serde(rename_all = "camelCase")]
    pub struct DynamicRetrieval {
        optional {
            /// The mode.
            mode: RetrievalMode,
            /// The lowest score, from 0 to 1, at which a prompt is searched for.
            dynamic_threshold: f64,
        }
    }
}

open_enum! {
    /// The condition under which a search runs.
    pub enum RetrievalMode {
        /// Always search.
        #[serde(rename = "MODE_UNSPECIFIED")]
        ModeUnspecified,
        /// Search if the model considers it necessary.
        #[serde(rename = "MODE_DYNAMIC")]
        ModeDynamic,
    }
}

open_enum! {
    /// The confidence from which risky pages are left out.
    pub enum PhishingThreshold {
        /// Low confidence.
        #[serde(rename = "BLOCK_LOW_AND_ABOVE")]
        BlockLowAndAbove,
        /// Medium confidence.
        #[serde(rename = "BLOCK_MEDIUM_AND_ABOVE")]
        BlockMediumAndAbove,
        /// High confidence.
        #[serde(rename = "BLOCK_HIGH_AND_ABOVE")]
        BlockHighAndAbove,
        /// Higher confidence.
        #[serde(rename = "BLOCK_HIGHER_AND_ABOVE")]
        BlockHigherAndAbove,
        /// Very high confidence.
        #[serde(rename = "BLOCK_VERY_HIGH_AND_ABOVE")]
        BlockVeryHighAndAbove,
        /// Extremely high confidence.
        #[serde(rename = "BLOCK_ONLY_EXTREMELY_HIGH")]
        BlockOnlyExtremelyHigh,
    }
}

impl CatalogueSettings for GoogleSearch {
    const ENTRY: CatalogueEntry =
        executed("google.google_search", "GoogleSearch", "google_search", "googleSearch").types::<Self>();
    type Params = ();
    type Success = Grounding;
    type Failure = NoFailure;
}

impl CatalogueSettings for GoogleEnterpriseWebSearch {
    const ENTRY: CatalogueEntry = executed(
        "google.enterprise_web_search",
        "GoogleEnterpriseWebSearch",
        "enterprise_web_search",
        "enterpriseWebSearch",
    )
    .types::<Self>();
    type Params = ();
    type Success = Grounding;
    type Failure = NoFailure;
}

impl CatalogueSettings for GoogleSearchRetrieval {
    const ENTRY: CatalogueEntry = executed(
        "google.google_search_retrieval",
        "GoogleSearchRetrieval",
        "google_search_retrieval",
        "googleSearchRetrieval",
    )
    .types::<Self>()
    .superseded();
    type Params = ();
    type Success = Grounding;
    type Failure = NoFailure;
}

/// Creates the tool with which a model searches the web.
pub fn google_search() -> CatalogueTool<GoogleSearch> {
    CatalogueTool::new(GoogleSearch::new())
}

/// Creates Vertex AI's web search for regulated organisations.
pub fn enterprise_web_search() -> CatalogueTool<GoogleEnterpriseWebSearch> {
    CatalogueTool::new(GoogleEnterpriseWebSearch::new())
}

/// Creates the web search for models before Gemini 2.
pub fn google_search_retrieval() -> CatalogueTool<GoogleSearchRetrieval> {
    CatalogueTool::new(GoogleSearchRetrieval::new())
}
