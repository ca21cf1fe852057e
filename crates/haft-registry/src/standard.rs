//! The standard toolbox: tools that work offline.

mod annotate;
mod calculate;
mod date;
mod encoding;
mod failure;
#[cfg(feature = "http")]
mod fetch;
mod pattern;
mod text;

use haft_core::{DefinitionError, Tool};

#[cfg(feature = "http")]
pub use self::fetch::{FetchFailure, fetch};

/// x
pub fn x() -> Result<Tool, DefinitionError> {
    let c: date::Clock = std::sync::Arc::new(std::time::SystemTime::now);
    let _ = date::tools(&c);
    let _ = text::tools();
    let _ = encoding::tools();
    calculate::tool()
}
