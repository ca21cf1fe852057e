//! Google's provider-defined tools.
//!
//! A search result is the candidate's `groundingMetadata` or `urlContextMetadata`. A code result is a part's
//! `codeExecutionResult`.

mod code_execution;
mod computer;
mod grounding;
mod retrieval;
mod search;

pub use self::code_execution::{ExecutableCode, ExecutedCode, ExecutedOutcome, GoogleCodeExecution, code_execution};
pub use self::computer::{GoogleComputerAction, GoogleComputerUse, GoogleEnvironment, GoogleFunction, computer_use};
pub use self::grounding::{
    Grounding, GroundingChunk, GroundingSegment, GroundingSource, GroundingSupport, SearchEntryPoint,
};
pub use self::retrieval::{
    GoogleFileSearch, GoogleMaps, GoogleUrlContext, MapsGrounding, RetrievedUrl, UrlContextResult, UrlRetrievalStatus,
    file_search, google_maps, url_context,
};
pub use self::search::{
    DynamicRetrieval, GoogleEnterpriseWebSearch, GoogleSearch, GoogleSearchRetrieval, NoSettings, PhishingThreshold,
    RetrievalMode, SearchTypes, TimeRange, enterprise_web_search, google_search, google_search_retrieval,
};

use crate::catalogue::{CatalogueEntry, CatalogueSettings, Vendor};

/// All Google tools.
pub(super) static ENTRIES: &[CatalogueEntry] = &[
    GoogleCodeExecution::ENTRY,
    GoogleComputerUse::ENTRY,
    GoogleEnterpriseWebSearch::ENTRY,
    GoogleFileSearch::ENTRY,
    GoogleMaps::ENTRY,
    GoogleSearch::ENTRY,
    GoogleSearchRetrieval::ENTRY,
    GoogleUrlContext::ENTRY,
];

/// Returns an entry for a tool that the provider executes.
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
