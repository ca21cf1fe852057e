//! The language of the table: a call, the way it is run and read, and its expected result.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use haft_core::{ApprovalRequest, FailureKind, ToolCall, ToolEvent, ToolFailure, ToolResult, Verdict};
use haft_executor::{BoxError, Cancellation, Cx, Run, RunOptions, Tool, Toolkit};
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};

use super::record;
use super::way::{Way, healthy_call, healthy_shows, healthy_tool};

/// The text of every cause: operators may read it, models never.
pub(super) const SECRET: &str = "s3cret at 10.0.0.7";

/// A count of how often a handler ran.
#[derive(Clone, Default)]
pub(super) struct Ran(Arc<AtomicUsize>);

/// One row.
pub(super) struct Case {
    tools: Vec<Tool>,
    calls: Vec<(ToolCall, Expected)>,
    pub(super) options: RunOptions,
    pub(super) reader: Reader,
    siblings: Siblings,
    runs: Option<usize>,
    /// The approver of the options.
    #[allow(dead_code, reason = "read where the tools are in another process")]
    pub(super) approver: Option<Approver>,
}

/// An approver of a row.
pub(super) type Approver =
    Arc<dyn Fn(ApprovalRequest, Cx) -> BoxFuture<'static, Result<Verdict, BoxError>> + Send + Sync>;

/// The way in which the events are read.
#[derive(Clone)]
pub(super) enum Reader {
    /// At once.
    Eager,
    /// With a pause after each.
    Pausing(Duration),
    /// Cancelling the run after this time; zero means before the first poll.
    CancellingAfter(Duration),
    /// Setting the run's cancellation flag after this time.
    RaisingAfter(Duration, Cancellation),
    /// Cancelling the run, directly and by its flag, when all has been read.
    CancellingAtTheEnd(Cancellation),
}

/// The outcome of the healthy calls around.
enum Siblings {
    Whole,
    /// The fault affects the whole run: they fail as the call does.
    Alike,
}

/// The expected result of a call.
struct Expected {
    outcome: Outcome,
    shown: usize,
}

enum Outcome {
    Value(Value),
    /// A value that the model reads as parts with these words.
    Shortened(Value, &'static [&'static str]),
    Failure(Failing),
}

struct Failing {
    kind: FailureKind,
    started: bool,
    retryable: bool,
    words: &'static [&'static str],
    /// Unset if the cause is not checked.
    hides_secret: Option<bool>,
    cause: Option<&'static str>,
}

impl Ran {
    pub(super) fn note(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Creates a call of this tool without arguments, which is expected to return `null`.
pub(super) fn of(tool: Tool) -> Case {
    let call = ToolCall::new("fault", tool.name(), "{}");
    let expected = Expected { outcome: Outcome::Value(Value::Null), shown: 0 };
    Case {
        tools: vec![tool],
        calls: vec![(call, expected)],
        options: RunOptions::new(),
        reader: Reader::Eager,
        siblings: Siblings::Whole,
        runs: None,
        approver: None,
    }
}

/// Setters of the call.
impl Case {
    /// Sets its arguments.
    pub(super) fn args(self, arguments: impl Into<String>) -> Self {
        self.call(|call| call.arguments = arguments.into())
    }

    /// Sets another name.
    pub(super) fn asking(self, name: &str) -> Self {
        self.call(|call| name.clone_into(&mut call.name))
    }

    pub(super) fn by_the_provider(self) -> Self {
        self.call(|call| call.provider_executed = true)
    }

    /// Adds a call with the same id, name and arguments; later setters apply to that one.
    pub(super) fn again(mut self) -> Self {
        let call = self.calls.last().unwrap().0.clone();
        self.calls.push((call, Expected { outcome: Outcome::Value(Value::Null), shown: 0 }));
        self
    }

    /// Adds another call; later setters apply to that one.
    pub(super) fn then(mut self, tool: Tool) -> Self {
        let call = ToolCall::new(format!("fault_{}", self.calls.len()), tool.name(), "{}");
        self.calls.push((call, Expected { outcome: Outcome::Value(Value::Null), shown: 0 }));
        self.tools.push(tool);
        self
    }

    fn call(mut self, change: impl FnOnce(&mut ToolCall)) -> Self {
        change(&mut self.calls.last_mut().unwrap().0);
        self
    }
}

/// Setters of the run.
impl Case {
    /// Changes the options of the run.
    pub(super) fn given(mut self, change: impl FnOnce(RunOptions) -> RunOptions) -> Self {
        self.options = change(self.options);
        self
    }

    /// Sets the approver.
    pub(super) fn approved_by<F, Fut>(mut self, approve: F) -> Self
    where
        F: Fn(ApprovalRequest, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Verdict, BoxError>> + Send + 'static,
    {
        let approver: Approver = Arc::new(move |request, cx| Box::pin(approve(request, cx)));
        self.approver = Some(Arc::clone(&approver));
        self.given(|run| run.approvals(move |request: ApprovalRequest, cx: Cx| approver(request, cx)))
    }

    pub(super) fn read(mut self, reader: Reader) -> Self {
        if let Reader::RaisingAfter(_, flag) | Reader::CancellingAtTheEnd(flag) = &reader {
            self.options = self.options.cancellation(flag.clone());
        }
        self.reader = reader;
        self
    }
}

/// Setters of the expected result.
impl Case {
    pub(super) fn gives(self, value: impl Into<Value>) -> Self {
        self.expect(|expected| expected.outcome = Outcome::Value(value.into()))
    }

    /// Expects that the application gets the value, and that the model reads these words.
    pub(super) fn gives_shortened(self, value: impl Into<Value>, words: &'static [&'static str]) -> Self {
        self.expect(|expected| expected.outcome = Outcome::Shortened(value.into(), words))
    }

    /// Expects a failure before its handler begins, as retryable as its kind.
    pub(super) fn fails(self, kind: FailureKind) -> Self {
        let retryable = kind.retryable_by_default();
        let failing = Failing { kind, started: false, retryable, words: &[], hides_secret: Some(false), cause: None };
        self.expect(|expected| expected.outcome = Outcome::Failure(failing))
    }

    /// Expects that the handler has begun by then.
    pub(super) fn started(self) -> Self {
        self.failing(|failing| failing.started = true)
    }

    pub(super) fn worth_retrying(self) -> Self {
        self.failing(|failing| failing.retryable = true)
    }

    /// Expects these words in the message.
    pub(super) fn saying(self, words: &'static [&'static str]) -> Self {
        self.failing(|failing| failing.words = words)
    }

    /// Expects the secret in the cause.
    pub(super) fn hiding_its_cause(self) -> Self {
        self.failing(|failing| failing.hides_secret = Some(true))
    }

    /// Expects these words in the cause, for the operator.
    pub(super) fn because(self, words: &'static str) -> Self {
        self.failing(|failing| failing.cause = Some(words))
    }

    /// Expects nothing of the causes.
    #[allow(dead_code, reason = "causes do not leave the process of a tool")]
    pub(super) fn ignoring_causes(mut self) -> Self {
        for (_, expected) in &mut self.calls {
            if let Outcome::Failure(failing) = &mut expected.outcome {
                (failing.hides_secret, failing.cause) = (None, None);
            }
        }
        self
    }

    /// Expects this many emitted values before.
    pub(super) fn showing(self, count: usize) -> Self {
        self.expect(|expected| expected.shown = count)
    }

    /// Expects that the healthy calls fail in the same way.
    pub(super) fn like_all_others(mut self) -> Self {
        self.siblings = Siblings::Alike;
        self
    }

    /// Expects that the counting handler ran this often.
    pub(super) fn having_run(mut self, times: usize) -> Self {
        self.runs = Some(times);
        self
    }

    fn failing(self, change: impl FnOnce(&mut Failing)) -> Self {
        self.expect(|expected| match &mut expected.outcome {
            Outcome::Failure(failing) => change(failing),
            _ => panic!("only a failure says more"),
        })
    }

    fn expect(mut self, change: impl FnOnce(&mut Expected)) -> Self {
        change(&mut self.calls.last_mut().unwrap().1);
        self
    }
}

/// Reads all events of a run, as the reader does.
pub(super) async fn read(mut run: Run, reader: Reader) -> Vec<ToolEvent> {
    let mut events = Vec::new();
    match reader {
        Reader::Eager => events = run.collect().await,
        Reader::Pausing(pause) => {
            while let Some(event) = run.next().await {
                events.push(event);
                sleep(pause).await;
            }
        }
        Reader::CancellingAfter(Duration::ZERO) => {
            run.cancel();
            events = run.collect().await;
        }
        Reader::CancellingAfter(wait) => {
            let at = Instant::now() + wait;
            loop {
                tokio::select! {
                    () = sleep_until(at), if Instant::now() < at => run.cancel(),
                    event = run.next() => match event {
                        Some(event) => events.push(event),
                        None => break,
                    },
                }
            }
        }
        Reader::RaisingAfter(Duration::ZERO, flag) => {
            flag.cancel();
            events = run.collect().await;
        }
        Reader::RaisingAfter(wait, flag) => {
            tokio::spawn(async move {
                sleep(wait).await;
                flag.cancel();
            });
            events = run.collect().await;
        }
        Reader::CancellingAtTheEnd(flag) => {
            while let Some(event) = run.next().await {
                events.push(event);
            }
            run.cancel();
            flag.cancel();
            assert_eq!(run.next().await, None, "something follows the end");
        }
    }
    events
}

impl Case {
    /// Returns the tools of the row, and the healthy one.
    pub(super) fn toolkit(&self) -> Toolkit {
        self.tools.iter().cloned().chain([healthy_tool()]).collect()
    }

    /// Returns all calls, with the faulty ones in the middle.
    pub(super) fn all_calls(&self, way: Way) -> Vec<ToolCall> {
        let (before, all) = way.siblings();
        let faulty = self.calls.iter().map(|(call, _)| call.clone());
        (0..before).map(healthy_call).chain(faulty).chain((before..all).map(healthy_call)).collect()
    }

    pub(super) fn check(&self, way: Way, ran: &Ran, events: &[ToolEvent]) {
        let calls = self.all_calls(way);
        if let Err(breach) = record::check(&calls, events) {
            panic!("{way:?}: {breach}\n{events:#?}");
        }
        for event in events {
            let text = serde_json::to_string(event).unwrap();
            assert!(!text.contains(SECRET), "{way:?}: an event leaks a cause: {text}");
        }
        let mut results: Vec<(usize, &ToolResult)> =
            events.iter().filter_map(|event| Some((event.index(), event.result()?))).collect();
        results.sort_by_key(|(index, _)| *index);
        let results: Vec<ToolResult> = results.into_iter().map(|(_, result)| result.clone()).collect();
        self.check_results(way, &results);
        let (before, _) = way.siblings();
        for (at, (_, expected)) in self.calls.iter().enumerate() {
            let index = before as usize + at;
            let shown = events.iter().filter(|event| event.index() == index && is_shown(event)).count();
            assert_eq!(shown, expected.shown, "{way:?}: how much call {at} showed");
        }
        if matches!(self.siblings, Siblings::Whole) {
            self.check_siblings(way, events);
        }
        if let Some(times) = self.runs {
            assert_eq!(ran.times(), times, "{way:?}: how often the handler ran");
        }
    }

    /// Checks that healthy calls lose no emitted value.
    fn check_siblings(&self, way: Way, events: &[ToolEvent]) {
        let (before, all) = way.siblings();
        for n in 0..all {
            let index = n as usize + if n < before { 0 } else { self.calls.len() };
            let shown = events.iter().filter(|event| event.index() == index && is_shown(event)).count();
            assert_eq!(shown, healthy_shows(n) as usize, "{way:?}: how much the healthy call {n} showed");
        }
    }

    pub(super) fn check_results(&self, way: Way, results: &[ToolResult]) {
        let (before, all) = way.siblings();
        let faulty = before as usize..before as usize + self.calls.len();
        for (result, (_, expected)) in results[faulty.clone()].iter().zip(&self.calls) {
            check_result(way, result, &expected.outcome);
        }
        let around = results[..faulty.start].iter().chain(&results[faulty.end..]);
        for (n, result) in (0..all).zip(around) {
            match (&self.siblings, &self.calls[0].1.outcome) {
                (Siblings::Alike, outcome) => check_result(way, result, outcome),
                (Siblings::Whole, _) => check_result(way, result, &Outcome::Value((2 * n).into())),
            }
        }
    }
}

fn is_shown(event: &ToolEvent) -> bool {
    matches!(event, ToolEvent::Progress { .. } | ToolEvent::Preliminary { .. })
}

fn check_result(way: Way, result: &ToolResult, expected: &Outcome) {
    let for_model = serde_json::to_string(&result.to_call_output()).unwrap();
    assert!(!for_model.contains(SECRET), "{way:?}: the model reads a cause: {for_model}");
    match (expected, result.failure()) {
        (Outcome::Value(value), None) => {
            assert_eq!(result.value().unwrap().to_value(), *value, "{way:?}");
        }
        (Outcome::Shortened(value, words), None) => {
            assert_eq!(result.value().unwrap().to_value(), *value, "{way:?}");
            let text = result.to_call_output().output.to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{way:?}: {words:?} are not all in {text:?}");
        }
        (Outcome::Failure(failing), Some(failure)) => check_failure(way, failure, failing),
        (_, None) => panic!("{way:?}: the call gave {:?}", result.value()),
        (_, Some(failure)) => panic!("{way:?}: the call failed: {failure:?}"),
    }
}

fn check_failure(way: Way, failure: &ToolFailure, expected: &Failing) {
    assert_eq!(failure.kind, expected.kind, "{way:?}: {failure:?}");
    assert_eq!(failure.started, expected.started, "{way:?}: whether it started: {failure:?}");
    assert_eq!(failure.retryable, expected.retryable, "{way:?}: whether to try again: {failure:?}");
    assert!(!failure.message.trim().is_empty(), "{way:?}: nothing is said: {failure:?}");
    for word in expected.words {
        assert!(failure.message.contains(word), "{way:?}: {word:?} is not in {:?}", failure.message);
    }
    assert!(!failure.message.contains(SECRET), "{way:?}: the message leaks the cause");
    let causes = || std::iter::successors(failure.source(), |&error| error.source()).map(ToString::to_string);
    let hides_secret = causes().any(|cause| cause.contains(SECRET));
    let is_kept = expected.hides_secret.is_none_or(|expected| expected == hides_secret);
    assert!(is_kept, "{way:?}: whether the cause is kept for the operator: {failure:?}");
    let is_explained = expected.cause.is_none_or(|words| causes().any(|cause| cause.contains(words)));
    assert!(is_explained, "{way:?}: {:?} is not the cause of {failure:?}", expected.cause);
}
