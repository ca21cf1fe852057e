//! Models as haft sees them: one trait, and what is built on it.
//!
//! - [`LanguageModel`]: asked once, it streams one answer.
//! - [`ModelError`]: why it did not, by cause.
//! - [`TurnLoop`]: asked again and again, with the calls it makes run in between.

mod error;
mod model;
mod turn_loop;

pub use self::error::ModelError;
pub use self::model::{LanguageModel, TurnStream};
pub use self::turn_loop::{
    Between, Budget, Flow, Interaction, LoopEnd, LoopError, LoopEvent, LoopOutcome, LoopRun, LoopState, Resource,
    Signal, StateError, TurnLoop,
};
