//! Models as haft sees them: one trait, and what is built on it.
//!
//! - [`LanguageModel`]: asked once, it streams one answer.
//! - [`ModelError`]: why it did not, by cause.

mod error;
mod model;

pub use self::error::ModelError;
pub use self::model::{LanguageModel, TurnStream};
