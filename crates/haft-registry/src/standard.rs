//! The standard toolbox: tools that work offline.

mod annotate;
mod calculate;
mod failure;
#[cfg(feature = "http")]
mod fetch;

use haft_core::{DefinitionError, Tool};

#[cfg(feature = "http")]
pub use self::fetch::{FetchFailure, fetch};

/// x
pub fn x() -> Result<Tool, DefinitionError> {
    calculate::tool()
}
