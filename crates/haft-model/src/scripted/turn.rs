//! One answer of a script.
//!
//! It is what a turn would hold, how the stream ends, when it begins, and what must have been asked. Each is used once.

use std::fmt;
use std::time::Duration;

use haft_core::{BoxError, Finish, Item, Reasoning, ToolCall, Turn, TurnRequest, Usage};

use super::expect::Expect;
use crate::error::ModelError;

/// One answer of a [`ScriptedModel`](crate::ScriptedModel), with what it expects to be asked.
///
/// ```
/// use std::time::Duration;
/// use haft_core::{Finish, ToolCall, TurnRequest, Usage};
/// use haft_model::{Expect, ModelError, ScriptedTurn};
///
/// // Whatever says what is answered is a turn of a script.
/// let turns: [ScriptedTurn; 3] = [
///     "It is noon.".into(),
///     [ToolCall::new("c1", "get_time", "{}")].into(),
///     ModelError::Authentication { message: "no such key".into() }.into(),
/// ];
///
/// // The rest is added.
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
    pub(super) end: End,
    pub(super) delay: Duration,
    pub(super) checks: Vec<RequestCheck>,
}

/// How the stream of an answer ends.
#[derive(Debug)]
pub(super) enum End {
    /// With the whole turn.
    Complete,
    /// With nothing: the connection is gone.
    Incomplete,
    /// With an error.
    Failed(ModelError),
    /// Never.
    Pending,
}

type CheckFn = dyn FnOnce(&TurnRequest) -> Result<(), BoxError> + Send;

/// What must be true of a request.
pub(super) enum RequestCheck {
    /// Said as data.
    Expect(Expect),
    /// Said in code.
    Run(Box<CheckFn>),
}

impl ScriptedTurn {
    /// The model says something and is done.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Turn::new(vec![Item::assistant(text)], Finish::Stop))
    }

    /// The model asks for calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::of(Turn::new(calls.into_iter().map(Item::from).collect(), Finish::ToolCalls))
    }

    /// The model gives no answer, and says why.
    pub fn failed(error: ModelError) -> Self {
        Self::nothing().then_failed(error)
    }

    /// The model never answers: the stream stays pending until it is dropped.
    pub fn pending() -> Self {
        Self::nothing().then_pending()
    }

    /// The same turn with what it cost, which is also streamed.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.turn.usage = usage;
        self
    }

    /// The same turn, ended for another reason.
    pub fn finish(mut self, finish: Finish) -> Self {
        self.turn.finish = finish;
        self
    }

    /// The same turn, with something thought before everything else.
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.turn.items.insert(0, Reasoning::text(text).into());
        self
    }

    /// The same turn, with one more call at its end.
    pub fn call(mut self, call: ToolCall) -> Self {
        self.turn.items.push(call.into());
        self.turn.finish = Finish::ToolCalls;
        self
    }

    /// The same turn, answered only after a while. The wait is tokio's, so a test with paused time does not wait.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The same turn, failing after what it streams so far instead of being completed.
    pub fn then_failed(mut self, error: ModelError) -> Self {
        self.end = End::Failed(error);
        self
    }

    /// The same turn, staying pending after what it streams so far instead of being completed.
    pub fn then_pending(mut self) -> Self {
        self.end = End::Pending;
        self
    }

    /// The same turn, whose stream ends without it: what is left when a connection breaks.
    pub fn incomplete(mut self) -> Self {
        self.end = End::Incomplete;
        self
    }

    /// The same turn, expecting one thing more of the request.
    pub fn expect(mut self, expect: Expect) -> Self {
        self.checks.push(RequestCheck::Expect(expect));
        self
    }

    /// The same turn, checking the request once more by code. The error says what is wrong with it. A panic goes on to whoever
    /// asked, and is a fault all the same.
    pub fn check<E: Into<BoxError>>(
        mut self,
        check: impl FnOnce(&TurnRequest) -> Result<(), E> + Send + 'static,
    ) -> Self {
        self.checks.push(RequestCheck::Run(Box::new(|request| check(request).map_err(Into::into))));
        self
    }

    pub(super) fn nothing() -> Self {
        Self::of(Turn::new(Vec::new(), Finish::Stop))
    }

    fn of(turn: Turn) -> Self {
        Self { turn, end: End::Complete, delay: Duration::ZERO, checks: Vec::new() }
    }
}

impl RequestCheck {
    /// Everything that is not as expected.
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
        shown.field("turn", &self.turn).field("end", &self.end).field("delay", &self.delay);
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
