//! Models as haft sees them: one trait, and what is built on it.
//!
//! - [`LanguageModel`]: asked once, it streams one answer.
//! - [`ModelError`]: why it did not, by cause.
//! - [`ScriptedModel`]: a model that answers by a script, for testing without one.
//! - [`Cassette`]: records what a model answers, and answers the same again.
//! - [`TurnLoop`]: asked again and again, with the calls it makes run in after.

mod cassette;
mod difference;
mod error;
mod model;
mod scripted;
mod turn_loop;

pub use self::cassette::{Cassette, CassetteError, CassetteFault, ExchangeFault};
pub use self::error::ModelError;
pub use self::model::{LanguageModel, TurnStream};
pub use self::scripted::{Expect, ScriptError, ScriptFault, ScriptedModel, ScriptedTurn, TurnFault};
pub use self::turn_loop::{
    AfterTurn, Budget, Flow, Interaction, LoopEnd, LoopError, LoopEvent, LoopOutcome, LoopRun, LoopState, Signal,
    Spent, StateError, TurnLoop,
};
