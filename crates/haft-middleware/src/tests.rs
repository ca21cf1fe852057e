//! The middlewares together, and what their tests share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{Annotations, FailureKind, Idempotent, Outcome, Readonly, ToolCall, ToolFailure, ToolResult};
use haft_executor::{Cancellation, Cx, Middleware, Next, Request, RunOptions, Tool, Toolkit};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::*;

/// One scripted run of a probe: takes so long, and then succeeds or fails.
#[derive(Clone)]
pub(crate) struct ScriptedRun {
    takes: Duration,
    fails: Option<ToolFailure>,
}

/// A tool that follows a script and records its runs. After the script's end it succeeds at once.
#[derive(Clone)]
pub(crate) struct Probe {
    script: Arc<Mutex<VecDeque<ScriptedRun>>>,
    runs: Arc<Mutex<Vec<ProbeRun>>>,
    began: Instant,
}

/// One of a probe's runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProbeRun {
    /// Since the probe was made.
    pub(crate) at_ms: u128,
    pub(crate) attempt: u32,
    pub(crate) arguments: Value,
    pub(crate) deadline_ms: Option<u128>,
}

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn succeeds() -> ScriptedRun {
    ScriptedRun { takes: Duration::ZERO, fails: None }
}

pub(crate) fn fails(failure: ToolFailure) -> ScriptedRun {
    ScriptedRun { takes: Duration::ZERO, fails: Some(failure) }
}

/// Creates a failure that may be temporary.
pub(crate) fn busy() -> ToolFailure {
    ToolFailure::new(FailureKind::ExecutionError, "busy").retryable()
}

pub(crate) fn idempotent() -> Annotations {
    Annotations::new().with(Idempotent(true))
}

pub(crate) fn pure() -> Annotations {
    idempotent().with(Readonly(true))
}

impl ScriptedRun {
    pub(crate) fn after(self, millis: u64) -> Self {
        Self { takes: ms(millis), ..self }
    }
}

impl Probe {
    pub(crate) fn new(script: impl IntoIterator<Item = ScriptedRun>) -> Self {
        let script = Arc::new(Mutex::new(script.into_iter().collect()));
        Self { script, runs: Arc::default(), began: Instant::now() }
    }

    /// Creates the tool `probe`. It returns the number of earlier runs.
    pub(crate) fn tool(&self, annotations: Annotations) -> Tool {
        let probe = self.clone();
        let run = move |arguments: Value, cx: Cx| {
            let (step, number) = probe.begin(arguments, &cx);
            async move {
                sleep(step.takes).await;
                match step.fails {
                    Some(failure) => Err(failure),
                    None => Ok(number),
                }
            }
        };
        let tool = Tool::dynamic("probe").try_handler_opaque(run).unwrap();
        tool.annotate_merge(annotations)
    }

    fn begin(&self, arguments: Value, cx: &Cx) -> (ScriptedRun, usize) {
        let since = |instant: Instant| instant.duration_since(self.began).as_millis();
        let run = ProbeRun {
            at_ms: since(Instant::now()),
            attempt: cx.attempt(),
            arguments,
            deadline_ms: cx.deadline().map(since),
        };
        let step = self.script.lock().unwrap().pop_front().unwrap_or_else(succeeds);
        let mut runs = self.runs.lock().unwrap();
        runs.push(run);
        (step, runs.len() - 1)
    }

    pub(crate) fn runs(&self) -> Vec<ProbeRun> {
        self.runs.lock().unwrap().clone()
    }

    /// Returns the times at which the handler was run.
    pub(crate) fn times(&self) -> Vec<u128> {
        self.runs().iter().map(|run| run.at_ms).collect()
    }
}

pub(crate) fn call(arguments: &str) -> ToolCall {
    ToolCall::new("c1", "probe", arguments)
}

/// Runs one call without arguments.
pub(crate) async fn run(tool: &Tool) -> ToolResult {
    let call = call("{}");
    run_call(tool, &call, &RunOptions::new()).await
}

/// Runs one call with options.
pub(crate) async fn run_call(tool: &Tool, call: &ToolCall, options: &RunOptions) -> ToolResult {
    kit_of(tool.clone()).run_call_with(call, options).await
}

/// Runs one call without arguments, with options.
pub(crate) async fn run_in(tool: &Tool, options: impl FnOnce(RunOptions) -> RunOptions) -> ToolResult {
    let call = call("{}");
    run_call(tool, &call, &options(RunOptions::new())).await
}

/// Summarises a result: its value, or its failure's kind and whether the handler had begun.
pub(crate) fn brief(result: &ToolResult) -> Value {
    match result.failure() {
        Some(failure) => json!([failure.kind.as_str(), failure.started]),
        None => result.value().unwrap().to_value(),
    }
}

/// Creates a middleware that answers every call instead of the tool.
pub(crate) fn answers(outcome: impl Fn() -> Outcome + Send + Sync + 'static) -> impl Middleware {
    move |_request: Request, _next: Next| std::future::ready(outcome())
}

#[tokio::test]
async fn the_last_middleware_applied_is_the_outermost() {
    let order: Arc<Mutex<Vec<String>>> = Arc::default();
    let layer = |name: &'static str| {
        let order = Arc::clone(&order);
        move |request: Request, next: Next| {
            let order = Arc::clone(&order);
            async move {
                order.lock().unwrap().push(format!("{name} in"));
                let outcome = next.run(request).await;
                order.lock().unwrap().push(format!("{name} out"));
                outcome
            }
        }
    };
    let tool = Probe::new([]).tool(Annotations::new()).wrap(layer("first")).wrap(layer("second")).wrap(layer("third"));
    assert!(run(&tool).await.is_ok());
    assert_eq!(*order.lock().unwrap(), ["third in", "second in", "first in", "first out", "second out", "third out"]);
}

#[tokio::test(start_paused = true)]
async fn every_attempt_takes_its_turn_and_has_its_own_time() {
    let script = [succeeds().after(5_000), fails(busy()).after(10), succeeds().after(20)];
    let probe = Probe::new(script);
    let tool = probe
        .tool(idempotent())
        .wrap(Timeout::new(ms(100)))
        .wrap(RateLimit::new(1, ms(1_000)))
        .wrap(Retry::new(5).backoff(Backoff::constant(ms(50))));
    let result = run(&tool).await;
    assert_eq!(brief(&result), 2);
    // The first times out at 100 ms, the others wait for the limit; each has 100 ms from its own begin.
    let seen: Vec<_> = probe.runs().iter().map(|run| (run.at_ms, run.attempt, run.deadline_ms)).collect();
    assert_eq!(seen, [(0, 1, Some(100)), (1_000, 2, Some(1_100)), (2_000, 3, Some(2_100))]);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_around_a_retry_ends_the_waiting_too() {
    let probe = Probe::new([fails(busy()), fails(busy()), fails(busy())]);
    let retry = Retry::new(9).backoff(Backoff::constant(ms(400)));
    let tool = probe.tool(idempotent()).wrap(retry).wrap(Timeout::new(ms(1_000)));
    let began = Instant::now();
    let result = run(&tool).await;
    // The third failure comes at 800 ms, and the next attempt would come after the timeout's deadline.
    assert_eq!(brief(&result), json!(["execution_error", true]));
    assert_eq!((probe.times(), began.elapsed()), (vec![0, 400, 800], ms(800)));
}

#[tokio::test(start_paused = true)]
async fn a_cached_answer_takes_no_turn() {
    let probe = Probe::new([]);
    let tool = probe
        .tool(pure())
        .wrap(RateLimit::new(1, ms(60_000)).reject())
        .wrap(Retry::new(3))
        .wrap(Cache::new(ms(10_000)));
    for _ in 0..5 {
        assert_eq!(brief(&run(&tool).await), 0);
    }
    let other = call(r#"{"other": 1}"#);
    let rejected = run_call(&tool, &other, &RunOptions::new().deadline(Instant::now() + ms(5_000))).await;
    assert_eq!(brief(&rejected), json!(["rate_limited", false]));
    assert_eq!(probe.times(), [0]);
}

#[tokio::test(start_paused = true)]
async fn a_rejection_by_the_limit_inside_a_retry_is_returned_at_once() {
    let probe = Probe::new([fails(busy())]);
    let limit = RateLimit::new(1, ms(10_000)).reject();
    let tool = probe.tool(idempotent()).wrap(limit).wrap(Retry::new(5).backoff(Backoff::constant(ms(50))));
    let began = Instant::now();
    // The first attempt takes the only turn and fails, the second is rejected.
    assert_eq!(brief(&run(&tool).await), json!(["rate_limited", true]));
    // The next call is rejected before its first attempt.
    assert_eq!(brief(&run(&tool).await), json!(["rate_limited", false]));
    assert_eq!((probe.times(), began.elapsed()), (vec![0], ms(50)));
}

#[tokio::test(start_paused = true)]
async fn a_limit_around_a_retry_counts_a_call_once_whatever_its_attempts() {
    let probe = Probe::new([fails(busy()), fails(busy()), succeeds()]);
    let limit = RateLimit::new(1, ms(10_000)).reject();
    let tool = probe.tool(idempotent()).wrap(Retry::new(5).backoff(Backoff::constant(ms(50)))).wrap(limit);
    assert_eq!(brief(&run(&tool).await), 2);
    assert_eq!(brief(&run(&tool).await), json!(["rate_limited", false]));
    assert_eq!(probe.times(), [0, 50, 100]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_repeats_rejections_on_request_and_those_of_the_service_behind_the_tool() {
    let retry = || Retry::new(5).backoff(Backoff::constant(ms(50)));
    let probe = Probe::new([]);
    let limit = RateLimit::new(1, ms(1_000)).reject();
    let tool = probe.tool(idempotent()).wrap(limit).wrap(retry().when(|failure| failure.retryable));
    assert_eq!([brief(&run(&tool).await), brief(&run(&tool).await)], [0, 1]);
    assert_eq!(probe.times(), [0, 1_000]);

    let probe = Probe::new([fails(ToolFailure::new(RateLimit::KIND, "slow down").retry_after(ms(700)))]);
    assert_eq!(brief(&run(&probe.tool(idempotent()).wrap(retry())).await), 1);
    assert_eq!(probe.times(), [0, 700]);
}

fn kit_of(tool: Tool) -> Toolkit {
    Toolkit::new().with(tool).unwrap()
}

fn calls(number: usize) -> Vec<ToolCall> {
    (0..number).map(|index| ToolCall::new(format!("c{index}").as_str(), "probe", "{}")).collect()
}

#[tokio::test(start_paused = true)]
async fn equal_calls_of_a_batch_and_of_the_next_one_run_once() {
    let probe = Probe::new([succeeds().after(50)]);
    let kit = kit_of(probe.tool(pure()).wrap(Cache::new(ms(10_000))));
    for _ in 0..2 {
        let results = kit.run(calls(8)).collect_results().await;
        assert_eq!(results.iter().map(brief).collect::<Vec<_>>(), vec![json!(0); 8]);
    }
    assert_eq!(probe.times(), [0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn equal_calls_on_several_threads_run_once() {
    let probe = Probe::new([]);
    let kit = kit_of(probe.tool(pure()).wrap(Cache::new(Duration::MAX)));
    let results = kit.run_with(calls(64), RunOptions::new().spawned()).collect_results().await;
    assert_eq!(results.iter().map(brief).collect::<Vec<_>>(), vec![json!(0); 64]);
    assert_eq!(probe.runs().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_inside_fails_its_own_call_only() {
    let crash = |request: Request, next: Next| async move {
        assert!(request.call_id().as_str() != "c0", "a planned panic");
        next.run(request).await
    };
    let tool = Probe::new([]).tool(pure()).wrap(crash);
    let kit = kit_of(tool.wrap(RateLimit::new(1, ms(10))).wrap(Retry::new(3)).wrap(Cache::new(ms(1_000))));
    let results = kit.run(calls(3)).collect_results().await;
    let brief: Vec<_> = results.iter().map(brief).collect();
    assert_eq!(brief, [json!(["execution_error", false]), json!(0), json!(0)]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_waits_for_no_middleware() {
    let probe = Probe::new(vec![fails(busy()); 9]);
    let slow = Retry::new(9).backoff(Backoff::constant(ms(60_000)));
    let tools = [
        probe.tool(idempotent()).wrap(slow),
        Probe::new([]).tool(pure()).wrap(RateLimit::new(1, ms(60_000))),
        Probe::new([succeeds().after(60_000)]).tool(pure()).wrap(Cache::new(ms(1))),
    ];
    for tool in tools {
        let began = Instant::now();
        let cancellation = Cancellation::new();
        let run = kit_of(tool).run_with(calls(2), RunOptions::new().cancellation(cancellation.clone()));
        let (results, ()) = tokio::join!(run.collect_results(), async {
            sleep(ms(30)).await;
            cancellation.cancel();
        });
        assert_eq!((results.len(), began.elapsed()), (2, ms(30)));
        assert!(
            results.iter().all(|result| result.is_ok() || result.failure().unwrap().kind == FailureKind::Cancelled)
        );
    }
}
