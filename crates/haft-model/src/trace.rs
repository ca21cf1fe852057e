//! Spans and metrics of requests to models.
//!
//! One span per request, named and attributed by OpenTelemetry's conventions for generative AI (1.41). It is open from
//! the request until the stream has ended or is dropped, and is entered whenever the stream is polled, whichever task
//! does so. When it is closed, events with the target `haft::metrics` contain the duration and the usage. Without a
//! subscriber, a stream is not even wrapped: the check is one load of a static. A subscriber is user code and runs in
//! isolation.
//!
//! Models must not trace themselves: whoever asks them does.

mod chat;
mod content;

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use haft_core::{Delta, TurnRequest};

use self::chat::{ChatEnd, ChatSpan};
pub(crate) use self::chat::{record_failure, record_usage};
use crate::error::ModelError;
use crate::model::{LanguageModel, TurnStream};
use crate::model_info::ModelInfo;

/// Reports whether a subscriber is interested in spans. One that panics here is not.
macro_rules! is_heard {
    () => {
        tracing::Level::INFO <= tracing::level_filters::LevelFilter::current()
            && haft_schema::isolation::isolated(|| tracing::enabled!(target: "haft", tracing::Level::INFO)).unwrap_or(false)
    };
}
pub(crate) use is_heard;

/// The tracing of requests to models, with [`tracing`] and by OpenTelemetry's conventions for generative AI.
///
/// A [`TurnLoop`](crate::TurnLoop) and [`LanguageModelExt::object`](crate::LanguageModelExt::object) trace their
/// requests by themselves. Code that asks a model directly does so with [`stream_turn`](Self::stream_turn).
///
/// | span, of the target `haft` and the level `INFO` | one per | attributes |
/// |---|---|---|
/// | `invoke_agent {agent}` | run of a loop | agent name, provider and model, usage, `haft.turns`, `haft.calls`, `haft.end`, `error.type` |
/// | `chat {model}` | request to a model | `gen_ai.provider.name`, `gen_ai.request.*`, `gen_ai.response.*`, `gen_ai.usage.*`, `error.type`: [`ModelError::kind`], `cancelled` or `panicked` |
/// | `execute_tool {tool}` | call | `gen_ai.tool.*`, `error.type`: the kind of the failure |
///
/// Metrics are events with the target `haft::metrics` and the level `DEBUG`, whose fields are named for the metrics layer
/// of `tracing-opentelemetry`: `gen_ai.client.operation.duration`, `gen_ai.client.operation.time_to_first_chunk`,
/// `gen_ai.client.token.usage` by `gen_ai.token.type`, and `gen_ai.invoke_agent.duration`.
///
/// To export them, add the layers of `tracing-opentelemetry` to the subscriber of the program; nothing else is needed:
///
/// ```text
/// tracing_subscriber::registry()
///     .with(tracing_opentelemetry::layer().with_tracer(tracer))
///     .with(tracing_opentelemetry::MetricsLayer::new(meter_provider))
///     .init();
/// ```
///
/// Messages are private, so they are recorded on request only; see [`with_content`](Self::with_content).
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_executor::Toolkit;
/// use haft_model::{ModelTrace, ScriptedModel, TurnLoop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft_model::ModelError> {
/// let request = || TurnRequest::new("any", vec![Item::user("Hello?")]);
/// let model = ScriptedModel::new(["Hello.", "Hello."]);
/// let turn = ModelTrace::new().stream_turn(&model, &request()).into_turn().await?;
/// assert_eq!(turn.text(), "Hello.");
///
/// let agent = TurnLoop::new(model, Toolkit::new()).name("greeter").trace(ModelTrace::new().with_content());
/// assert!(agent.start(request()).finish().await.end.is_stopped());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelTrace {
    content: ContentTracing,
}

/// The handling of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ContentTracing {
    #[default]
    Omitted,
    Recorded,
}

impl ModelTrace {
    /// Creates a trace without messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the instructions, the messages and the names of the tools of each request, and the messages of its turn.
    ///
    /// The arguments and results of calls are left out: the middleware `Trace` records them, without what their schemas
    /// mark as secret. So are images, audio and files.
    #[must_use]
    pub fn with_content(self) -> Self {
        Self { content: ContentTracing::Recorded }
    }

    /// Requests one turn of a model, in a span.
    pub fn stream_turn(&self, model: &(impl LanguageModel + ?Sized), request: &TurnRequest) -> TurnStream {
        if is_heard!() { self.traced(&model, model.info(), request) } else { model.stream_turn(request) }
    }

    /// Requests one turn of a model whose names are known, in a span.
    pub(crate) fn stream_named(self, model: &dyn LanguageModel, info: &ModelInfo, request: &TurnRequest) -> TurnStream {
        if is_heard!() { self.traced(model, info.clone(), request) } else { model.stream_turn(request) }
    }

    #[cold]
    fn traced(self, model: &dyn LanguageModel, info: ModelInfo, request: &TurnRequest) -> TurnStream {
        let mut chat = ChatSpan::open(self, info.or_model(&request.model), request);
        let stream = chat.within(|| model.stream_turn(request));
        TurnStream::new(TracedStream { stream, chat: Some(chat) })
    }
}

/// A stream in its span.
struct TracedStream {
    /// Dropped before the span is closed.
    stream: TurnStream,
    /// Absent once the stream has ended.
    chat: Option<ChatSpan>,
}

impl Stream for TracedStream {
    type Item = Result<Delta, ModelError>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { stream, chat } = self.get_mut();
        let Some(open) = chat else { return Pin::new(stream).poll_next(task) };
        let polled = open.within(|| Pin::new(stream).poll_next(task));
        let Poll::Ready(next) = &polled else { return polled };
        let end = match next {
            Some(Ok(Delta::TurnComplete(turn))) => ChatEnd::Turn(turn),
            Some(Err(error)) => ChatEnd::Failed(error),
            None => ChatEnd::Failed(&ModelError::IncompleteTurn),
            Some(Ok(delta)) => {
                open.observe(delta);
                return polled;
            }
        };
        if let Some(chat) = chat.take() {
            chat.close(end);
        }
        polled
    }
}
