//! One logged call.
//!
//! A subscriber is user code, and it runs wherever an event is made and a span is recorded on, cloned or dropped. All
//! of that is isolated: a subscriber that panics misses an event, and the call goes on.

use std::future::poll_fn;
use std::pin::pin;

use haft_core::{CallId, Outcome};
use haft_executor::{Middleware, Next, Request, Tool};
use haft_schema::isolation::{Isolated, isolated};
use tokio::time::Instant;
use tracing::{Level, Span, event};

use super::content::{ARGUMENTS, DESCRIPTION, RESULT, loggable_arguments, loggable_result};
use super::{ContentLogging, TARGET, Trace};

/// Reports whether events at a level are logged. Without a subscriber this costs one load from a static.
macro_rules! is_logged {
    ($level:expr) => {
        $level <= tracing::level_filters::LevelFilter::current()
            && isolated(|| tracing::enabled!(target: TARGET, $level)).unwrap_or(false)
    };
}

impl Middleware for Trace {
    type Services = ();

    fn around(&self, request: Request, next: Next) -> impl Future<Output = Outcome> + Send {
        // Looked up only if something may be recorded on it.
        let span = match self.content {
            ContentLogging::Redacted => isolated(Span::current).unwrap_or_else(|_| Span::none()),
            ContentLogging::Omitted => Span::none(),
        };
        self.observe(Isolated::new(span), request, next)
    }
}

/// An attempt that has begun. Dropping it before its end is logged.
struct Attempt {
    tool: Tool,
    call_id: CallId,
    number: u32,
    began: Instant,
    content: ContentLogging,
    /// The span that records content, if it has the fields.
    span: Isolated<Span>,
    state: AttemptState,
}

/// An attempt's state. It distinguishes a panic inside the attempt from a drop between two polls, even if a panic
/// elsewhere causes that drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttemptState {
    Waiting,
    /// The inner future is being polled, or dropped after its last poll.
    Polling,
    Ended,
}

impl Trace {
    pub(super) async fn observe(&self, span: Isolated<Span>, request: Request, next: Next) -> Outcome {
        let begun = isolated(|| self.is_logged(&span).then(|| self.begin(span, &request)));
        let Ok(Some(mut attempt)) = begun else { return next.run(request).await };
        let outcome = attempt.wait_for(next.run(request)).await;
        drop(isolated(|| attempt.end(&outcome)));
        outcome
    }

    /// Reports whether events are logged, or the span has fields for content.
    fn is_logged(&self, span: &Span) -> bool {
        let has_field = |name| span.has_field(name);
        is_logged!(Level::INFO)
            || is_logged!(Level::WARN)
            || (self.content == ContentLogging::Redacted && (has_field(ARGUMENTS) || has_field(RESULT)))
    }

    fn begin(&self, span: Isolated<Span>, request: &Request) -> Attempt {
        let logged = is_logged!(Level::INFO);
        let wanted = self.content == ContentLogging::Redacted && (logged || span.has_field(ARGUMENTS));
        let arguments = wanted.then(|| loggable_arguments(request));
        if let Some(arguments) = &arguments {
            span.record(ARGUMENTS, arguments);
        }
        if self.content == ContentLogging::Redacted {
            span.record(DESCRIPTION, request.tool().description());
        }
        event!(
            target: TARGET,
            Level::INFO,
            gen_ai.tool.name = request.tool().name(),
            gen_ai.tool.call.id = request.call_id().as_str(),
            attempt = request.attempt(),
            gen_ai.tool.call.arguments = arguments,
            "tool call begins"
        );
        Attempt {
            tool: request.tool().clone(),
            call_id: request.call_id().clone(),
            number: request.attempt(),
            began: Instant::now(),
            content: self.content,
            span,
            state: AttemptState::Waiting,
        }
    }
}

impl Attempt {
    async fn wait_for(&mut self, inside: impl Future<Output = Outcome>) -> Outcome {
        let mut inside = pin!(inside);
        poll_fn(|task| {
            self.state = AttemptState::Polling;
            let polled = inside.as_mut().poll(task);
            // A finished future still has to be dropped, and may panic then.
            if polled.is_pending() {
                self.state = AttemptState::Waiting;
            }
            polled
        })
        .await
    }

    fn end(mut self, outcome: &Outcome) {
        self.state = AttemptState::Ended;
        let logged = match outcome.failure() {
            None => is_logged!(Level::INFO),
            Some(_) => is_logged!(Level::WARN),
        };
        let wanted = self.content == ContentLogging::Redacted && (logged || self.span.has_field(RESULT));
        let result = wanted.then(|| loggable_result(&self.tool, outcome));
        if let Some(result) = &result {
            self.span.record(RESULT, result);
        }
        match outcome.failure() {
            None => event!(
                target: TARGET,
                Level::INFO,
                gen_ai.tool.name = self.tool.name(),
                gen_ai.tool.call.id = self.call_id.as_str(),
                attempt = self.number,
                outcome = "ok",
                duration_seconds = self.began.elapsed().as_secs_f64(),
                gen_ai.tool.call.result = result,
                "tool call ends"
            ),
            Some(failure) => event!(
                target: TARGET,
                Level::WARN,
                gen_ai.tool.name = self.tool.name(),
                gen_ai.tool.call.id = self.call_id.as_str(),
                attempt = self.number,
                outcome = "failed",
                error.type = failure.kind.as_str(),
                cause = failure.cause_chain(),
                duration_seconds = self.began.elapsed().as_secs_f64(),
                gen_ai.tool.call.result = result,
                "tool call ends"
            ),
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let outcome = match self.state {
            AttemptState::Waiting => "dropped",
            AttemptState::Polling => "panicked",
            AttemptState::Ended => return,
        };
        // A second panic on top of the first would abort the process.
        drop(isolated(|| {
            event!(
                target: TARGET,
                Level::WARN,
                gen_ai.tool.name = self.tool.name(),
                gen_ai.tool.call.id = self.call_id.as_str(),
                attempt = self.number,
                outcome,
                duration_seconds = self.began.elapsed().as_secs_f64(),
                "tool call ends"
            );
        }));
    }
}
