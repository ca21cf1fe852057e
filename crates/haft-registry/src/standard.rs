//! The standard toolbox: tools that work offline.

mod annotate;
mod calculate;
mod failure;

use haft_core::{DefinitionError, Tool};

/// x
pub fn x() -> Result<Tool, DefinitionError> {
    calculate::tool()
}
