//! Models and the turn loop: ask, run what is asked for, ask again.
//!
//! ```text
//!            ╔════════════════════ TurnLoop ═════════════════════╗
//!  question ─╫─► model ─► Turn ─► ToolCalls ─► run ─► ToolResults ║
//!            ║     ▲                                     │       ║
//!    answer ◄╫── stop ◄──────── AfterTurn decides ◄──────┘       ║
//!            ╚═══════════════════════════════════════════════════╝
//! ```
//!
//! A model is anything that implements [`LanguageModel`]: it names its provider and model, and streams a turn. A
//! [`TurnLoop`] streams everything that happens as [`LoopEvent`]s, and keeps the conversation in a [`LoopState`] that
//! serialises. It always ends: by turn cap, budgets, a guard against repeated calls, or because there is nothing more
//! to do. Here a script stands in for the model, as it would in a test:
//!
//! ```
//! use haft::prelude::*;
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let model = ScriptedModel::default()
//!     .then([ToolCall::new("c1", "add", r#"{"a": 19, "b": 23}"#)])
//!     .then("It is 42.");
//! let agent = TurnLoop::new(model, toolkit![Add]).max_turns(8);
//!
//! let outcome = agent.start(TurnRequest::new("any", vec![Item::user("What is 19 + 23?")])).finish().await;
//! assert!(outcome.end.is_stopped());
//! assert_eq!(outcome.state.text(), "It is 42.");
//! # }
//! ```
//!
//! - Providers: with the feature `clients`, `OpenAi::from_env()?`, `Anthropic::from_env()?` and `Gemini::from_env()?` are models, and
//!   `OpenAi::compatible(provider, url)` is one on any server that speaks the Chat Completions API. `.on_report(|report| …)` receives
//!   what a provider can't be sent as it is. A client never retries, and its key is in no error and no debug output.
//! - Keys that change: a client's key may also come from a file, a command or a token server: Entra ID for Azure, Google's default
//!   credentials for Vertex AI (feature `google-adc`), or your own. The token is cached until it expires, and fetched once more
//!   when the provider rejects it. A credential of your own can sign whole requests.
//! - A model of your own is one method: an async block that sends [`Delta`](crate::conversation::Delta)s and ends with the
//!   turn, in [`TurnStream::spawn`]. Nothing is spawned; dropping the stream ends the request. The page `adapter` shows a
//!   whole provider.
//! - An answer may be a value: [`model.object::<T>(request)`](LanguageModelExt::object) asks for one, and
//!   [`TurnLoop::finish_as`] makes it the end of a loop. The schema of the type is sent with the request, the answer is
//!   read by the checks of arguments, and an invalid one is sent back once, with its issues.
//! - A request that failed for a transient reason is retried by the loop ([`TurnLoop::retries`]), within
//!   [`TurnLoop::max_retry_wait`]. [`Fallback::new(first, second)`](Fallback) asks a second model when the first is
//!   unavailable.
//! - Long conversations: [`TurnLoop::prepare`] takes hooks that shorten the history before each request, and when a provider
//!   rejects it as too long. [`ClearToolResults`] and [`Summarize`] are ready to use.
//! - Runs, requests and calls are `tracing` spans by OpenTelemetry's names (`invoke_agent`, `chat`, `execute_tool`), with
//!   token usage and durations as metrics; messages are recorded on request only. See [`ModelTrace`].
//! - `.decide(|after| async move { … })` decides after each turn whether there is another one (`after.next()`,
//!   `after.stop()`), and may change model, tools, choice and history for it. Without it the loop goes on while the model
//!   makes calls.
//! - Signals ([`Tool::signal`](crate::tool::Tool::signal)) are handed to that function once they are approved, and it answers them; interactions
//!   ([`Tool::interaction`](crate::tool::Tool::interaction)) and, with `.options(RunOptions::new().approvals(Suspend))`, calls that require approval end the
//!   loop with [`LoopEnd::Waiting`]. Store the state, give it `agent.answer(&mut state, call_id, value)?`
//!   or `agent.verdict(&mut state, verdict)?`, which check it at once, and start it again. Where the loop is not available,
//!   `state.answer(call_id, value)?` leaves the check to the next start.
//! - The tools must be able to run with the options: a start with one that lacks a handler or a service ends with
//!   [`LoopError::NotRunnable`], before the model is asked. A tool that a live source brings later and that can't run is not
//!   offered, and [`LoopEvent::ToolLeftOut`] reports it. [`LoopEvent::TurnStarted`] names the tools that are offered.
//! - A call that the *provider* executes may require approval too (a tool of a remote MCP server, for example). Its request
//!   is part of the turn, and the loop waits for the verdict as for any other; it approves or denies, and the next request
//!   contains it. No approver or policy decides about it: only `agent.verdict` does.
//! - One loop serves many conversations: [`TurnLoop::start_with`] takes the caller, the services and the limits of one.
//!   The checks of the loop still hold, see [`RunOptions::merge`](crate::run::RunOptions::merge).
//! - The model reads a failed call and continues. [`TurnLoop::fail_on`] names classes of failures that end the loop
//!   instead, with a state that can be started again.
//! - Tests need no network: [`ScriptedModel`] answers by a script (in code or a JSON file) and checks what it was sent;
//!   `Cassette::auto(path, model)` records a real model once and replays it from then on.
//! - A service with many conversations is a [`Chat`]: each message claims its conversation, continues it, saves before calls
//!   run and after each result, and releases it. It survives a crash, and readers that go away.
//! - A browser reads a run as server-sent events: [`ui::UiStream`] writes our own small form, or the one of the AI SDK, so
//!   that `useChat` works. Neither contains the state, causes of errors or names of approvers.
//! - A state by itself is not locked. A [`ConversationStore`] has one writer at a time per conversation, by a claim with a
//!   lease: [`MemoryStore`], one in files (feature `file-store`), or one of your own, which [`store_suite`] tests.

#[cfg(feature = "clients")]
pub mod adapter;

#[cfg(feature = "file-store")]
#[doc(inline)]
pub use haft_model::FileStore;
#[cfg(feature = "google-adc")]
#[doc(inline)]
pub use haft_model::GoogleToken;
#[doc(inline)]
pub use haft_model::ui;
#[cfg(feature = "clients")]
#[doc(inline)]
pub use haft_model::{
    AccessToken, Anthropic, ApiKey, Authorization, CommandToken, Credential, CredentialError, CredentialFuture,
    EntraToken, FileToken, Gemini, HttpModel, OpenAi, RequestReport, TokenSource, UnsignedRequest, Vertex,
};
#[doc(inline)]
pub use haft_model::{
    AfterTurn, AgentTool, BeforeRequest, Budget, Cassette, CassetteError, CassetteFault, Chat, ChatError, ChatRequest,
    ChatRun, Claim, ClaimToken, ClearToolResults, ConversationStore, DeltaSender, Disconnect, ExchangeFault, Expect,
    Fallback, Flow, Interaction, LanguageModel, LanguageModelExt, LoopEnd, LoopError, LoopEvent, LoopOutcome, LoopRun,
    LoopState, MemoryStore, ModelError, ModelInfo, ModelSwitch, ModelTrace, ObjectAnswer, ObjectError, ObjectRequest,
    Prepare, PrepareFuture, ProviderMessage, ScriptError, ScriptFault, ScriptedModel, ScriptedTurn, Signal, Spent,
    StateError, StoreError, StoreFuture, StoredConversation, SuiteFault, Summarize, TurnEnd, TurnFault, TurnLoop,
    TurnStream, TypedLoop, TypedOutcome, TypedRun, store_suite,
};
