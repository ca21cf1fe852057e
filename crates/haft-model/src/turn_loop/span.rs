//! The span of a run of a loop.
//!
//! It is opened at the first poll, entered at every poll, and closed when the loop ends or is dropped. The requests and
//! calls of the loop are polled inside of it, so their spans are its children. Code that reads the events is not inside.

use std::sync::Arc;

use haft_core::Usage;
use haft_executor::IsolatedSpan;
use haft_schema::isolation::isolated;
use tokio::time::Instant;
use tracing::{Level, field};

use super::end::LoopEnd;
use super::error::LoopError;
use super::settings::Settings;
use super::state_cell::StateCell;
use crate::model_info::ModelInfo;
use crate::trace::{is_heard, record_failure, record_usage};

/// The span of a run, if a subscriber is interested. If it is dropped before its end, the run was cancelled.
pub(super) struct AgentSpan(Option<Box<OpenAgent>>);

/// An open span, and the totals at its start: the state may have been started before.
struct OpenAgent {
    span: IsolatedSpan,
    settings: Arc<Settings>,
    state: StateCell,
    before: AgentTotals,
    started: Instant,
}

/// The totals of a state.
#[derive(Clone, Copy)]
struct AgentTotals {
    turns: u32,
    calls: u64,
    usage: Usage,
}

impl AgentSpan {
    /// Opens the span of a run that is polled for the first time.
    #[inline]
    pub(super) fn open(settings: &Arc<Settings>, state: &StateCell) -> Self {
        if is_heard!() { Self::opened(settings, state) } else { Self(None) }
    }

    #[cold]
    fn opened(settings: &Arc<Settings>, state: &StateCell) -> Self {
        // A model that panics here panics again when it is asked, which the loop reports.
        let info = isolated(|| settings.model.info()).unwrap_or_else(|_| ModelInfo::new("unknown"));
        let info = state.read(|state| info.or_model(&state.request.model));
        let name = settings.name.as_deref();
        let span = IsolatedSpan::open(|| {
            tracing::info_span!(
                target: "haft",
                "invoke_agent",
                otel.name = format!("invoke_agent {}", name.unwrap_or_default()).trim_end(),
                otel.kind = "internal",
                otel.status_code = field::Empty,
                gen_ai.operation.name = "invoke_agent",
                gen_ai.provider.name = &*info.provider,
                gen_ai.request.model = info.model.as_deref(),
                gen_ai.agent.name = name,
                gen_ai.usage.input_tokens = field::Empty,
                gen_ai.usage.output_tokens = field::Empty,
                gen_ai.usage.cache_read.input_tokens = field::Empty,
                gen_ai.usage.cache_creation.input_tokens = field::Empty,
                gen_ai.usage.reasoning.output_tokens = field::Empty,
                haft.turns = field::Empty,
                haft.calls = field::Empty,
                haft.end = field::Empty,
                "error.type" = field::Empty,
            )
        });
        let (before, started) = (AgentTotals::of(state), Instant::now());
        Self(Some(Box::new(OpenAgent { span, settings: Arc::clone(settings), state: state.clone(), before, started })))
    }

    /// Runs a function inside the span.
    #[inline]
    pub(super) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _entered = self.0.as_ref().and_then(|open| open.span.enter());
        work()
    }

    /// Closes the span: the loop has ended.
    pub(super) fn end(mut self, end: &LoopEnd) {
        if let Some(open) = self.0.take() {
            // The subscriber is user code.
            drop(isolated(move || open.close(end)));
        }
    }
}

impl Drop for AgentSpan {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            drop(isolated(move || open.close(&LoopEnd::Cancelled)));
        }
    }
}

impl OpenAgent {
    fn close(self, end: &LoopEnd) {
        let (span, totals) = (self.span.get(), AgentTotals::of(&self.state));
        record_usage(span, &totals.usage_since(&self.before));
        span.record("haft.turns", totals.turns.saturating_sub(self.before.turns));
        span.record("haft.calls", totals.calls.saturating_sub(self.before.calls));
        let (word, failed) = described(end);
        span.record("haft.end", word);
        if let Some(kind) = failed {
            record_failure(span, kind);
        }
        let _entered = self.span.enter();
        tracing::event!(
            target: "haft::metrics",
            Level::DEBUG,
            "histogram.gen_ai.invoke_agent.duration" = self.started.elapsed().as_secs_f64(),
            gen_ai.operation.name = "invoke_agent",
            gen_ai.agent.name = self.settings.name.as_deref(),
            "error.type" = failed,
        );
    }
}

impl AgentTotals {
    fn of(state: &StateCell) -> Self {
        state.read(|state| Self { turns: state.turns, calls: state.calls, usage: state.usage })
    }

    fn usage_since(&self, before: &Self) -> Usage {
        let (now, then) = (&self.usage, &before.usage);
        Usage::new(
            now.input_tokens.saturating_sub(then.input_tokens),
            now.output_tokens.saturating_sub(then.output_tokens),
        )
        .cache_read(now.cache_read_tokens.saturating_sub(then.cache_read_tokens))
        .cache_write(now.cache_write_tokens.saturating_sub(then.cache_write_tokens))
        .reasoning(now.reasoning_tokens.saturating_sub(then.reasoning_tokens))
    }
}

/// Returns the end as a word, and the kind of the error if it is one. A limit that is reached is no error, and neither is
/// a call that waits.
fn described(end: &LoopEnd) -> (&'static str, Option<&str>) {
    match end {
        LoopEnd::Stopped => ("stopped", None),
        LoopEnd::Truncated { .. } => ("truncated", None),
        LoopEnd::Waiting { .. } => ("waiting", None),
        LoopEnd::MaxTurns { .. } => ("max_turns", None),
        LoopEnd::Budget(_) => ("budget", None),
        LoopEnd::RepeatedCalls => ("repeated_calls", None),
        LoopEnd::CallsFailed { .. } => ("calls_failed", Some("calls_failed")),
        LoopEnd::Cancelled => ("cancelled", Some("cancelled")),
        LoopEnd::Failed(LoopError::Model { source, .. }) => ("failed", Some(source.kind())),
        LoopEnd::Failed(error) => ("failed", Some(error.kind())),
    }
}
