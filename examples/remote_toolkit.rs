//! A toolkit in another process, over lines of JSON, with public API only: here a source of forwarding tools, there an
//! executor that serves any source. Progress, preliminary results, approvals, timeouts and cancellation work as for
//! local tools; and when the other process dies, each call still has one result that reports whether it may have been
//! executed.
//!
//! Approval is decided here: the other side, which has the policies, requests it, and its own executor checks the
//! verdict.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "remote_toolkit/client.rs"]
mod client;
#[path = "remote_toolkit/server.rs"]
mod server;
#[path = "remote_toolkit/wire.rs"]
mod wire;

use std::env;
use std::future::pending;
use std::io::BufReader;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use haft::approval::Verdict;
use haft::prelude::*;
use haft::run::Dispatch;
use haft::tool::ExecutionLimits;
use haft::toolkit::{SharedToolkit, ToolSource};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::client::connect;
use self::server::serve;
use self::wire::Link;

/// Set in the process that has the tools.
const SERVES: &str = "HAFT_EXAMPLE_SERVES_TOOLS";

/// Records that a call was dropped before its end.
struct NoteOnDrop(watch::Sender<bool>);

impl Drop for NoteOnDrop {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// Creates the tools of the other process.
fn tools() -> anyhow::Result<Toolkit> {
    let (cancelled, _) = watch::channel(false);
    let noting = cancelled.clone();
    let count = Tool::new("count").annotate(Readonly(true)).handler(|words: Vec<String>, cx: Cx| async move {
        for done in 1..words.len() {
            cx.emit(json!({"done": done, "total": words.len()})).await.ok();
            cx.preliminary(done).await.ok();
        }
        words.len()
    })?;
    let pay = Tool::new("pay")
        .needs_approval(ApprovalPolicy::always())
        .handler(|cents: u32, _cx| async move { format!("paid {cents}") })?;
    let slow = Tool::new("slow")
        .limits(ExecutionLimits::new().timeout(Duration::from_millis(50)))
        .handler(|(), _cx| pending::<()>())?;
    let wait = Tool::new("wait").handler(move |(), cx: Cx| {
        let note = NoteOnDrop(noting.clone());
        async move {
            cx.emit("waiting").await.ok();
            pending::<()>().await;
            drop(note);
        }
    })?;
    let cancelled = Tool::new("cancelled").handler(move |(), _cx| {
        let mut cancelled = cancelled.subscribe();
        async move { cancelled.wait_for(|is_cancelled| *is_cancelled).await.is_ok() }
    })?;
    let exit = Tool::new("exit").handler(|code: u8, _cx| async move {
        if code > 0 {
            std::process::exit(code.into());
        }
    })?;
    Ok(Toolkit::new().with_all([count, pay, slow, wait, cancelled, exit])?)
}

/// Starts this program again, as the process that has the tools, and fills the source with them.
async fn start(source: &SharedToolkit) -> anyhow::Result<(Child, JoinHandle<()>)> {
    let mut child = Command::new(env::current_exe()?)
        .env(SERVES, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("this program can't be started again")?;
    let (stdin, stdout) = (child.stdin.take().context("no stdin")?, child.stdout.take().context("no stdout")?);
    let before = source.snapshot().generation();
    let connection = tokio::spawn(connect(source.clone(), Link::over(BufReader::new(stdout), stdin), decide));
    source.changed(before).await;
    Ok((child, connection))
}

/// Approves payments up to a limit.
async fn decide(request: ApprovalRequest, _cx: Cx) -> Verdict {
    println!("approval of {} {}", request.tool, request.arguments);
    let is_small = request.arguments.parse().is_ok_and(|cents: u32| cents <= 100);
    if is_small { request.approve() } else { request.deny("too much") }
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(format!("call_{name}"), format!("remote__{name}"), arguments)
}

/// Returns the kind of a failure, and whether the call had started.
fn failed(result: &ToolResult) -> Option<(FailureKind, bool)> {
    result.failure().map(|failure| (failure.kind.clone(), failure.started))
}

/// Runs one call to its end, and returns its result and what it emitted.
async fn run(tools: &dyn Dispatch, call: ToolCall, options: RunOptions) -> anyhow::Result<(ToolResult, Vec<String>)> {
    let (mut results, mut emitted) = (Vec::new(), Vec::new());
    let mut run = tools.run_calls(vec![call.into()], options);
    while let Some(event) = run.next().await {
        match event {
            ToolEvent::Progress { data, .. } => emitted.push(format!("progress {data}")),
            ToolEvent::Preliminary { value, .. } => emitted.push(format!("preliminary {value}")),
            ToolEvent::Output { result, .. } => results.push(result),
            _ => {}
        }
    }
    anyhow::ensure!(results.len() == 1, "exactly one result");
    let result = results.remove(0);
    println!("{} -> {}", result.tool, result.to_model_text());
    Ok((result, emitted))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if env::var_os(SERVES).is_some() {
        serve(&tools()?, Link::over(BufReader::new(std::io::stdin()), std::io::stdout())).await;
        return Ok(());
    }
    let source = SharedToolkit::default();
    let remote = source.clone().namespaced("remote")?;
    let (mut child, connection) = start(&source).await?;
    let plain = RunOptions::new;
    println!("tools: {:?}", remote.snapshot().toolkit().names().collect::<Vec<_>>());

    // Arguments are checked here, before anything is sent.
    let (result, _) = run(&remote, call("count", r#"["a", 1]"#), plain()).await?;
    assert_eq!(failed(&result), Some((FailureKind::InputValidationError, false)));
    let (result, emitted) = run(&remote, call("count", r#"["a", "b"]"#), plain()).await?;
    assert_eq!(result.decode::<usize>()?, 2);
    assert_eq!(emitted, [r#"progress {"done":1,"total":2}"#, "preliminary 1"]);

    let (result, _) = run(&remote, call("pay", "100"), plain()).await?;
    assert_eq!(result.decode::<String>()?, "paid 100");
    let (result, _) = run(&remote, call("pay", "101"), plain()).await?;
    assert_eq!(failed(&result), Some((FailureKind::Denied, false)));

    // A timeout there, and one here. A cancellation here reaches the handler there, as the timeout does.
    let (result, _) = run(&remote, call("slow", "{}"), plain()).await?;
    assert_eq!(failed(&result), Some((FailureKind::TimedOut, true)));
    let (result, _) = run(&remote, call("wait", "{}"), plain().call_timeout(Duration::from_millis(50))).await?;
    assert_eq!(failed(&result), Some((FailureKind::TimedOut, true)));
    let mut waiting = remote.run_calls(vec![call("wait", "{}").into()], plain());
    assert!(matches!(waiting.next().await, Some(ToolEvent::Progress { .. })));
    waiting.cancel();
    let results = waiting.collect_results().await;
    assert_eq!(failed(&results[0]), Some((FailureKind::Cancelled, true)));
    let (result, _) = run(&remote, call("cancelled", "{}"), plain()).await?;
    assert!(result.decode::<bool>()?, "the handler there was cancelled");

    // The process ends during a call, which may have been executed. A later call with the tools of before is not sent,
    // and the source has no tools any more.
    let before = remote.snapshot();
    let (result, _) = run(&remote, call("exit", "1"), plain()).await?;
    assert_eq!(failed(&result), Some((FailureKind::OutcomeUnknown, true)));
    connection.await?;
    child.wait()?;
    let (result, _) = run(before.toolkit(), call("count", r#"["a"]"#), plain()).await?;
    assert_eq!(failed(&result), Some((FailureKind::ExecutionError, false)));
    let (result, _) = run(&remote, call("count", r#"["a"]"#), plain()).await?;
    assert_eq!(failed(&result), Some((FailureKind::UnknownTool, false)));

    // The process is started again, and the source has its tools again.
    let (mut child, connection) = start(&source).await?;
    let (result, _) = run(&remote, call("count", r#"["a"]"#), plain()).await?;
    assert_eq!(result.decode::<usize>()?, 1);
    child.kill()?;
    child.wait()?;
    connection.await?;
    Ok(())
}
