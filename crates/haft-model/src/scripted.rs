//! A model that answers from a script.
//!
//! For tests that must not depend on a real model: the answers are defined beforehand, and the requests are
//! checked and recorded. Answers are streamed as a provider would stream them. The model must never invent an answer: a
//! request that the script does not contain is a fault, reported to the caller and to the test.

mod expect;
mod fault;
mod file;
mod request_log;
mod stream;
mod turn;

use std::collections::VecDeque;
use std::fmt;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_core::TurnRequest;
use haft_schema::isolation::isolated;

pub use self::expect::Expect;
pub use self::fault::{ScriptFault, TurnFault};
pub use self::file::ScriptError;
use self::request_log::RequestLog;
use self::stream::ScriptedStream;
pub use self::turn::ScriptedTurn;
use crate::difference::{MOST_SHOWN, excerpt};
use crate::model::{LanguageModel, TurnStream};
use crate::model_info::ModelInfo;

/// A model that answers from a script, for tests.
///
/// A clone is another handle of the same model: the test keeps one while the code under test owns the other. Turns are
/// used in the order of the requests, also for concurrent requests. A request is made when its stream is first polled:
/// a stream that is dropped before that uses no turn, and one that is dropped later has used its turn.
///
/// ```
/// use haft_core::{Item, ToolCall, ToolResult, TurnRequest};
/// use haft_model::{Expect, LanguageModel, ModelError, ScriptedModel, ScriptedTurn};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::default()
///     .then([ToolCall::new("c1", "get_time", "{}")])
///     .then(ScriptedTurn::text("It is noon.").expect(Expect::new().last(json!({"output": "12:00"}))));
///
/// let mut request = TurnRequest::new("any", vec![Item::user("What time is it?")]);
/// let turn = model.stream_turn(&request).into_turn().await?;
/// let calls = turn.tool_calls();
/// request.history.extend(turn.items);
/// request.history.push(Item::from(&ToolResult::ok(&calls[0], json!("12:00"))));
/// assert_eq!(model.stream_turn(&request).into_turn().await?.text(), "It is noon.");
///
/// assert_eq!(model.requests().len(), 2);
/// model.finish()?;
///
/// // A request that the script does not contain is an error.
/// let error = model.stream_turn(&request).into_turn().await.unwrap_err();
/// assert!(matches!(error, ModelError::OffScript { .. }));
/// assert!(model.finish().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ScriptedModel(Arc<Mutex<Script>>);

struct Script {
    info: ModelInfo,
    turns: VecDeque<ScriptedTurn>,
    taken: usize,
    requests: RequestLog,
    faults: Vec<TurnFault>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            info: ModelInfo::new("scripted"),
            turns: VecDeque::new(),
            taken: 0,
            requests: RequestLog::default(),
            faults: Vec::new(),
        }
    }
}

impl ScriptedModel {
    /// Creates a model that answers with these turns, in order.
    ///
    /// ```
    /// use haft_model::{ScriptedModel, ScriptedTurn};
    ///
    /// let one_kind = ScriptedModel::new(["Hello.", "Goodbye."]);
    /// let several = ScriptedModel::new([ScriptedTurn::text("Hello."), ScriptedTurn::pending()]);
    /// ```
    pub fn new<T: Into<ScriptedTurn>>(turns: impl IntoIterator<Item = T>) -> Self {
        turns.into_iter().fold(Self::default(), Self::then)
    }

    /// Sets the names of the provider and the model that this one stands for. By default the provider is `scripted`.
    #[must_use]
    pub fn named(self, info: ModelInfo) -> Self {
        self.script().info = info;
        self
    }

    /// Reads a script from JSON text: a version and a list of turns.
    ///
    /// ```
    /// use haft_model::ScriptedModel;
    ///
    /// let model = ScriptedModel::from_json(r#"{
    ///     "v": 1,
    ///     "turns": [
    ///         {
    ///             "expect": {"tools": ["get_time"], "last": {"role": "user"}},
    ///             "text": "Let me look.",
    ///             "calls": [{"call_id": "c1", "name": "get_time", "arguments": {"zone": "UTC"}}]
    ///         },
    ///         {"error": {"kind": "rate_limited", "message": "slow down", "retry_after_ms": 5}},
    ///         {"text": "It is noon.", "usage": {"input_tokens": 20, "output_tokens": 4, "total_tokens": 24}}
    ///     ]
    /// }"#)?;
    ///
    /// let rejected = ScriptedModel::from_json(r#"{"turns": [{"txet": "Hello."}]}"#).unwrap_err();
    /// assert!(rejected.to_string().contains("/turns/0: unknown field `txet`"));
    /// # Ok::<_, haft_model::ScriptError>(())
    /// ```
    ///
    /// | key of a turn | meaning |
    /// |---|---|
    /// | `text` | the text of the answer |
    /// | `reasoning` | the reasoning before it |
    /// | `calls` | the tool calls; `arguments` are JSON, or its text, and `{}` if absent |
    /// | `turn` | a complete [`Turn`](haft_core::Turn), instead of these three |
    /// | `usage` | the usage of the turn |
    /// | `finish` | the reason why it ended; inferred from the calls if absent |
    /// | `error` | the error after the deltas: `kind` ([its word](crate::ModelError::kind)), `message`, `retry_after_ms`, `after_ms`, `param`, `source`, `provider`, `status`, `request_id` |
    /// | `then` | another end of the stream: `"incomplete"` ends it without a turn, `"pending"` never ends it |
    /// | `delay_ms` | the delay before the answer |
    /// | `expect` | the expected request, as [`Expect`] describes it: `model`, `instructions`, `tools`, `without_tools`, `tool_choice`, `items`, `last` |
    ///
    /// Any other key is rejected, also in nested objects, so that a typo is an error.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        file::read(text).map(Self::new)
    }

    /// Reads a script from a file of such JSON. Reading blocks the thread.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ScriptError> {
        file::read_file(path.as_ref()).map(Self::new)
    }

    /// Adds a turn at the end of the script.
    #[must_use = "the model is returned"]
    pub fn then(self, turn: impl Into<ScriptedTurn>) -> Self {
        self.script().turns.push_back(turn.into());
        self
    }

    /// Returns all requests so far, in order, including unexpected ones.
    ///
    /// Each request is complete. For a conversation of thousands of turns that is much more than the model stores; see
    /// [`request`](Self::request).
    #[must_use]
    pub fn requests(&self) -> Vec<TurnRequest> {
        self.script().requests.all()
    }

    /// Returns the request of this number, from zero; `None` if there were fewer.
    ///
    /// ```
    /// use haft_core::{Item, TurnRequest};
    /// use haft_executor::Toolkit;
    /// use haft_model::{ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let model = ScriptedModel::new(["Hello."]);
    /// let agent = TurnLoop::new(model.clone(), Toolkit::new());
    /// agent.start(TurnRequest::new("any", vec![Item::user("Hi!")])).finish().await;
    /// assert_eq!(model.request(0).unwrap().history.len(), 1);
    /// assert!(model.request(1).is_none());
    /// # }
    /// ```
    #[must_use]
    pub fn request(&self, number: usize) -> Option<TurnRequest> {
        self.script().requests.get(number)
    }

    /// Checks that every request was expected and that every turn was used. Call it at the end of a test.
    pub fn finish(&self) -> Result<(), ScriptFault> {
        let script = self.script();
        let turns = script.taken + script.turns.len();
        let fault = ScriptFault { faults: script.faults.clone(), unasked: (script.taken + 1..=turns).collect(), turns };
        if fault.faults.is_empty() && fault.unasked.is_empty() { Ok(()) } else { Err(fault) }
    }

    /// Takes the next turn for a request, which must be the one that the turn expects.
    fn take(&self, request: &TurnRequest) -> Result<ScriptedTurn, TurnFault> {
        let (turn, number, requests) = {
            let mut script = self.script();
            script.requests.push(request);
            let turn = script.turns.pop_front();
            script.taken += usize::from(turn.is_some());
            (turn, script.taken, script.requests.len())
        };
        // The checks are code of the test and may use this model, so the script is not locked while they run.
        let taken = match turn {
            None => Err(past_end(request, requests, number)),
            Some(mut turn) => {
                let checks = std::mem::take(&mut turn.checks).into_iter();
                let mut faults = Vec::new();
                let checked = isolated(|| checks.for_each(|check| faults.extend(check.faults(request))));
                if let Err(panicked) = checked {
                    let text = panicked.into_text();
                    faults.push(format!("a check panicked: {text}"));
                    self.script().faults.push(TurnFault::Unexpected { turn: number, faults });
                    resume_unwind(Box::new(text));
                }
                if faults.is_empty() { Ok(turn) } else { Err(TurnFault::Unexpected { turn: number, faults }) }
            }
        };
        self.script().faults.extend(taken.as_ref().err().cloned());
        taken
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LanguageModel for ScriptedModel {
    fn info(&self) -> ModelInfo {
        self.script().info.clone()
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        TurnStream::new(ScriptedStream::Unpolled { model: self.clone(), request: Box::new(request.clone()) })
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.script();
        let mut shown = f.debug_struct("ScriptedModel");
        shown.field("requests", &script.requests.len()).field("left", &script.turns).field("faults", &script.faults);
        shown.finish_non_exhaustive()
    }
}

fn past_end(request: &TurnRequest, requests: usize, turns: usize) -> TurnFault {
    let last = request.history.last().map(|item| serde_json::to_string(item).unwrap_or_default());
    let last = last.map_or_else(|| "nothing".to_owned(), |item| excerpt(&item, 0, MOST_SHOWN));
    TurnFault::PastEnd { request: requests, turns, last }
}
