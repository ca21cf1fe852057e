//! Logged calls, content that is kept out of the log, and calls without a subscriber.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use haft_core::{Annotations, FailureKind, ToolCall, ToolFailure};
use haft_executor::{Cx, Middleware, Next, Request, RunOptions, Tool};
use haft_schema::isolation::Isolated;
use haft_schema::{Schema, Validation, Validator};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Span, Subscriber};

use super::content::{ARGUMENTS, DESCRIPTION, RESULT};
use super::*;
use crate::tests::{Probe, busy, call, fails, idempotent, ms, run, run_call, succeeds};
use crate::{Backoff, Retry};

type Fields = BTreeMap<&'static str, Value>;

/// A subscriber that keeps everything at one level and above.
#[derive(Clone)]
struct Log {
    level: Level,
    written: Arc<Written>,
}

#[derive(Default)]
struct Written {
    events: Mutex<Vec<(Level, Fields)>>,
    /// The fields that were recorded on spans.
    spans: Mutex<Vec<Fields>>,
}

struct Reader(Fields);

impl Visit for Reader {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name(), value.into());
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // The executor's spans and events are not the middleware's.
        let is_of_executor = ["haft", "haft::metrics"].contains(&metadata.target());
        !is_of_executor && *metadata.level() <= self.level
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut reader = Reader(Fields::new());
        values.record(&mut reader);
        self.written.spans.lock().unwrap().push(reader.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        assert_eq!(event.metadata().target(), "haft::call");
        let mut reader = Reader(Fields::new());
        event.record(&mut reader);
        self.written.events.lock().unwrap().push((*event.metadata().level(), reader.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Log {
    fn at(level: Level) -> Self {
        Self { level, written: Arc::default() }
    }

    fn events(&self) -> Vec<(Level, Fields)> {
        self.written.events.lock().unwrap().clone()
    }

    fn spans(&self) -> Vec<Fields> {
        self.written.spans.lock().unwrap().clone()
    }
}

/// Everything that is logged while a call to this tool runs, on this thread.
async fn logged(level: Level, tool: &Tool, arguments: &str) -> Vec<(Level, Fields)> {
    let log = Log::at(level);
    let _listening = tracing::subscriber::set_default(log.clone());
    let call = call(arguments);
    run_call(tool, &call, &RunOptions::new()).await;
    log.events()
}

fn fields(event: &(Level, Fields)) -> Value {
    json!(event.1)
}

#[tokio::test(start_paused = true)]
async fn a_call_is_logged_when_it_begins_and_when_it_ends() {
    let probe = Probe::new([succeeds().after(1_500)]);
    let events = logged(Level::INFO, &probe.tool(Annotations::new()).wrap(Trace::new()), r#"{"a": 1}"#).await;
    assert_eq!(
        json!(events.iter().map(fields).collect::<Vec<_>>()),
        json!([
            {"message": "tool call begins", "gen_ai.tool.name": "probe", "gen_ai.tool.call.id": "c1", "attempt": 1},
            {
                "message": "tool call ends",
                "gen_ai.tool.name": "probe",
                "gen_ai.tool.call.id": "c1",
                "attempt": 1,
                "outcome": "ok",
                "duration_seconds": 1.5,
            },
        ])
    );
    assert!(events.iter().all(|(level, _)| *level == Level::INFO));
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_logged_with_its_kind_and_cause_and_without_its_message() {
    let inner = io::Error::new(io::ErrorKind::TimedOut, ToolFailure::new("inner", "host 10.0.0.7"));
    let failure = ToolFailure::new(FailureKind::ExecutionError, "the code of Ada is 1234").cause(inner);
    let probe = Probe::new([fails(failure)]);
    let events = logged(Level::WARN, &probe.tool(Annotations::new()).wrap(Trace::new()), "{}").await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].0, Level::WARN);
    assert_eq!(
        fields(&events[0]),
        json!({
            "message": "tool call ends",
            "gen_ai.tool.name": "probe",
            "gen_ai.tool.call.id": "c1",
            "attempt": 1,
            "outcome": "failed",
            "error.type": "execution_error",
            "cause": "inner: host 10.0.0.7",
            "duration_seconds": 0.0,
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_cause_is_logged_down_to_its_root() {
    let root = ToolFailure::new("root", "disk full");
    let middle = ToolFailure::new("middle", "no write").cause(root);
    let probe = Probe::new([fails(busy().cause(middle))]);
    let events = logged(Level::INFO, &probe.tool(Annotations::new()).wrap(Trace::new()), "{}").await;
    assert_eq!(events[1].1["cause"], "middle: no write: root: disk full");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_no_longer_awaited_is_logged_as_dropped() {
    let log = Log::at(Level::INFO);
    let _listening = tracing::subscriber::set_default(log.clone());
    let tool = Probe::new([succeeds().after(60_000)]).tool(Annotations::new()).wrap(Trace::new());
    assert!(timeout(ms(250), run(&tool)).await.is_err());
    let events = log.events();
    assert_eq!(events.len(), 2);
    assert_eq!((&events[1].1["outcome"], &events[1].1["duration_seconds"]), (&json!("dropped"), &json!(0.25)));
}

/// Panics at its first poll, or after it has waited.
fn crashing(waits: u64) -> Tool {
    let crash = move |(), cx: Cx| async move {
        sleep(ms(waits)).await;
        assert!(cx.is_cancelled(), "a handler that breaks");
    };
    Tool::new("probe").handler(crash).unwrap().wrap(Trace::new())
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_is_logged_as_such() {
    for waits in [0, 250] {
        let log = Log::at(Level::INFO);
        let _listening = tracing::subscriber::set_default(log.clone());
        let tool = crashing(waits);
        assert_eq!(run(&tool).await.failure().unwrap().kind, FailureKind::ExecutionError);
        let events = log.events();
        assert_eq!((events.len(), events[1].0), (2, Level::WARN));
        let seconds = json!(ms(waits).as_secs_f64());
        assert_eq!(
            (&events[1].1["outcome"], &events[1].1["duration_seconds"]),
            (&json!("panicked"), &seconds),
            "{waits}"
        );
    }
}

/// The panic is the caller's, not the call's.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_by_a_panic_elsewhere_is_logged_as_dropped() {
    let log = Log::at(Level::INFO);
    let _listening = tracing::subscriber::set_default(log.clone());
    let tool = crashing(60_000);
    let mut waiting = Box::pin(run(&tool));
    assert!(waiting.as_mut().now_or_never().is_none());
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _held = waiting;
        panic!("the caller breaks");
    }));
    assert!(unwound.is_err());
    assert_eq!(log.events()[1].1["outcome"], "dropped");
}

#[tokio::test(start_paused = true)]
async fn inside_of_a_retry_every_attempt_is_logged() {
    let probe = Probe::new([fails(busy()), fails(busy())]);
    let retry = Retry::new(5).backoff(Backoff::constant(ms(10)));
    let tool = probe.tool(idempotent()).wrap(Trace::new()).wrap(retry);
    let events = logged(Level::INFO, &tool, "{}").await;
    let seen: Vec<_> = events.iter().map(|(_, fields)| (&fields["attempt"], fields.get("outcome"))).collect();
    let (failed, ok) = (json!("failed"), json!("ok"));
    let expected = [(1, None), (1, Some(&failed)), (2, None), (2, Some(&failed)), (3, None), (3, Some(&ok))];
    assert_eq!(seen.len(), expected.len());
    for ((attempt, outcome), (number, expected)) in seen.into_iter().zip(expected) {
        assert_eq!((attempt, outcome), (&json!(number), expected));
    }
}

/// Creates a tool that takes a name and a password and returns a token.
fn login() -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "password": {"type": "string", "format": "password"}},
    });
    let success = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "token": {"type": "string", "x-redact": true}},
    });
    let tool = Tool::dynamic("probe").try_handler_opaque(|arguments: Value, _cx| async move {
        match arguments["name"].as_str() {
            Some("ada") => Ok(json!({"name": "ada", "token": "t0k3n"})),
            _ => Err(ToolFailure::new("unknown_user", format!("no user for {arguments}"))),
        }
    });
    let shown = |schema| Schema::json_with(schema, Validation::None).unwrap();
    tool.unwrap().set_parameters(shown(parameters)).set_success(shown(success))
}

#[tokio::test]
async fn content_is_logged_only_when_asked_for_and_without_secrets() {
    let arguments = r#"{"name": "ada", "password": "hunter2"}"#;
    let quiet = logged(Level::TRACE, &login().wrap(Trace::new()), arguments).await;
    assert!(quiet.iter().all(|(_, fields)| fields.keys().all(|field| !field.contains(".call.a") && *field != RESULT)));
    let events = logged(Level::TRACE, &login().wrap(Trace::new().with_content()), arguments).await;
    assert_eq!(events[0].1[ARGUMENTS], r#"{"name":"ada","password":"[redacted]"}"#);
    assert_eq!(events[1].1[RESULT], r#"{"name":"ada","token":"[redacted]"}"#);
}

#[tokio::test]
async fn the_message_of_a_failure_is_content_and_hidden_where_anything_is_secret() {
    let arguments = r#"{"name": "bob", "password": "hunter2"}"#;
    let events = logged(Level::TRACE, &login().wrap(Trace::new().with_content()), arguments).await;
    assert_eq!(events[1].1[RESULT], r#"{"error":{"kind":"unknown_user","message":"[redacted]"}}"#);
    let plain = Probe::new([fails(busy())]).tool(Annotations::new()).wrap(Trace::new().with_content());
    let events = logged(Level::TRACE, &plain, "{}").await;
    assert_eq!(events[1].1[RESULT], r#"{"error":{"kind":"execution_error","message":"busy"}}"#);
}

/// A middleware that lets a trace work on this span.
fn on(span: &Span, trace: Trace) -> impl Middleware {
    let (span, trace) = (span.clone(), trace);
    move |request: Request, next: Next| {
        let (span, trace) = (span.clone(), trace.clone());
        async move { trace.observe(Isolated::new(span), request, next).await }
    }
}

#[tokio::test]
async fn content_is_recorded_on_a_span_that_has_room_for_it() {
    let call = call(r#"{"name": "ada", "password": "hunter2"}"#);
    // With the events switched off, too.
    for level in [Level::INFO, Level::ERROR] {
        let log = Log::at(level);
        let _listening = tracing::subscriber::set_default(log.clone());
        let span = tracing::error_span!(
            "execute_tool",
            gen_ai.tool.call.arguments = tracing::field::Empty,
            gen_ai.tool.call.result = tracing::field::Empty
        );
        run_call(&login().wrap(on(&span, Trace::new())), &call, &RunOptions::new()).await;
        assert!(log.spans().is_empty(), "nothing without being asked");
        run_call(&login().wrap(on(&span, Trace::new().with_content())), &call, &RunOptions::new()).await;
        assert_eq!(
            json!(log.spans()),
            json!([
                {ARGUMENTS: r#"{"name":"ada","password":"[redacted]"}"#},
                {RESULT: r#"{"name":"ada","token":"[redacted]"}"#},
            ])
        );
    }
}

/// A description may have a page, which a subscriber would print with every line.
#[tokio::test]
async fn the_description_is_recorded_with_content_only() {
    let log = Log::at(Level::INFO);
    let _listening = tracing::subscriber::set_default(log.clone());
    let span = tracing::info_span!("execute_tool", gen_ai.tool.description = tracing::field::Empty);
    let described = Tool::new("login").describe("Signs in.").handler(|(), _cx| async {}).unwrap();
    for (trace, recorded) in
        [(Trace::new(), json!([])), (Trace::new().with_content(), json!([{DESCRIPTION: "Signs in."}]))]
    {
        run_call(&described.wrap(on(&span, trace)), &ToolCall::new("c1", "login", ""), &RunOptions::new()).await;
        assert_eq!(json!(log.spans()), recorded);
    }
}

#[tokio::test]
async fn arguments_are_read_only_to_be_logged() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let counting = Validator::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let login = login().set_parameters(Schema::json_with(json!({}), Validation::With(counting)).unwrap());
    let reads_of = async |tool: Tool| {
        reads.store(0, Ordering::Relaxed);
        let call = call(r#"{"name": "ada", "password": "hunter2"}"#);
        assert!(run_call(&tool, &call, &RunOptions::new()).await.is_ok());
        reads.load(Ordering::Relaxed)
    };
    let by_the_handler = reads_of(login.clone()).await;
    let with_content = Trace::new().with_content();
    // Without any subscriber.
    assert_eq!(reads_of(login.wrap(with_content.clone())).await, by_the_handler);
    // With a subscriber that takes none of the events, and a span without the fields.
    let deaf = Log::at(Level::ERROR);
    let listening = tracing::subscriber::set_default(deaf.clone());
    assert_eq!(reads_of(login.wrap(with_content.clone())).await, by_the_handler);
    let without_fields = tracing::error_span!("without fields for content");
    assert_eq!(reads_of(login.wrap(on(&without_fields, with_content.clone()))).await, by_the_handler);
    drop(listening);
    assert!(deaf.events().is_empty() && deaf.spans().is_empty());
    // With a subscriber, they are read only if content is logged.
    let log = Log::at(Level::TRACE);
    let _listening = tracing::subscriber::set_default(log.clone());
    assert_eq!(reads_of(login.wrap(Trace::new())).await, by_the_handler);
    assert_eq!(log.events().len(), 2);
    assert!(reads_of(login.wrap(with_content)).await > by_the_handler);
}
