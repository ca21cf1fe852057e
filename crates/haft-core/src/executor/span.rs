//! What tracing sees of a call.
//!
//! One span per call, named and attributed by OpenTelemetry's conventions for generative AI. It is open from the moment
//! the call is looked up until it has its result. When nobody listens, opening it is one load of a static, and nothing
//! below is computed. When a call ends, one event with the target `haft::metrics` carries its metrics: that it was called,
//! the kind of its failure, how long it waited and ran. Arguments and results are left empty here:
//! [`Trace`](crate::Trace) fills them for those who ask.

use tokio::time::Instant;
use tracing::{Level, field};

use super::failure_class::FailureClass;
use super::isolation::isolated;
use super::listener::{IsolatedSpan, is_heard};
use crate::call::ToolCall;
use crate::cause::cause_chain;
use crate::failure::ToolFailure;
use crate::result::Outcome;
use crate::tool::{Tool, ToolKind, ToolName};

/// The span of one call, if somebody listens. Small, as mostly nobody does.
pub(super) struct CallSpan(Option<Box<Open>>);

/// An open span, and when things happened to its call.
struct Open {
    span: IsolatedSpan,
    /// The name of the tool, if there is such a tool: what a model made up must not become a metric of its own.
    tool: Option<ToolName>,
    asked: Instant,
    began: Option<Instant>,
}

impl CallSpan {
    /// A span that nobody sees.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// The span of a call, of a tool or of none that exists.
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
                gen_ai.tool.description = tool.and_then(Tool::description),
                gen_ai.tool.call.id = call.call_id.as_str(),
                gen_ai.tool.call.arguments = field::Empty,
                gen_ai.tool.call.result = field::Empty,
                "error.type" = field::Empty,
                haft.started = field::Empty,
                haft.queue_seconds = field::Empty,
                haft.run_seconds = field::Empty,
            )
        });
        let tool = tool.map(|tool| tool.shared_name().clone());
        Self(Some(Box::new(Open { span, tool, asked: Instant::now(), began: None })))
    }

    /// The span of a call that ends where nothing of it has begun.
    pub(super) fn pass(call: &ToolCall, outcome: &Outcome) {
        Self::open(call, None).end(outcome);
    }

    /// The span, for a task of its own.
    pub(super) fn to_span(&self) -> IsolatedSpan {
        self.0.as_ref().map_or_else(IsolatedSpan::none, |open| open.span.another())
    }

    /// Does something inside the span.
    #[inline]
    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _entered = self.0.as_ref().and_then(|open| open.span.enter());
        work()
    }

    /// The handler's turn has come.
    #[inline]
    pub(super) fn begin(&mut self) {
        if let Some(open) = &mut self.0 {
            open.began = Some(Instant::now());
        }
    }

    /// The call has its result: the span is closed.
    #[inline]
    pub(super) fn end(&mut self, outcome: &Outcome) {
        if let Some(open) = self.0.take() {
            // Whoever listens is user code.
            drop(isolated(move || open.close(outcome)));
        }
    }
}

impl Open {
    fn close(self, outcome: &Outcome) {
        let now = Instant::now();
        let began = self.began.unwrap_or(now);
        let (queue, run) = ((began - self.asked).as_secs_f64(), (now - began).as_secs_f64());
        self.span.get().record("haft.queue_seconds", queue);
        self.span.get().record("haft.run_seconds", run);
        self.count(outcome, queue, run);
        if let Outcome::Failed(failure) = outcome {
            self.record_failure(failure);
        }
    }

    /// The metrics of the call, as an event whose fields are named as `tracing-opentelemetry` and others read metrics from.
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
        let cause = cause_chain(failure);
        // What is broken here is the operator's business; what a model or a policy did is only worth knowing.
        let _entered = self.span.enter();
        match failure.kind.class() {
            FailureClass::Internal => {
                tracing::warn!(target: "haft", kind = failure.kind.as_str(), cause, "the call failed");
            }
            _ => tracing::info!(target: "haft", kind = failure.kind.as_str(), cause, "the call failed"),
        }
    }
}
