//! Asking a model for a value of a type.
//!
//! The type's schema becomes the output format of the request, and the answer is read by the same checks as the
//! arguments of a call. An invalid answer is not repaired silently: the model is asked again, with the issues. The
//! steps are compiled once; only the reading of the answer is compiled per type.

mod error;

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;

use haft_core::{Delta, Turn, TurnRequest, Usage};
use haft_schema::{DecodeOptions, Issues, Repair};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

pub use self::error::ObjectError;
use crate::answer_format::{AnswerFormat, NoAnswer, correction, final_answer};
use crate::error::ModelError;
use crate::model::{LanguageModel, TurnStream};
use crate::trace::ModelTrace;

/// The default number of requests for a corrected answer.
pub(crate) const RE_ASKS: u32 = 1;

/// Requests that build on [`LanguageModel::stream_turn`], for every model.
pub trait LanguageModelExt: LanguageModel {
    /// Asks for a value of the type `T`. Nothing is sent until the request is awaited.
    ///
    /// The schema of the type becomes the [output format](TurnRequest::output_format) of the request; a format that the
    /// request has keeps its name, description and strictness. The answer is the last message of the turn. It is read
    /// by the checks that the arguments of a call pass: limits, duplicate keys and every rule of the schema.
    ///
    /// An invalid answer is sent back with its issues, [once](ObjectRequest::re_asks) by default. A Markdown code fence
    /// around the whole answer is removed, which is reported as a [repair](ObjectAnswer::repairs); other text beside
    /// the JSON makes an answer invalid.
    ///
    /// A request that fails is not retried, and calls are not run: a [`TurnLoop`](crate::TurnLoop) does both, and ends
    /// with a value by [`finish_as`](crate::TurnLoop::finish_as).
    ///
    /// ```
    /// use haft_core::{Item, TurnRequest};
    /// use haft_model::{LanguageModelExt, ScriptedModel};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Forecast {
    ///     city: String,
    ///     #[schemars(range(min = 1, max = 14))]
    ///     days: u8,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), haft_model::ObjectError> {
    /// let model = ScriptedModel::new([r#"{"city": "Paris", "days": 30}"#, r#"{"city": "Paris", "days": 3}"#]);
    /// let answer = model.object::<Forecast>(TurnRequest::new("any", vec![Item::user("Paris, three days.")])).await?;
    /// assert_eq!((answer.value.city.as_str(), answer.value.days), ("Paris", 3));
    /// assert_eq!(answer.turns.len(), 2);
    /// assert!(format!("{:?}", model.requests()[1].history).contains("/days: must be at most 14"));
    /// # Ok(())
    /// # }
    /// ```
    fn object<T: DeserializeOwned + JsonSchema>(&self, request: TurnRequest) -> ObjectRequest<'_, T> {
        ObjectRequest {
            // A reference to a model is a model, of any size.
            model: Box::new(self),
            request,
            re_asks: RE_ASKS,
            options: DecodeOptions::default(),
            trace: ModelTrace::new(),
            value: PhantomData,
        }
    }
}

impl<M: LanguageModel + ?Sized> LanguageModelExt for M {}

/// A request for a value, which is sent when it is awaited. See [`LanguageModelExt::object`].
#[must_use = "a model is not asked until the request is awaited"]
pub struct ObjectRequest<'m, T> {
    model: Box<dyn LanguageModel + 'm>,
    request: TurnRequest,
    re_asks: u32,
    options: DecodeOptions,
    trace: ModelTrace,
    value: PhantomData<fn() -> T>,
}

/// A value that a model answered with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ObjectAnswer<T> {
    /// The value.
    pub value: T,
    /// The repairs of the answer: a code fence that was removed, and those that the
    /// [options](ObjectRequest::options) allow.
    pub repairs: Vec<Repair>,
    /// The turns of the model. The last one contains the value, those before it answers that were invalid.
    pub turns: Vec<Turn>,
    /// The usage of all turns.
    pub usage: Usage,
}

impl<T> ObjectRequest<'_, T> {
    /// Sets how often the model is asked for a corrected answer; zero for never. Once by default.
    pub fn re_asks(mut self, most: u32) -> Self {
        self.re_asks = most;
        self
    }

    /// Sets the limits and the allowed repairs of the answer.
    pub fn options(mut self, options: DecodeOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets how the requests are traced: without messages by default.
    pub fn trace(mut self, trace: ModelTrace) -> Self {
        self.trace = trace;
        self
    }
}

impl<'m, T> IntoFuture for ObjectRequest<'m, T>
where
    T: DeserializeOwned + JsonSchema + Send + 'm,
{
    type Output = Result<ObjectAnswer<T>, ObjectError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'm>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { model, request, re_asks, options, trace, .. } = self;
        Box::pin(async move {
            let mut format = AnswerFormat::of::<T>().map_err(ObjectError::Schema)?;
            format.options = options;
            let mut conversation =
                Conversation { model: &*model, trace, request, re_asks, turns: Vec::new(), usage: Usage::default() };
            format.apply(&mut conversation.request);
            let mut read = None;
            conversation.ask(&mut |answer| format.read::<T>(answer).map(|value| read = Some(value))).await?;
            let Conversation { turns, usage, .. } = conversation;
            match read {
                Some((value, repairs)) => Ok(ObjectAnswer { value, repairs, turns, usage }),
                // Only an answer that was read ends the conversation without an error.
                None => Err(ObjectError::Invalid { issues: Issues::default(), text: String::new(), usage }),
            }
        })
    }
}

impl<T> fmt::Debug for ObjectRequest<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectRequest")
            .field("request", &self.request)
            .field("re_asks", &self.re_asks)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The requests for one value.
struct Conversation<'m> {
    model: &'m dyn LanguageModel,
    trace: ModelTrace,
    request: TurnRequest,
    /// The number of corrections that may still be asked for.
    re_asks: u32,
    turns: Vec<Turn>,
    usage: Usage,
}

/// Reads an answer and keeps its value.
type ReadAnswer<'r> = dyn FnMut(&str) -> Result<(), Issues> + Send + 'r;

impl Conversation<'_> {
    /// Asks until an answer is valid.
    async fn ask(&mut self, read: &mut ReadAnswer<'_>) -> Result<(), ObjectError> {
        loop {
            let turn = self.turn().await?;
            let text = self.answer(&turn)?;
            let Err(issues) = read(&text) else {
                self.turns.push(turn);
                return Ok(());
            };
            let Some(left) = self.re_asks.checked_sub(1) else {
                return Err(ObjectError::Invalid { issues, text, usage: self.usage });
            };
            self.re_asks = left;
            // Providers reject an empty message in a history.
            if !text.is_empty() {
                self.request.history.extend(turn.items.iter().cloned());
            }
            self.request.history.push(correction(&issues));
            self.turns.push(turn);
        }
    }

    /// Requests one turn, and counts its usage.
    async fn turn(&mut self) -> Result<Turn, ObjectError> {
        let mut usage = Usage::default();
        let turn = read_turn(self.trace.stream_turn(self.model, &self.request), &mut usage).await;
        self.usage += turn.as_ref().map_or(usage, |turn| turn.usage);
        turn.map_err(|source| ObjectError::Model { source, usage: self.usage })
    }

    /// Returns the text of the answer in a turn.
    fn answer(&self, turn: &Turn) -> Result<String, ObjectError> {
        let usage = self.usage;
        match NoAnswer::of(turn) {
            Some(NoAnswer::Refused(text)) => return Err(ObjectError::Refused { text, usage }),
            Some(NoAnswer::CutOff(finish)) => {
                return Err(ObjectError::CutOff { finish, text: final_answer(&turn.items), usage });
            }
            None => {}
        }
        let calls = turn.tool_calls();
        if calls.is_empty() { Ok(final_answer(&turn.items)) } else { Err(ObjectError::CalledTools { calls, usage }) }
    }
}

/// Reads a stream to its turn. The usage is the last one that was reported.
async fn read_turn(mut stream: TurnStream, usage: &mut Usage) -> Result<Turn, ModelError> {
    while let Some(delta) = stream.next().await {
        match delta? {
            Delta::TurnComplete(turn) => return Ok(*turn),
            Delta::UsageUpdate(update) => *usage = update,
            _ => {}
        }
    }
    Err(ModelError::IncompleteTurn)
}
