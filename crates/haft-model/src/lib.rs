//! Language models behind one trait, and the turn loop that runs a model with its tools.
//!
//! ```text
//! TurnRequest ──> LanguageModel ──> TurnStream: deltas, then the Turn
//!      ↑          (a provider, ScriptedModel, Cassette)    │
//!      │                                                   ↓
//!      └──── LoopState <── results <── Toolkit::run <── its calls
//!                                         ↑ Snapshot
//!                                     ToolSource
//!            TurnLoop repeats this and emits LoopEvents
//! ```
//!
//! - [`LanguageModel`]: the trait of a model; one request, one streamed answer.
//! - [`ModelError`]: the errors of a model, by cause.
//! - [`LanguageModelExt::object`]: a request for a value of a type.
//! - [`ScriptedModel`]: a model that answers from a script, for tests.
//! - [`Cassette`]: a model that records the answers of another one and replays them.
//! - [`Fallback`]: a model that asks a second one when the first is unavailable.
//! - [`TurnLoop`]: a loop that asks a model, runs its calls and asks again, with a [`LoopState`] that can be stored.
//! - [`Chat`]: many stored conversations with one agent, as a service has them; [`ui`]: their events for a browser.
//! - [`ConversationStore`]: a trait of stores of conversations, which one writer at a time claims; [`MemoryStore`], and with
//!   the feature `file-store` `FileStore`.
//!
//! A model runs no tools, and the loop must never lose a state, send a history with unanswered calls, or run a call of
//! a turn that was cut off.

mod answer_format;
mod cassette;
mod chat;
#[cfg(feature = "clients")]
mod client;
mod delta_sender;
mod difference;
mod error;
mod fallback;
mod model;
mod model_info;
mod object;
mod scripted;
mod store;
mod trace;
mod turn_delta;
mod turn_loop;
pub mod ui;

pub use self::cassette::{Cassette, CassetteError, CassetteFault, ExchangeFault};
pub use self::chat::{Chat, ChatError, ChatRequest, ChatRun, Disconnect};
#[cfg(feature = "google-adc")]
pub use self::client::GoogleToken;
#[cfg(feature = "clients")]
pub use self::client::{
    AccessToken, Anthropic, ApiKey, Authorization, CommandToken, Credential, CredentialError, CredentialFuture,
    EntraToken, FileToken, Gemini, HttpModel, OpenAi, RequestReport, TokenSource, UnsignedRequest, Vertex,
};
pub use self::delta_sender::{DeltaSender, TurnEnd};
pub use self::error::{ModelError, ProviderMessage};
pub use self::fallback::{Fallback, ModelSwitch};
pub use self::model::{LanguageModel, TurnStream};
pub use self::model_info::ModelInfo;
pub use self::object::{LanguageModelExt, ObjectAnswer, ObjectError, ObjectRequest};
pub use self::scripted::{Expect, ScriptError, ScriptFault, ScriptedModel, ScriptedTurn, TurnFault};
#[cfg(feature = "file-store")]
pub use self::store::FileStore;
pub use self::store::{
    Claim, ClaimToken, ConversationStore, MemoryStore, StoreError, StoreFuture, StoredConversation, SuiteFault,
    store_suite,
};
pub use self::trace::ModelTrace;
pub use self::turn_loop::{
    AfterTurn, AgentTool, BeforeRequest, Budget, ClearToolResults, Flow, Interaction, LoopEnd, LoopError, LoopEvent,
    LoopOutcome, LoopRun, LoopState, Prepare, PrepareFuture, Signal, Spent, StateError, Summarize, TurnLoop, TypedLoop,
    TypedOutcome, TypedRun,
};
