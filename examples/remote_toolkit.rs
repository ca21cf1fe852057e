//! A toolkit in another process, over lines of JSON, with public API only: a set of forwarding tools here, and an
//! executor there. Progress, preliminary results, approvals, timeouts and cancellation work as for local tools; and when
//! the other process dies, each call still has one result that says whether it may have been executed.
//!
//! Approval is decided here: the other side, which has the policies, requests it, and its own executor checks the verdict.

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
use haft::approval::ApprovalDecision;
use haft::prelude::*;
use haft::tool::ExecutionLimits;
use serde_json::json;
use tokio::sync::watch;

use self::client::Remote;
use self::server::serve;
use self::wire::Link;

/// Set in the process that has the tools.
const SERVES: &str = "HAFT_EXAMPLE_SERVES_TOOLS";

/// Records that a call was dropped before its end.
struct NoteOnDrop(watch::Sender<Vec<String>>);

impl Drop for NoteOnDrop {
    fn drop(&mut self) {
        self.0.send_modify(|notes| notes.push("a call was cancelled".to_owned()));
    }
}

/// Creates the tools of the other process.
fn tools() -> anyhow::Result<Toolkit> {
    let (notes, _) = watch::channel(Vec::new());
    let noting = notes.clone();
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
    let notes = Tool::new("notes").handler(move |(), _cx| {
        let mut notes = notes.subscribe();
        async move { notes.wait_for(|notes| !notes.is_empty()).await.map(|notes| notes.clone()).unwrap_or_default() }
    })?;
    let die = Tool::new("die").handler(|is_sure: bool, _cx| async move {
        if is_sure {
            std::process::exit(1);
        }
    })?;
    Ok(Toolkit::new().with_all([count, pay, slow, wait, notes, die])?)
}

/// Starts this program again, as the process that has the tools.
fn spawn() -> anyhow::Result<(Child, Link)> {
    let mut child = Command::new(env::current_exe()?)
        .env(SERVES, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("this program can't be started again")?;
    let (stdin, stdout) = (child.stdin.take().context("no stdin")?, child.stdout.take().context("no stdout")?);
    Ok((child, Link::over(BufReader::new(stdout), stdin)))
}

/// Approves payments up to a limit.
fn decide(request: &ApprovalRequest) -> ApprovalDecision {
    println!("approval of {} {}", request.tool, request.arguments);
    let is_small = request.arguments.parse().is_ok_and(|cents: u32| cents <= 100);
    if is_small { ApprovalDecision::Approved } else { ApprovalDecision::Denied }
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(format!("call_{name}"), format!("remote__{name}"), arguments)
}

/// Returns the kind of a failure, and whether the call had started.
fn failed(result: &ToolResult) -> Option<(FailureKind, bool)> {
    result.failure().map(|failure| (failure.kind.clone(), failure.started))
}

/// Runs one call to its end, and returns its result and what it emitted.
async fn run(kit: &Toolkit, call: ToolCall) -> anyhow::Result<(ToolResult, Vec<String>)> {
    let (mut results, mut emitted) = (Vec::new(), Vec::new());
    let mut run = kit.run([call]);
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
    let (mut child, link) = spawn()?;
    let (remote, tools) = Remote::connect(link, decide).await?;
    let kit = remote.toolkit(&tools)?.namespace("remote")?;
    println!("tools: {:?}", kit.names().collect::<Vec<_>>());

    // Arguments are checked here, before anything is sent.
    let (result, _) = run(&kit, call("count", r#"["a", 1]"#)).await?;
    assert_eq!(failed(&result), Some((FailureKind::InputValidationError, false)));
    let (result, emitted) = run(&kit, call("count", r#"["a", "b"]"#)).await?;
    assert_eq!(result.decode::<usize>()?, 2);
    assert_eq!(emitted, [r#"progress {"done":1,"total":2}"#, "preliminary 1"]);

    let (result, _) = run(&kit, call("pay", "100")).await?;
    assert_eq!(result.decode::<String>()?, "paid 100");
    let (result, _) = run(&kit, call("pay", "101")).await?;
    assert_eq!(failed(&result), Some((FailureKind::Denied, false)));

    // A timeout there, and a cancellation here, which reaches the handler there.
    let (result, _) = run(&kit, call("slow", "{}")).await?;
    assert_eq!(failed(&result), Some((FailureKind::TimedOut, true)));
    let mut waiting = kit.run([call("wait", "{}")]);
    assert!(matches!(waiting.next().await, Some(ToolEvent::Progress { .. })));
    waiting.cancel();
    let results = waiting.collect_results().await;
    assert_eq!(failed(&results[0]), Some((FailureKind::Cancelled, true)));
    let (result, _) = run(&kit, call("notes", "{}")).await?;
    assert_eq!(result.decode::<Vec<String>>()?, ["a call was cancelled"]);

    // The process dies during a call, which may have been executed; a later call is not sent at all.
    let (result, _) = run(&kit, call("die", "true")).await?;
    assert_eq!(failed(&result), Some((FailureKind::OutcomeUnknown, true)));
    remote.closed().await;
    let (result, _) = run(&kit, call("count", r#"["a"]"#)).await?;
    assert_eq!(failed(&result), Some((FailureKind::ExecutionError, false)));
    child.wait()?;
    Ok(())
}
