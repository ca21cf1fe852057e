//! The process with the tools is killed before, during and after calls: each call has exactly one result, which reports
//! truly whether it may have been executed. Nothing sleeps: the other process reports what it has reached, on its
//! standard error or by its lines.

use std::future::pending;
use std::io::{BufRead, BufReader, Write, stderr, stdin, stdout};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use haft::approval::{ApprovalPolicy, ApprovalRequest, Verdict};
use haft::run::{Dispatch, FailureKind, Run, RunOptions, ToolCall, ToolEvent, ToolResult};
use haft::tool::{Cx, Tool};
use haft::toolkit::{SharedToolkit, ToolSource, Toolkit};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_blocking};

use super::client::connect;
use super::process::{Pipes, ToolProcess, serves_tools, starts_stopped};
use super::server::serve;
use super::wire::Link;

/// The test that the other process runs.
const SERVING: &str = concat!(module_path!(), "::nothing_is_killed");

/// Nothing was sent, or the other side has not started the call: it may be repeated.
const NOT_STARTED: Option<(FailureKind, bool, bool)> = Some((FailureKind::ExecutionError, false, true));

/// The call may have been executed: it must not be repeated.
const MAYBE_EXECUTED: Option<(FailureKind, bool, bool)> = Some((FailureKind::OutcomeUnknown, true, false));

const UNKNOWN_TOOL: Option<(FailureKind, bool, bool)> = Some((FailureKind::UnknownTool, false, true));

/// Reports on standard error that it was dropped.
struct ReportsDrop;

impl Drop for ReportsDrop {
    fn drop(&mut self) {
        report("dropped");
    }
}

/// Reports on standard error, not by `eprintln`, whose output a test may capture.
fn report(what: &str) {
    stderr().write_all(format!("{what}\n").as_bytes()).unwrap();
}

/// Creates the tools of the other process.
fn tools() -> Toolkit {
    let echo = Tool::new("echo").handler(|text: String, _| async { text });
    let silent = Tool::new("silent").handler(|(), _| async {
        report("received");
        pending::<()>().await;
    });
    let telling = Tool::new("telling").handler(|(), cx: Cx| async move {
        let _reports = ReportsDrop;
        cx.emit("received").await.unwrap();
        pending::<()>().await;
    });
    let half = Tool::new("half").handler(|(), _| async {
        let mut stdout = stdout();
        write!(stdout, r#"{{"type":"event","number":0,"event":{{"type":"output""#)
            .and_then(|()| stdout.flush())
            .unwrap();
        report("written");
        pending::<()>().await;
    });
    let gated = Tool::new("gated").needs_approval(ApprovalPolicy::always()).handler(|(), _| async {});
    let tools = [echo, silent, telling, half, gated];
    tools.into_iter().map(Result::unwrap).collect()
}

fn serve_tools() {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(serve(&tools(), Link::over(BufReader::new(stdin()), stdout())));
}

/// The tools of another process.
struct Remote {
    process: ToolProcess,
    connection: JoinHandle<()>,
    /// The lines of the other process that were not passed on to the connection.
    received: UnboundedReceiver<String>,
    passed_on: UnboundedSender<String>,
    reports: UnboundedReceiver<String>,
    /// The calls that approval was requested for. There is never a verdict.
    requests: UnboundedReceiver<String>,
}

impl Remote {
    /// Starts a process and fills the source with its tools.
    async fn start(source: &SharedToolkit) -> Self {
        let (process, Pipes { stdin, stdout, stderr }) = ToolProcess::start(SERVING);
        let (sender, reports) = unbounded_channel();
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let Link { incoming: mut received, outgoing } = Link::over(stdout, stdin);
        let (passed_on, incoming) = unbounded_channel();
        let (request, requests) = unbounded_channel();
        let approver = move |asked: ApprovalRequest, _: Cx| {
            request.send(asked.tool).unwrap();
            pending::<Verdict>()
        };
        let before = source.snapshot().generation();
        let connection = tokio::spawn(connect(source.clone(), Link { incoming, outgoing }, approver));
        while source.snapshot().generation() == before {
            passed_on.send(received.recv().await.unwrap()).unwrap();
            tokio::task::yield_now().await;
        }
        Self { process, connection, received, passed_on, reports, requests }
    }

    /// Passes on all lines from here on, until the process is gone.
    fn pass_on(self) -> Connected {
        let Self { process, connection, mut received, passed_on, reports, requests } = self;
        tokio::spawn(async move {
            while let Some(line) = received.recv().await {
                passed_on.send(line).ok();
            }
        });
        Connected { process, connection, reports, requests }
    }
}

/// The tools of another process, all of whose lines are passed on.
struct Connected {
    process: ToolProcess,
    connection: JoinHandle<()>,
    reports: UnboundedReceiver<String>,
    requests: UnboundedReceiver<String>,
}

impl Connected {
    async fn start() -> (SharedToolkit, Self) {
        let source = SharedToolkit::default();
        let remote = Remote::start(&source).await;
        (source, remote.pass_on())
    }

    /// Waits for a report of the other process.
    async fn reported(&mut self, what: &str) {
        while self.reports.recv().await.unwrap() != what {}
    }

    /// Kills the process, and waits until the connection has noticed it.
    async fn kill(mut self) {
        self.process.kill();
        self.connection.await.unwrap();
    }
}

fn call(name: &str) -> ToolCall {
    ToolCall::new(format!("call_{name}"), name, if name == "echo" { r#""hello""# } else { "{}" })
}

fn run(tools: &dyn Dispatch, names: &[&str]) -> Run {
    tools.run_calls(names.iter().map(|name| call(name).into()).collect(), RunOptions::new())
}

/// Reads a run to its end. Each call has exactly one result, and nothing follows it.
async fn results(mut run: Run, count: usize) -> Vec<ToolResult> {
    let mut results = vec![None; count];
    while let Some(event) = run.next().await {
        let of_call = &mut results[event.index()];
        assert!(of_call.is_none(), "{event:?} follows the result {of_call:?}");
        *of_call = event.result().cloned();
    }
    results.into_iter().map(Option::unwrap).collect()
}

async fn result(run: Run) -> ToolResult {
    results(run, 1).await.remove(0)
}

/// Returns the kind of a failure, whether the call had started, and whether it may be repeated.
fn failed(result: &ToolResult) -> Option<(FailureKind, bool, bool)> {
    result.failure().map(|failure| (failure.kind.clone(), failure.started, failure.retryable))
}

fn is_echo(result: &ToolResult) -> bool {
    result.value().is_some_and(|value| value.as_str() == r#""hello""#)
}

/// Polls a run until the other future is ready. No call of it has ended by then.
async fn until<T>(run: &mut Run, ready: impl Future<Output = T>) -> T {
    tokio::select! {
        event = run.next() => panic!("an event before: {event:?}"),
        value = ready => value,
    }
}

#[tokio::test]
async fn nothing_is_killed() {
    if serves_tools() {
        // The runtime of this test can't be used: it is blocked.
        return thread::spawn(serve_tools).join().unwrap();
    }
    let (source, mut remote) = Connected::start().await;
    assert!(is_echo(&result(run(&source, &["echo"])).await));
    let mut cancelled = run(&source, &["telling"]);
    assert!(matches!(cancelled.next().await, Some(ToolEvent::Progress { .. })));
    cancelled.cancel();
    assert_eq!(failed(&result(cancelled).await), Some((FailureKind::Cancelled, true, false)));
    remote.reported("dropped").await;
    remote.kill().await;
}

#[tokio::test(start_paused = true)]
async fn a_timeout_here_reaches_the_handler_there() {
    let source = SharedToolkit::default();
    let mut remote = Remote::start(&source).await.pass_on();
    let options = RunOptions::new().call_timeout(Duration::from_secs(60));
    let mut run = source.run_calls(vec![call("telling").into()], options);
    // The paused clock stands still while this thread waits.
    let (begun, has_begun) = mpsc::channel();
    spawn_blocking(move || has_begun.recv());
    assert!(matches!(run.next().await, Some(ToolEvent::Progress { .. })));
    begun.send(()).unwrap();
    assert_eq!(failed(&result(run).await), Some((FailureKind::TimedOut, true, true)));
    remote.reported("dropped").await;
    remote.kill().await;
}

#[tokio::test]
async fn before_a_call() {
    let (source, remote) = Connected::start().await;
    let before = source.snapshot();
    remote.kill().await;
    assert!(source.snapshot().generation() > before.generation());
    assert_eq!(failed(&result(run(&source, &["echo"])).await), UNKNOWN_TOOL);
    assert_eq!(failed(&result(run(before.toolkit(), &["echo"])).await), NOT_STARTED);
}

#[tokio::test]
#[allow(clippy::await_holding_lock, reason = "no other process may start until the results are there")]
async fn before_the_request_is_sent_and_nobody_has_noticed() {
    let source = SharedToolkit::default();
    let mut remote = Remote::start(&source).await;
    let _stopped = starts_stopped();
    remote.process.kill();
    for _ in 0..2 {
        assert_eq!(failed(&result(run(&source, &["echo"])).await), NOT_STARTED);
    }
    assert!(!source.snapshot().toolkit().is_empty());
}

#[tokio::test]
async fn after_the_request_was_received() {
    let (source, mut remote) = Connected::start().await;
    let mut run = run(&source, &["silent"]);
    until(&mut run, remote.reported("received")).await;
    remote.kill().await;
    assert_eq!(failed(&result(run).await), MAYBE_EXECUTED);
}

#[tokio::test]
async fn after_progress() {
    let (source, remote) = Connected::start().await;
    let mut run = run(&source, &["telling"]);
    assert!(matches!(run.next().await, Some(ToolEvent::Progress { .. })));
    remote.kill().await;
    assert_eq!(failed(&result(run).await), MAYBE_EXECUTED);
}

#[tokio::test]
async fn while_it_waits_for_a_verdict() {
    let (source, mut remote) = Connected::start().await;
    let mut run = run(&source, &["gated"]);
    assert_eq!(until(&mut run, remote.requests.recv()).await.unwrap(), "gated");
    remote.kill().await;
    assert_eq!(failed(&result(run).await), NOT_STARTED);
}

#[tokio::test]
async fn in_the_middle_of_the_reply() {
    let (source, mut remote) = Connected::start().await;
    let mut run = run(&source, &["half"]);
    until(&mut run, remote.reported("written")).await;
    remote.kill().await;
    assert_eq!(failed(&result(run).await), MAYBE_EXECUTED);
}

#[tokio::test]
async fn after_the_reply_was_written() {
    for is_read in [true, false] {
        let source = SharedToolkit::default();
        let mut remote = Remote::start(&source).await;
        let mut run = run(&source, &["echo"]);
        let reply = loop {
            let line = until(&mut run, remote.received.recv()).await.unwrap();
            if line.contains("hello") {
                break line;
            }
        };
        remote.process.kill();
        if is_read {
            remote.passed_on.send(reply).unwrap();
        }
        drop(remote.passed_on);
        let result = result(run).await;
        assert_eq!(is_echo(&result), is_read);
        assert_eq!(failed(&result), if is_read { None } else { MAYBE_EXECUTED });
        remote.connection.await.unwrap();
    }
}

#[tokio::test]
async fn after_a_call_and_started_again() {
    let source = SharedToolkit::default();
    let namespaced = source.clone().namespaced("remote").unwrap();
    for _ in 0..2 {
        let remote = Remote::start(&source).await.pass_on();
        let (first, second) = (source.snapshot(), namespaced.snapshot());
        assert!(is_echo(&result(run(&source, &["echo"])).await));
        remote.kill().await;
        assert_eq!(failed(&result(run(&source, &["echo"])).await), UNKNOWN_TOOL);
        assert!(source.snapshot().generation() > first.generation());
        assert!(namespaced.snapshot().generation() > second.generation());
    }
}

#[tokio::test]
async fn with_several_calls_in_progress() {
    let (source, mut remote) = Connected::start().await;
    let names = ["silent", "gated", "echo", "telling"];
    let mut run = run(&source, &names);
    let (mut echoed, mut told) = (None, false);
    while echoed.is_none() || !told {
        match run.next().await.unwrap() {
            ToolEvent::Progress { index: 3, .. } => told = true,
            ToolEvent::Output { index: 2, result } => echoed = Some(result),
            event => panic!("{event:?}"),
        }
    }
    assert!(is_echo(&echoed.unwrap()));
    until(&mut run, async { (remote.reported("received").await, remote.requests.recv().await) }).await;
    remote.kill().await;
    let mut others = Vec::new();
    while let Some(event) = run.next().await {
        others.push((event.index(), failed(event.result().unwrap())));
    }
    others.sort_by_key(|(index, _)| *index);
    assert_eq!(others, [(0, MAYBE_EXECUTED), (1, NOT_STARTED), (3, MAYBE_EXECUTED)]);
}
