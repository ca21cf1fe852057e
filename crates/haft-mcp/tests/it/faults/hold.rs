//! Checking a row with its handlers in a server process.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use haft_core::FailureKind::{
    Cancelled, Denied, DuplicateCallId, InputValidationError, NonLocalTool, OutcomeUnknown, OutputTooLarge,
    PermissionDenied, TimedOut, ToolFailed, UnknownTool,
};
use haft_core::{FailureKind, ToolCall, ToolEvent, ToolFailure, ToolResult};
use haft_executor::{Cancellation, ForwardCx, Tool, Toolkit};
use haft_mcp::{Era, McpClient, McpServer};
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::case::{Case, Ran, Reader, read};
use super::serve::{self, FOLDER, IDEMPOTENT, KILL};
use super::way::{Way, paused};
use crate::process::kill;

/// A time longer than any row takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// The kinds of failures that are found on this side, so they are the same ones as without a server.
const OURS: [FailureKind; 9] = [
    Cancelled,
    Denied,
    DuplicateCallId,
    InputValidationError,
    NonLocalTool,
    OutputTooLarge,
    PermissionDenied,
    TimedOut,
    UnknownTool,
];

/// The end of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Killed {
    Never,
    /// Before the calls.
    Before,
    /// As soon as it has received a call, whose tool is idempotent or not.
    During {
        is_idempotent: bool,
    },
    /// As soon as it has answered a call.
    After,
}

/// Checks a row.
pub(super) fn hold(test: &str, row: impl Fn(&Ran) -> Case) {
    if let Some(folder) = serve::folder() {
        return serve::serve(folder, &row);
    }
    let [alone, .., among_siblings] = Way::ALL;
    for way in [alone, among_siblings] {
        let reference = reference(way, &row);
        let killed = [
            Killed::Before,
            Killed::During { is_idempotent: false },
            Killed::During { is_idempotent: true },
            Killed::After,
        ];
        // Alone there is nothing that a killed server could affect besides.
        let killed = if reference.len() > 10 { &killed[..] } else { &[Killed::Never] };
        for &killed in killed {
            let folder = tempfile::tempdir().unwrap();
            let (calls, results) = run(test, way, killed, folder.path(), &row);
            let received = serve::received(folder.path());
            for (index, (call, result)) in calls.iter().zip(&results).enumerate() {
                let place = || format!("{killed:?}, call {index}, {call:?}: {result:?}");
                check_truth(&calls, call, result, killed, &received, &place);
                if killed == Killed::Never && !is_timed(test) {
                    check_same(result, &reference[index], &place);
                }
            }
        }
    }
}

/// Returns the results of a row without a server.
fn reference(way: Way, row: &impl Fn(&Ran) -> Case) -> Vec<ToolResult> {
    paused().block_on(async {
        let case = row(&Ran::default());
        let run = case.toolkit().run_with(case.all_calls(way), way.options(case.options.clone()));
        results(&read(run, case.reader.clone()).await)
    })
}

/// Runs the calls of a row by a server, and checks that each has exactly one result.
fn run(
    test: &str,
    way: Way,
    killed: Killed,
    folder: &Path,
    row: &impl Fn(&Ran) -> Case,
) -> (Vec<ToolCall>, Vec<ToolResult>) {
    let run = async {
        let client = server(test, killed, folder).connect().await.unwrap();
        let case = row(&Ran::default());
        let tools = tools(&client, &case.toolkit());
        let calls = case.all_calls(way);
        let mut options = way.options(case.options.clone());
        let reader = match case.reader.clone() {
            // The clock is a real one, which does not stop for the reader.
            Reader::Pausing(_) => Reader::Eager,
            Reader::CancellingAfter(wait) if !wait.is_zero() => {
                let flag = Cancellation::new();
                options = options.cancellation(flag.clone());
                Reader::RaisingAfter(wait, flag)
            }
            reader => reader,
        };
        if killed == Killed::Before {
            kill(&std::fs::read_to_string(folder.join("pid")).unwrap()).await;
        }
        let run = tools.run_with(calls.clone(), options);
        let events = read(run, reader).await;
        for index in 0..calls.len() {
            let outputs = events.iter().filter(|event| event.index() == index && event.result().is_some()).count();
            assert_eq!(outputs, 1, "{killed:?}: the outputs of call {index}: {events:#?}");
            let last = events.iter().rfind(|event| event.index() == index).unwrap();
            assert!(last.result().is_some(), "{killed:?}: something follows the output of call {index}");
        }
        client.close().await;
        (calls, results(&events))
    };
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let ended = runtime.block_on(async { timeout(PATIENCE, run).await });
    ended.unwrap_or_else(|_| panic!("{killed:?}: the run never ends"))
}

fn server(test: &str, killed: Killed, folder: &Path) -> McpServer {
    let test = test.strip_prefix("it::").unwrap();
    let server = McpServer::command(std::env::current_exe().unwrap(), [test, "--exact", "--nocapture"]);
    let server = server.era(Era::Legacy).env(FOLDER, folder).env("RUST_BACKTRACE", "0");
    // Another call for each row.
    let call = test.bytes().map(usize::from).sum::<usize>() % 20 + 1;
    match killed {
        Killed::Never | Killed::Before => server,
        Killed::During { is_idempotent: false } => server.env(KILL, format!("received {call}")),
        Killed::During { is_idempotent: true } => server.env(KILL, format!("received {call}")).env(IDEMPOTENT, "1"),
        Killed::After => server.env(KILL, format!("answered {call}")),
    }
}

/// Returns the tools of the server with the limits and the approval of the row's, and those that no server runs.
fn tools(client: &McpClient, row: &Toolkit) -> Toolkit {
    let (mut forwarded, mut others) = (Vec::new(), Vec::new());
    for tool in row {
        let listed = client.offered().tools.iter().find(|listed| listed.tool.name() == tool.name()).cloned();
        match listed {
            Some(listed) => {
                let listed = listed.tool.with_limits(tool.limits().clone()).unwrap();
                forwarded.push(listed.set_needs_approval(tool.approval().clone()).unwrap());
            }
            None => others.push(tool.clone()),
        }
    }
    let client = client.clone();
    let forward = move |tool: Tool, call: ToolCall, cx: ForwardCx| {
        let client = client.clone();
        async move { client.forward(tool, call, cx).await }
    };
    Toolkit::<()>::dynamic(forwarded).forward(forward).unwrap().iter().cloned().chain(others).collect()
}

fn results(events: &[ToolEvent]) -> Vec<ToolResult> {
    let results = events.iter().filter_map(|event| Some((event.index(), event.result()?.clone())));
    results.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// Checks a result by the calls that were received: what is said about its effect must be true.
fn check_truth(
    calls: &[ToolCall],
    call: &ToolCall,
    result: &ToolResult,
    killed: Killed,
    received: &[(String, Value)],
    place: &impl Fn() -> String,
) {
    let is_idempotent = killed == Killed::During { is_idempotent: true };
    let arguments = |call: &ToolCall| serde_json::from_str::<Value>(&call.arguments).unwrap_or_default();
    let same = calls.iter().filter(|other| other.name == call.name && arguments(other) == arguments(call)).count();
    let times = received.iter().filter(|(name, args)| *name == call.name && *args == arguments(call)).count();
    let Some(failure) = result.failure() else {
        assert!(is_idempotent || times <= same, "it was sent {times} times: {}", place());
        return;
    };
    if failure.kind == OutcomeUnknown {
        assert!(matches!(killed, Killed::During { is_idempotent: false } | Killed::After), "{}", place());
        assert!(failure.started && !failure.retryable, "{}", place());
    }
    assert!(is_idempotent || times <= same, "it was sent {times} times: {}", place());
    // Several equal calls can't be told apart.
    if same == 1 && !failure.started {
        assert_eq!(times, 0, "it was sent: {}", place());
    }
}

/// Checks a result against that without a server.
fn check_same(result: &ToolResult, reference: &ToolResult, place: &impl Fn() -> String) {
    match (result.failure(), reference.failure()) {
        (None, None) => {
            let value = |result: &ToolResult| result.value().unwrap().to_value();
            assert_eq!(value(result), value(reference), "{}", place());
        }
        (Some(ToolFailure { kind: ToolFailed, started: true, .. }), Some(_)) => {}
        (Some(failure), Some(reference)) => {
            assert_eq!(failure.kind, reference.kind, "{}", place());
            assert!(OURS.contains(&failure.kind), "{}", place());
        }
        _ => panic!("without a server it is {reference:?}: {}", place()),
    }
}

/// Reports whether a row is about times of a few milliseconds, which is no question for a real clock.
fn is_timed(test: &str) -> bool {
    let words = ["clock", "deadline", "midway", "silence", "timeout", "waits", "panic_when", "never_continues"];
    words.iter().any(|word| test.contains(word))
}
