//! The tracing span of a call.
//!
//! One span per call, named and attributed by OpenTelemetry's conventions for generative AI. It is open from the lookup
//! of the tool until the call has its result. Without a subscriber, opening it is one load of a static, and nothing
//! below is computed. When a call ends, one event with the target `haft::metrics` contains its metrics: the call, the
//! kind of its failure, the time it waited and ran. The description, arguments and results are left
//! empty here, so that lines of a log stay short: the middleware `Trace` records them on request.

use haft_core::{FailureClass, Outcome, ToolCall, ToolFailure, ToolName};
use haft_schema::isolation::isolated;
use tokio::time::Instant;
use tracing::{Level, field};

use super::listener::{IsolatedSpan, is_heard};
use crate::tool::{Tool, ToolKind};

/// The span of one call, if a subscriber is interested. Small, as mostly there is none.
pub(super) struct CallSpan(Option<Box<OpenSpan>>);

/// An open span, and the times of its call.
struct OpenSpan {
    span: IsolatedSpan,
    /// The name of the tool, if it exists: a name that a model invented must not become a metric.
    tool: Option<ToolName>,
    requested: Instant,
    started: Option<Instant>,
}

impl CallSpan {
    /// Creates a disabled span.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Opens the span of a call. `tool` is unset if the tool does not exist.
    #[inline]
    pub(super) fn open(call: &ToolCall, tool: Option<&Tool>) -> Self {
        if is_heard!("haft", Level::INFO) { Self::opened(call, tool) } else { Self::none() }
    }

    #[cold]
    fn opened(call: &ToolCall, tool: Option<&Tool>) -> Self {
        let kind = match tool.map(Tool::kind) {
            Some(ToolKind::Provider(_)) => "extension",
            _ => "function",
        };
        let name = call.name.as_str();
        let span = IsolatedSpan::open(|| {
            tracing::info_span!(
                target: "haft",
                "execute_tool",
                otel.name = format_args!("execute_tool {name}"),
                otel.kind = "internal",
                otel.status_code = field::Empty,
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = name,
                "gen_ai.tool.type" = kind,
                gen_ai.tool.description = field::Empty,
                gen_ai.tool.call.id = call.call_id.as_str(),
                gen_ai.tool.call.arguments = field::Empty,
                gen_ai.tool.call.result = field::Empty,
                "error.type" = field::Empty,
                haft.started = field::Empty,
                haft.rule = field::Empty,
                haft.queue_seconds = field::Empty,
                haft.run_seconds = field::Empty,
            )
        });
        let tool = tool.map(|tool| tool.shared_name().clone());
        Self(Some(Box::new(OpenSpan { span, tool, requested: Instant::now(), started: None })))
    }

    /// Opens and closes the span of a call that ended before anything of it started.
    pub(super) fn record_unstarted(call: &ToolCall, outcome: &Outcome) {
        Self::open(call, None).end(outcome);
    }

    /// Returns another handle to the span, for a separate task.
    pub(super) fn to_span(&self) -> IsolatedSpan {
        self.0.as_ref().map_or_else(IsolatedSpan::none, |open| open.span.another())
    }

    /// Runs a function inside the span.
    #[inline]
    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _entered = self.0.as_ref().and_then(|open| open.span.enter());
        work()
    }

    /// Records that the handler starts now.
    #[inline]
    pub(super) fn begin(&mut self) {
        if let Some(open) = &mut self.0 {
            open.started = Some(Instant::now());
        }
    }

    /// Records the permit's rule that denied the call.
    pub(super) fn record_rule(&self, rule: &str) {
        if let Some(open) = &self.0 {
            // The subscriber is user code.
            drop(isolated(|| open.span.get().record("haft.rule", rule)));
        }
    }

    /// Closes the span: the call has its result.
    #[inline]
    pub(super) fn end(&mut self, outcome: &Outcome) {
        if let Some(open) = self.0.take() {
            // The subscriber is user code.
            drop(isolated(move || open.close(outcome)));
        }
    }
}

impl OpenSpan {
    fn close(self, outcome: &Outcome) {
        let now = Instant::now();
        let started = self.started.unwrap_or(now);
        let (queue, run) = ((started - self.requested).as_secs_f64(), (now - started).as_secs_f64());
        self.span.get().record("haft.queue_seconds", queue);
        self.span.get().record("haft.run_seconds", run);
        self.count(outcome, queue, run);
        if let Outcome::Failed(failure) = outcome {
            self.record_failure(failure);
        }
    }

    /// Emits the metrics of the call, as an event whose fields are named for `tracing-opentelemetry` and compatible
    /// layers.
    fn count(&self, outcome: &Outcome, queue_seconds: f64, run_seconds: f64) {
        let failed = outcome.failure().map(|failure| failure.kind.as_str());
        let _entered = self.span.enter();
        tracing::event!(
            target: "haft::metrics",
            Level::DEBUG,
            monotonic_counter.haft.tool.calls = 1_u64,
            gen_ai.tool.name = self.tool.as_ref().map(ToolName::as_str),
            "error.type" = failed,
            "monotonic_counter.haft.tool.failures" = failed.map(|_| 1_u64),
            "histogram.haft.tool.queue_seconds" = queue_seconds,
            "histogram.haft.tool.run_seconds" = run_seconds,
        );
    }

    fn record_failure(&self, failure: &ToolFailure) {
        let span = self.span.get();
        span.record("otel.status_code", "ERROR");
        span.record("error.type", failure.kind.as_str());
        span.record("haft.started", failure.started);
        let cause = failure.cause_chain();
        // Internal errors need the operator's attention; rejections and mistakes of a model are only informative.
        let _entered = self.span.enter();
        match failure.kind.class() {
            FailureClass::Internal => {
                tracing::warn!(target: "haft", kind = failure.kind.as_str(), cause, "the call failed");
            }
            _ => tracing::info!(target: "haft", kind = failure.kind.as_str(), cause, "the call failed"),
        }
    }
}
