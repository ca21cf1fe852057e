//! The span of one request to a model.

use haft_core::{Delta, Turn, TurnRequest, Usage};
use haft_executor::IsolatedSpan;
use haft_schema::isolation::isolated;
use tokio::time::Instant;
use tracing::{Level, Span, field};

use super::{ContentTracing, ModelTrace, content};
use crate::error::ModelError;
use crate::model_info::ModelInfo;

/// The open span of one request. If it is dropped, the request was cancelled, or the model panicked.
pub(super) struct ChatSpan {
    span: IsolatedSpan,
    trace: ModelTrace,
    info: ModelInfo,
    started: Instant,
    /// The time from the start to the first delta, in seconds.
    first_chunk: Option<f64>,
    /// The last usage that was reported.
    usage: Usage,
    state: ChatState,
}

/// The state of a request. It distinguishes a panic of the model from a stream that is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChatState {
    Waiting,
    /// Code of the model runs.
    Polling,
    Closed,
}

/// The end of a request.
#[derive(Clone, Copy)]
pub(super) enum ChatEnd<'a> {
    Turn(&'a Turn),
    Failed(&'a ModelError),
    /// The stream was dropped before its end, or panicked.
    Dropped(&'static str),
}

impl ChatSpan {
    pub(super) fn open(trace: ModelTrace, info: ModelInfo, request: &TurnRequest) -> Self {
        let span = IsolatedSpan::open(|| opened(trace, &info, request));
        Self {
            span,
            trace,
            info,
            started: Instant::now(),
            first_chunk: None,
            usage: Usage::default(),
            state: ChatState::Waiting,
        }
    }

    /// Runs code of the model inside the span.
    pub(super) fn within<T>(&mut self, work: impl FnOnce() -> T) -> T {
        self.state = ChatState::Polling;
        let entered = self.span.enter();
        let output = work();
        drop(entered);
        self.state = ChatState::Waiting;
        output
    }

    /// Takes note of a delta before the end.
    pub(super) fn observe(&mut self, delta: &Delta) {
        if self.first_chunk.is_none() {
            self.first_chunk = Some(self.started.elapsed().as_secs_f64());
        }
        if let Delta::UsageUpdate(usage) = delta {
            self.usage = *usage;
        }
    }

    /// Closes the span: the stream has ended.
    pub(super) fn close(mut self, end: ChatEnd<'_>) {
        self.record(end);
    }

    fn record(&mut self, end: ChatEnd<'_>) {
        self.state = ChatState::Closed;
        if let ChatEnd::Turn(turn) = end {
            self.usage = turn.usage;
        }
        // The subscriber is user code.
        drop(isolated(|| {
            let span = self.span.get();
            record_usage(span, &self.usage);
            if let Some(seconds) = self.first_chunk {
                span.record("gen_ai.response.time_to_first_chunk", seconds);
            }
            let _entered = self.span.enter();
            self.count(end);
            match end {
                ChatEnd::Turn(turn) => self.record_turn(turn),
                ChatEnd::Failed(error) => self.record_error(error),
                ChatEnd::Dropped(kind) => record_failure(span, kind),
            }
        }));
    }

    fn record_turn(&self, turn: &Turn) {
        let span = self.span.get();
        if let Some(id) = &turn.response_id {
            span.record("gen_ai.response.id", id.as_str());
        }
        if let Some(model) = &turn.model {
            span.record("gen_ai.response.model", model.as_str());
        }
        span.record("gen_ai.response.finish_reasons", content::texts([turn.finish.as_str()]));
        if self.trace.content == ContentTracing::Recorded {
            span.record("gen_ai.output.messages", content::output(turn));
        }
    }

    fn record_error(&self, error: &ModelError) {
        let span = self.span.get();
        record_failure(span, error.kind());
        if let Some(status) = error.status() {
            span.record("http.response.status_code", status);
        }
        if let Some(id) = error.request_id() {
            span.record("haft.request_id", id);
        }
        let cause = error.to_string();
        tracing::warn!(target: "haft", kind = error.kind(), cause, "the request to the model failed");
    }

    /// Emits the metrics of the request, as events whose fields are named for `tracing-opentelemetry` and compatible
    /// layers.
    fn count(&self, end: ChatEnd<'_>) {
        let (response_model, failed) = match end {
            ChatEnd::Turn(turn) => (turn.model.as_deref(), None),
            ChatEnd::Failed(error) => (None, Some(error.kind())),
            ChatEnd::Dropped(kind) => (None, Some(kind)),
        };
        let (provider, model) = (&*self.info.provider, self.info.model.as_deref());
        tracing::event!(
            target: "haft::metrics",
            Level::DEBUG,
            "histogram.gen_ai.client.operation.duration" = self.started.elapsed().as_secs_f64(),
            "histogram.gen_ai.client.operation.time_to_first_chunk" = self.first_chunk,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider,
            gen_ai.request.model = model,
            gen_ai.response.model = response_model,
            "error.type" = failed,
        );
        if self.usage == Usage::default() {
            return;
        }
        for (kind, tokens) in [("input", self.usage.input_tokens), ("output", self.usage.output_tokens)] {
            tracing::event!(
                target: "haft::metrics",
                Level::DEBUG,
                "histogram.gen_ai.client.token.usage" = tokens,
                "gen_ai.token.type" = kind,
                gen_ai.operation.name = "chat",
                gen_ai.provider.name = provider,
                gen_ai.request.model = model,
                gen_ai.response.model = response_model,
            );
        }
    }
}

impl Drop for ChatSpan {
    fn drop(&mut self) {
        match self.state {
            ChatState::Waiting => self.record(ChatEnd::Dropped("cancelled")),
            ChatState::Polling => self.record(ChatEnd::Dropped("panicked")),
            ChatState::Closed => {}
        }
    }
}

/// Opens the span of a request. The attributes that samplers use are set from the start.
fn opened(trace: ModelTrace, info: &ModelInfo, request: &TurnRequest) -> Span {
    let model = info.model.as_deref();
    let content = (trace.content == ContentTracing::Recorded).then_some(request);
    tracing::info_span!(
        target: "haft",
        "chat",
        otel.name = format!("chat {}", model.unwrap_or_default()).trim_end(),
        otel.kind = "client",
        otel.status_code = field::Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = &*info.provider,
        gen_ai.request.model = model,
        gen_ai.request.stream = true,
        gen_ai.request.temperature = request.temperature,
        gen_ai.request.top_p = request.top_p,
        gen_ai.request.max_tokens = request.max_output_tokens,
        gen_ai.request.stop_sequences = (!request.stop.is_empty()).then(|| content::texts(&request.stop)),
        "gen_ai.output.type" = request.output_format.as_ref().map(|_| "json"),
        gen_ai.system_instructions = content.and_then(content::instructions),
        gen_ai.input.messages = content.map(content::input),
        gen_ai.tool.definitions = content.and_then(content::tools),
        gen_ai.output.messages = field::Empty,
        gen_ai.response.id = field::Empty,
        gen_ai.response.model = field::Empty,
        gen_ai.response.finish_reasons = field::Empty,
        gen_ai.response.time_to_first_chunk = field::Empty,
        gen_ai.usage.input_tokens = field::Empty,
        gen_ai.usage.output_tokens = field::Empty,
        gen_ai.usage.cache_read.input_tokens = field::Empty,
        gen_ai.usage.cache_creation.input_tokens = field::Empty,
        gen_ai.usage.reasoning.output_tokens = field::Empty,
        http.response.status_code = field::Empty,
        haft.request_id = field::Empty,
        "error.type" = field::Empty,
    )
}

/// Records that the operation of a span failed.
pub(crate) fn record_failure(span: &Span, kind: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}

/// Records the usage on a span, unless it is unknown.
pub(crate) fn record_usage(span: &Span, usage: &Usage) {
    if *usage == Usage::default() {
        return;
    }
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    for (name, tokens) in [
        ("gen_ai.usage.cache_read.input_tokens", usage.cache_read_tokens),
        ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens),
    ] {
        if tokens > 0 {
            span.record(name, tokens);
        }
    }
}
