//! Loops that end with a value of a type.
//!
//! They are loops like any other, with one more step before they stop: see [`final_answer`](super::final_answer). The
//! type is known here only; the steps of the loop are compiled once.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use haft_executor::{Cancellation, RunOptions};
use haft_schema::{DecodeOptions, Repair, SchemaError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::TurnLoop;
use super::end::{LoopEnd, LoopOutcome};
use super::event::LoopEvent;
use super::final_answer::TypedAnswer;
use super::run::LoopRun;
use super::state::LoopState;
use crate::answer_format::{AnswerFormat, final_answer};
use crate::object::RE_ASKS;

impl TurnLoop {
    /// Turns the loop into one that ends with a value of the type `T`: the final answer of the model is read as `T`.
    ///
    /// The schema of the type becomes the [output format](haft_core::TurnRequest::output_format) of the requests; a
    /// format that the request has keeps its name, description and strictness. Before the loop stops, the last message
    /// of the model is checked as [`LanguageModelExt::object`](crate::LanguageModelExt::object) does. An invalid answer
    /// is sent back with its issues, [once](TypedLoop::re_asks) by default; [`LoopEvent::AnswerRejected`] reports it. Such a
    /// request is a turn of the loop, within its limits. If the answer is still invalid, was refused or cut off, the
    /// loop ends with a [`LoopError`](crate::LoopError).
    ///
    /// Only the end of the loop is checked: after a turn with calls the loop goes on, and a decide function that stops
    /// it there, or adds a message and stops, ends it without a value.
    ///
    /// The number of these requests is part of the state. A stored state that is started again in a loop of the type
    /// ends with the value, also if it had ended before.
    ///
    /// ```
    /// use haft_core::{Item, ToolCall, TurnRequest};
    /// use haft_executor::{Tool, Toolkit};
    /// use haft_model::{ScriptedModel, TurnLoop};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Sum {
    ///     total: i64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let add = Tool::new("add").handler(|(a, b): (i64, i64), _cx| async move { a + b })?;
    /// let model = ScriptedModel::default()
    ///     .then([ToolCall::new("c1", "add", "[19, 23]")])
    ///     .then("It is 42.")
    ///     .then(r#"{"total": 42}"#);
    /// let agent = TurnLoop::new(model, Toolkit::from_iter([add])).finish_as::<Sum>()?;
    ///
    /// let outcome = agent.start(TurnRequest::new("any", vec![Item::user("What is 19 + 23?")])).finish().await;
    /// assert_eq!(outcome.value.map(|sum| sum.total), Some(42));
    /// # Ok(())
    /// # }
    /// ```
    pub fn finish_as<T: DeserializeOwned + JsonSchema>(self) -> Result<TypedLoop<T>, SchemaError> {
        let answer = Arc::new(TypedAnswer { format: AnswerFormat::of::<T>()?, re_asks: RE_ASKS });
        Ok(TypedLoop { turn_loop: self, answer, value: PhantomData }.changed(|_| ()))
    }
}

/// A [`TurnLoop`] that ends with a value of the type `T`. See [`TurnLoop::finish_as`].
#[must_use = "a loop does nothing until it is started"]
pub struct TypedLoop<T> {
    /// The loop, whose settings contain the answer.
    turn_loop: TurnLoop,
    answer: Arc<TypedAnswer>,
    value: PhantomData<fn() -> T>,
}

/// A running [`TypedLoop`], as a stream of events. It is polled, cancelled and dropped as a [`LoopRun`].
#[must_use = "a loop does nothing unless it is polled"]
pub struct TypedRun<T> {
    run: LoopRun,
    answer: Arc<TypedAnswer>,
    value: PhantomData<fn() -> T>,
}

/// The end of a [`TypedLoop`], with its state and its value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TypedOutcome<T> {
    /// The reason why the loop ended.
    pub end: LoopEnd,
    /// The state: the conversation with everything that happened, and the calls that are open.
    pub state: LoopState,
    /// The value, if the loop [stopped](LoopEnd::Stopped) after an answer of the model.
    pub value: Option<T>,
    /// The repairs of the answer: a code fence that was removed, and those that the
    /// [options](TypedLoop::decode_options) allow.
    pub repairs: Vec<Repair>,
}

impl<T: DeserializeOwned> TypedLoop<T> {
    /// Sets how often the model is asked for a corrected answer over the life of a state; zero for never. Once by
    /// default.
    pub fn re_asks(self, most: u32) -> Self {
        self.changed(|answer| answer.re_asks = most)
    }

    /// Sets the limits and the allowed repairs of the answer.
    pub fn decode_options(self, options: DecodeOptions) -> Self {
        self.changed(|answer| answer.format.options = options)
    }

    /// Starts or continues a state, as [`TurnLoop::start`] does.
    pub fn start(&self, state: impl Into<LoopState>) -> TypedRun<T> {
        self.run(state.into(), |state| self.turn_loop.start(state))
    }

    /// Starts or continues a state with options of its conversation, as [`TurnLoop::start_with`] does.
    pub fn start_with(&self, state: impl Into<LoopState>, options: impl Into<RunOptions>) -> TypedRun<T> {
        self.run(state.into(), |state| self.turn_loop.start_with(state, options))
    }

    /// Returns the loop without its type, to add answers and verdicts to a state. Started itself, it makes the same
    /// checks.
    pub fn turn_loop(&self) -> &TurnLoop {
        &self.turn_loop
    }

    fn run(&self, mut state: LoopState, start: impl FnOnce(LoopState) -> LoopRun) -> TypedRun<T> {
        // The format does not change what the state is about, so a state that is done stays so.
        self.answer.format.apply(&mut state.request);
        TypedRun { run: start(state), answer: Arc::clone(&self.answer), value: PhantomData }
    }
}

impl<T> TypedLoop<T> {
    fn changed(mut self, change: impl FnOnce(&mut TypedAnswer)) -> Self {
        change(Arc::make_mut(&mut self.answer));
        let answer = Arc::clone(&self.answer);
        self.turn_loop = self.turn_loop.changed(|settings| settings.answer = Some(answer));
        self
    }
}

impl<T: DeserializeOwned> TypedRun<T> {
    /// Returns the next event; `None` after the last.
    pub async fn next(&mut self) -> Option<LoopEvent> {
        self.run.next().await
    }

    /// Returns the state, as [`LoopRun::state`] does.
    #[must_use]
    pub fn state(&self) -> LoopState {
        self.run.state()
    }

    /// Cancels the loop, as [`LoopRun::cancel`] does.
    pub fn cancel(&self) {
        self.run.cancel();
    }

    /// Returns the cancellation flag of this run, as [`LoopRun::cancellation`] does.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.run.cancellation()
    }

    /// Runs to the end, discards the events, and reads the value.
    pub async fn finish(self) -> TypedOutcome<T> {
        let LoopOutcome { end, state } = self.run.finish().await;
        // A state that is done ends with the answer that was checked. Any other end has none.
        let has_answer = end.is_stopped() && state.is_done();
        let read = has_answer.then(|| self.answer.format.read::<T>(&final_answer(state.history())));
        let (value, repairs) = read.and_then(Result::ok).unzip();
        TypedOutcome { end, state, value, repairs: repairs.unwrap_or_default() }
    }
}

impl<T> Stream for TypedRun<T> {
    type Item = LoopEvent;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<LoopEvent>> {
        Pin::new(&mut self.run).poll_next(task)
    }
}

impl<T> Clone for TypedLoop<T> {
    fn clone(&self) -> Self {
        Self { turn_loop: self.turn_loop.clone(), answer: Arc::clone(&self.answer), value: PhantomData }
    }
}

impl<T> fmt::Debug for TypedLoop<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedLoop").field("turn_loop", &self.turn_loop).field("re_asks", &self.answer.re_asks).finish()
    }
}

impl<T> fmt::Debug for TypedRun<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedRun").field(&self.run).finish()
    }
}
