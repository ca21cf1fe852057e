//! One call, as the log sees it.

use std::error::Error;

use tokio::time::Instant;
use tracing::{Level, Span, enabled, event};

use super::content::{ARGUMENTS, RESULT, shown_arguments, shown_result};
use super::{Content, TARGET, Trace};
use crate::call::CallId;
use crate::failure::ToolFailure;
use crate::middleware::{Middleware, Next, Request};
use crate::result::Outcome;
use crate::tool::Tool;

impl Middleware for Trace {
    type Services = ();

    fn around(&self, request: Request, next: Next) -> impl Future<Output = Outcome> + Send {
        // Looked up only when something may be recorded on it.
        let span = if self.content == Content::Shown { Span::current() } else { Span::none() };
        self.observe(span, request, next)
    }
}

/// An attempt that has begun. One that is dropped before its end is logged as dropped.
struct Attempt {
    tool: Tool,
    call_id: CallId,
    number: u32,
    began: Instant,
    content: Content,
    /// Where content is recorded, if it has the fields.
    span: Span,
    has_ended: bool,
}

impl Trace {
    pub(super) async fn observe(&self, span: Span, request: Request, next: Next) -> Outcome {
        if !self.is_heard(&span) {
            return next.run(request).await;
        }
        let attempt = self.begin(span, &request);
        let outcome = next.run(request).await;
        attempt.end(&outcome);
        outcome
    }

    /// Whether somebody listens, to events or to a span that has room for content.
    fn is_heard(&self, span: &Span) -> bool {
        enabled!(target: TARGET, Level::INFO)
            || enabled!(target: TARGET, Level::WARN)
            || (self.content == Content::Shown && (span.has_field(ARGUMENTS) || span.has_field(RESULT)))
    }

    fn begin(&self, span: Span, request: &Request) -> Attempt {
        let logged = enabled!(target: TARGET, Level::INFO);
        let wanted = self.content == Content::Shown && (logged || span.has_field(ARGUMENTS));
        let arguments = wanted.then(|| shown_arguments(request));
        if let Some(arguments) = &arguments {
            span.record(ARGUMENTS, arguments);
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
            has_ended: false,
        }
    }
}

impl Attempt {
    fn end(mut self, outcome: &Outcome) {
        self.has_ended = true;
        let logged = match outcome {
            Outcome::Ok(_) => enabled!(target: TARGET, Level::INFO),
            Outcome::Failed(_) => enabled!(target: TARGET, Level::WARN),
        };
        let wanted = self.content == Content::Shown && (logged || self.span.has_field(RESULT));
        let result = wanted.then(|| shown_result(&self.tool, outcome));
        if let Some(result) = &result {
            self.span.record(RESULT, result);
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
                cause = cause(failure),
                duration_seconds = self.began.elapsed().as_secs_f64(),
                gen_ai.tool.call.result = result,
                "tool call ends"
            ),
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        event!(
            target: TARGET,
            Level::WARN,
            gen_ai.tool.name = self.tool.name(),
            gen_ai.tool.call.id = self.call_id.as_str(),
            attempt = self.number,
            outcome = "dropped",
            duration_seconds = self.began.elapsed().as_secs_f64(),
            "tool call ends"
        );
    }
}

/// What went wrong underneath, down to the root.
fn cause(failure: &ToolFailure) -> Option<String> {
    let chain: Vec<String> =
        std::iter::successors(failure.source(), |&error| error.source()).map(ToString::to_string).collect();
    (!chain.is_empty()).then(|| chain.join(": "))
}
