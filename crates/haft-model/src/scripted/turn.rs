//! One turn of a script.
//!
//! It defines the content of the turn, the end of the stream, the delay before it and the expected request. Each is
//! used once.

use std::fmt;
use std::time::Duration;

use haft_core::{Delta, Finish, Item, Reasoning, ToolCall, Turn, TurnRequest, Usage};
use haft_executor::BoxError;

use super::expect::Expect;
use crate::error::ModelError;

/// One answer of a [`ScriptedModel`](crate::ScriptedModel), with the request that it expects.
///
/// ```
/// use std::time::Duration;
/// use haft_core::{Finish, ToolCall, TurnRequest, Usage};
/// use haft_model::{Expect, ModelError, ScriptedTurn};
///
/// // Text, calls and errors convert into turns.
/// let turns: [ScriptedTurn; 3] = [
///     "It is noon.".into(),
///     [ToolCall::new("c1", "get_time", "{}")].into(),
///     ModelError::Authentication { message: "no such key".into() }.into(),
/// ];
///
/// // Everything else is set with methods.
/// let turn = ScriptedTurn::text("It is noon, and")
///     .reasoning("The sun is high.")
///     .usage(Usage::new(20, 5))
///     .finish(Finish::Length)
///     .delay(Duration::from_secs(2))
///     .expect(Expect::new().tools(["get_time"]))
///     .check(|request: &TurnRequest| match request.temperature {
///         Some(_) => Ok(()),
///         None => Err("the temperature must be set"),
///     });
/// ```
#[must_use = "a turn does nothing until a script holds it"]
pub struct ScriptedTurn {
    pub(super) turn: Turn,
    /// The deltas before the turn; unset if they are created from it.
    pub(super) deltas: Option<Vec<Delta>>,
    pub(super) end: End,
    pub(super) delay: Duration,
    pub(super) checks: Vec<RequestCheck>,
}

/// The end of a scripted stream.
#[derive(Debug)]
pub(super) enum End {
    /// The complete turn.
    Complete,
    /// No turn, as after a lost connection.
    Incomplete,
    /// An error.
    Failed(ModelError),
    /// No end: the stream stays pending.
    Pending,
}

type CheckFn = dyn FnOnce(&TurnRequest) -> Result<(), BoxError> + Send;

/// A check of the request.
pub(super) enum RequestCheck {
    /// A check by data.
    Expect(Expect),
    /// A check by code.
    Run(Box<CheckFn>),
}

impl ScriptedTurn {
    /// Creates a turn of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Turn::new(vec![Item::assistant(text)], Finish::Stop))
    }

    /// Creates a turn of tool calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::of(Turn::new(calls.into_iter().map(Item::from).collect(), Finish::ToolCalls))
    }

    /// Creates a turn that fails with an error.
    pub fn failed(error: ModelError) -> Self {
        Self::empty().then_failed(error)
    }

    /// Creates a turn that never arrives: the stream stays pending until it is dropped.
    pub fn pending() -> Self {
        Self::empty().then_pending()
    }

    /// Sets the usage, which is also streamed.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.turn.usage = usage;
        self
    }

    /// Sets the reason why the turn ended.
    pub fn finish(mut self, finish: Finish) -> Self {
        self.turn.finish = finish;
        self
    }

    /// Adds reasoning before everything else.
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.turn.items.insert(0, Reasoning::text(text).into());
        self
    }

    /// Adds a call at the end.
    pub fn call(mut self, call: ToolCall) -> Self {
        self.turn.items.push(call.into());
        self.turn.finish = Finish::ToolCalls;
        self
    }

    /// Streams these deltas before the complete turn, in place of those that are created from it: interleaved parts,
    /// for example, or deltas that do not add up.
    ///
    /// ```
    /// use haft_core::{Delta, Item, TurnRequest};
    /// use haft_model::{LanguageModel, ScriptedModel, ScriptedTurn};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), haft_model::ModelError> {
    /// let piece = |text: &str, part| Delta::TextDelta { text: text.to_owned(), part };
    /// let turn = ScriptedTurn::text("Hi, you").deltas([piece("Hi", 0), piece("you", 1), piece(", ", 0)]);
    /// let mut stream = ScriptedModel::new([turn]).stream_turn(&TurnRequest::new("any", vec![Item::user("?")]));
    /// assert_eq!(stream.next().await.transpose()?, Some(piece("Hi", 0)));
    /// assert_eq!(stream.into_turn().await?.text(), "Hi, you");
    /// # Ok(())
    /// # }
    /// ```
    pub fn deltas(mut self, deltas: impl IntoIterator<Item = Delta>) -> Self {
        self.deltas = Some(deltas.into_iter().collect());
        self
    }

    /// Sets the delay before the answer. It uses tokio's clock, so a test with paused time does not wait.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Ends the stream with an error instead of the complete turn.
    pub fn then_failed(mut self, error: ModelError) -> Self {
        self.end = End::Failed(error);
        self
    }

    /// Keeps the stream pending instead of ending it with the complete turn.
    pub fn then_pending(mut self) -> Self {
        self.end = End::Pending;
        self
    }

    /// Ends the stream without the turn, as after a lost connection.
    pub fn incomplete(mut self) -> Self {
        self.end = End::Incomplete;
        self
    }

    /// Adds an expectation of the request.
    pub fn expect(mut self, expect: Expect) -> Self {
        self.checks.push(RequestCheck::Expect(expect));
        self
    }

    /// Adds a check of the request by code. The error describes the problem. A panic is passed on to the caller of the
    /// model, and counts as a fault too.
    pub fn check<E: Into<BoxError>>(
        mut self,
        check: impl FnOnce(&TurnRequest) -> Result<(), E> + Send + 'static,
    ) -> Self {
        self.checks.push(RequestCheck::Run(Box::new(|request| check(request).map_err(Into::into))));
        self
    }

    pub(super) fn empty() -> Self {
        Self::of(Turn::new(Vec::new(), Finish::Stop))
    }

    fn of(turn: Turn) -> Self {
        Self { turn, deltas: None, end: End::Complete, delay: Duration::ZERO, checks: Vec::new() }
    }
}

impl RequestCheck {
    /// Returns every problem of the request.
    pub(super) fn faults(self, request: &TurnRequest) -> Vec<String> {
        match self {
            Self::Expect(expect) => expect.faults(request),
            Self::Run(check) => check(request).err().iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<Turn> for ScriptedTurn {
    fn from(turn: Turn) -> Self {
        Self::of(turn)
    }
}

impl From<&str> for ScriptedTurn {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ScriptedTurn {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<ToolCall> for ScriptedTurn {
    fn from(call: ToolCall) -> Self {
        Self::calls([call])
    }
}

impl From<Vec<ToolCall>> for ScriptedTurn {
    fn from(calls: Vec<ToolCall>) -> Self {
        Self::calls(calls)
    }
}

impl<const N: usize> From<[ToolCall; N]> for ScriptedTurn {
    fn from(calls: [ToolCall; N]) -> Self {
        Self::calls(calls)
    }
}

impl From<ModelError> for ScriptedTurn {
    fn from(error: ModelError) -> Self {
        Self::failed(error)
    }
}

impl fmt::Debug for ScriptedTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ScriptedTurn");
        shown.field("turn", &self.turn).field("deltas", &self.deltas);
        shown.field("end", &self.end).field("delay", &self.delay);
        shown.field("checks", &self.checks).finish()
    }
}

impl fmt::Debug for RequestCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expect(expect) => expect.fmt(f),
            Self::Run(_) => f.write_str("Fn(..)"),
        }
    }
}
