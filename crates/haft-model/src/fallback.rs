//! A model that asks another one when it is unavailable.
//!
//! The decision is made per request and before the first delta: what a reader was shown is never replaced by the words of
//! another model. Nothing is retried here; the loop does that.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft_core::{Delta, TurnRequest};

use crate::delta_sender::DeltaSender;
use crate::error::ModelError;
use crate::model::{LanguageModel, TurnStream};
use crate::model_info::ModelInfo;

/// The default longest wait that a rate limit may ask for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A model that asks a second one when the first is unavailable. Nest it for more: `Fallback::new(a, Fallback::new(b, c))`.
///
/// Each request goes to the first model. The second one is asked if the first is overloaded, down or unreachable, times
/// out, ends before its first delta, has used up its quota, or limits the rate for longer than the
/// [patience](Fallback::patience), or without saying for how long. Any other error is returned: a wrong key or an invalid
/// request must not go unnoticed. After the first delta with content nothing is switched either, and the error is returned.
///
/// The second model reads the same conversation. What it can't be sent, such as reasoning that the first one signed, is left
/// out and reported by its own [`on_report`](crate::HttpModel::on_report). Name its model on the client, with `.model(…)`:
/// the model of the request is that of the first.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_model::{Fallback, LanguageModel, ModelError, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ModelError> {
/// let down = ScriptedModel::new([ModelError::Unavailable { message: "overloaded".into(), retry_after: None, source: None }]);
/// let model = Fallback::new(down, ScriptedModel::new(["Hello from the other one."]))
///     .on_switch(|switch| assert_eq!(switch.error.kind(), "unavailable"));
/// let turn = model.stream_turn(&TurnRequest::new("any", vec![Item::user("Hello?")])).into_turn().await?;
/// assert_eq!(turn.text(), "Hello from the other one.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a model does nothing until it is asked"]
pub struct Fallback {
    first: Arc<dyn LanguageModel>,
    second: Arc<dyn LanguageModel>,
    patience: Duration,
    reporter: Option<Arc<SwitchFn>>,
}

/// The function that is told about switches.
type SwitchFn = dyn Fn(&ModelSwitch<'_>) + Send + Sync;

/// A request that goes to the second model.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ModelSwitch<'s> {
    /// The first model.
    pub from: &'s ModelInfo,
    /// The second model.
    pub to: &'s ModelInfo,
    /// The error of the first model.
    pub error: &'s ModelError,
}

impl Fallback {
    /// Creates a model that asks the second one when the first is unavailable.
    pub fn new(first: impl LanguageModel + 'static, second: impl LanguageModel + 'static) -> Self {
        Self { first: Arc::new(first), second: Arc::new(second), patience: PATIENCE, reporter: None }
    }

    /// Sets the longest wait that a rate limit of the first model may ask for; ten seconds by default. Up to it the error is
    /// returned, and the loop waits and asks the first model again.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets a function that is told about each request that goes to the second model. Without one, switches are logged as
    /// warnings of [`tracing`].
    pub fn on_switch(mut self, report: impl Fn(&ModelSwitch<'_>) + Send + Sync + 'static) -> Self {
        self.reporter = Some(Arc::new(report));
        self
    }

    /// Reports whether the second model is asked after this error.
    fn switches(&self, error: &ModelError) -> bool {
        match error {
            ModelError::Unavailable { .. }
            | ModelError::TimedOut { .. }
            | ModelError::IncompleteTurn
            | ModelError::QuotaExceeded { .. } => true,
            ModelError::RateLimited { retry_after, .. } => retry_after.is_none_or(|wait| wait > self.patience),
            ModelError::InvalidRequest { .. }
            | ModelError::ContextTooLong { .. }
            | ModelError::ContentFiltered { .. }
            | ModelError::Authentication { .. }
            | ModelError::UnknownModel { .. }
            | ModelError::Unsupported { .. }
            | ModelError::Unreadable { .. }
            | ModelError::Cancelled
            | ModelError::OffScript { .. } => false,
        }
    }

    async fn ask(&self, first: TurnStream, request: TurnRequest, out: DeltaSender) -> Result<(), ModelError> {
        let error = match forward(first, &out).await {
            Ok(()) => return Ok(()),
            Err(StreamFailure { error, is_shown }) if is_shown || !self.switches(&error) => return Err(error),
            Err(StreamFailure { error, .. }) => error,
        };
        let (from, to) = (self.first.info().or_model(&request.model), self.second.info());
        match &self.reporter {
            Some(report) => report(&ModelSwitch { from: &from, to: &to, error: &error }),
            None => tracing::warn!(%from, %to, %error, "asking the second model of a fallback"),
        }
        let second = self.second.stream_turn(&for_second(request, &to));
        forward(second, &out).await.map_err(|failure| failure.error)
    }
}

/// The error of a stream.
struct StreamFailure {
    error: ModelError,
    /// True if content was forwarded before.
    is_shown: bool,
}

/// Forwards the deltas of an answer up to its turn.
async fn forward(mut answer: TurnStream, out: &DeltaSender) -> Result<(), StreamFailure> {
    let mut is_shown = false;
    while let Some(next) = answer.next().await {
        let delta = next.map_err(|error| StreamFailure { error, is_shown })?;
        let is_last = matches!(delta, Delta::TurnComplete(_));
        // A count of tokens is no content. All that is known of the failed request is worth counting.
        is_shown |= !matches!(delta, Delta::UsageUpdate(_));
        out.send(delta).await.map_err(|error| StreamFailure { error, is_shown })?;
        if is_last {
            return Ok(());
        }
    }
    Err(StreamFailure { error: ModelError::IncompleteTurn, is_shown })
}

/// Returns the request for the second model, which answers with the model of its client if it has one.
fn for_second(mut request: TurnRequest, to: &ModelInfo) -> TurnRequest {
    if to.model.is_some() {
        request.model.clear();
    }
    request
}

impl LanguageModel for Fallback {
    fn info(&self) -> ModelInfo {
        self.first.info()
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        let (fallback, first, request) = (self.clone(), self.first.stream_turn(request), request.clone());
        TurnStream::spawn(|out| async move { fallback.ask(first, request, out).await })
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback")
            .field("first", &self.first.info())
            .field("second", &self.second.info())
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
