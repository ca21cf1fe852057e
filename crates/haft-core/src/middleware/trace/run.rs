//! One call, as the log sees it.

use std::future::poll_fn;
use std::pin::pin;

use tokio::time::Instant;
use tracing::{Level, event};

use super::content::{ARGUMENTS, RESULT, shown_arguments, shown_result};
use super::{Content, TARGET, Trace};
use crate::call::CallId;
use crate::cause::cause_chain;
use crate::executor::{IsolatedSpan, is_heard, isolated};
use crate::middleware::{Middleware, Next, Request};
use crate::result::Outcome;
use crate::tool::Tool;

impl Middleware for Trace {
    type Services = ();

    fn around(&self, request: Request, next: Next) -> impl Future<Output = Outcome> + Send {
        // Looked up only when something may be recorded on it.
        let span = if self.content == Content::Shown { IsolatedSpan::current() } else { IsolatedSpan::none() };
        self.observe(span, request, next)
    }
}

/// An attempt that has begun. One that is dropped before its end is logged as what ended it.
struct Attempt {
    tool: Tool,
    call_id: CallId,
    number: u32,
    began: Instant,
    content: Content,
    /// Where content is recorded, if it has the fields.
    span: IsolatedSpan,
    progress: Progress,
}

/// Where an attempt is: what tells a panic inside of it from the drop of somebody who waits for nothing any more, also
/// when that somebody panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    /// The inside has its turn, and has not come back from it.
    Inside,
    Ended,
}

impl Trace {
    pub(super) async fn observe(&self, span: IsolatedSpan, request: Request, next: Next) -> Outcome {
        // Whoever listens is user code: one that panics does not hear of the call.
        let begun = isolated(|| self.is_heard(&span).then(|| self.begin(span, &request)));
        let Ok(Some(mut attempt)) = begun else { return next.run(request).await };
        let outcome = attempt.wait_for(next.run(request)).await;
        drop(isolated(|| attempt.end(&outcome)));
        outcome
    }

    /// Whether somebody listens, to events or to a span that has room for content.
    fn is_heard(&self, span: &IsolatedSpan) -> bool {
        let has_field = |name| span.get().has_field(name);
        is_heard!(TARGET, Level::INFO)
            || is_heard!(TARGET, Level::WARN)
            || (self.content == Content::Shown && (has_field(ARGUMENTS) || has_field(RESULT)))
    }

    fn begin(&self, span: IsolatedSpan, request: &Request) -> Attempt {
        let logged = is_heard!(TARGET, Level::INFO);
        let wanted = self.content == Content::Shown && (logged || span.get().has_field(ARGUMENTS));
        let arguments = wanted.then(|| shown_arguments(request));
        if let Some(arguments) = &arguments {
            span.get().record(ARGUMENTS, arguments);
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
            progress: Progress::Waiting,
        }
    }
}

impl Attempt {
    async fn wait_for(&mut self, inside: impl Future<Output = Outcome>) -> Outcome {
        let mut inside = pin!(inside);
        poll_fn(|task| {
            self.progress = Progress::Inside;
            let polled = inside.as_mut().poll(task);
            // What is done is still to be dropped, and may panic then.
            if polled.is_pending() {
                self.progress = Progress::Waiting;
            }
            polled
        })
        .await
    }

    fn end(mut self, outcome: &Outcome) {
        self.progress = Progress::Ended;
        let logged = match outcome {
            Outcome::Ok(_) => is_heard!(TARGET, Level::INFO),
            Outcome::Failed(_) => is_heard!(TARGET, Level::WARN),
        };
        let wanted = self.content == Content::Shown && (logged || self.span.get().has_field(RESULT));
        let result = wanted.then(|| shown_result(&self.tool, outcome));
        if let Some(result) = &result {
            self.span.get().record(RESULT, result);
        }
        match outcome {
            Outcome::Ok(_) => event!(
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
            Outcome::Failed(failure) => event!(
                target: TARGET,
                Level::WARN,
                gen_ai.tool.name = self.tool.name(),
                gen_ai.tool.call.id = self.call_id.as_str(),
                attempt = self.number,
                outcome = "failed",
                error.type = failure.kind.as_str(),
                cause = cause_chain(failure),
                duration_seconds = self.began.elapsed().as_secs_f64(),
                gen_ai.tool.call.result = result,
                "tool call ends"
            ),
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let outcome = match self.progress {
            Progress::Waiting => "dropped",
            Progress::Inside => "panicked",
            Progress::Ended => return,
        };
        // Whoever listens is user code, and a second panic on top of the first would end the process.
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
