//! An agent that stops until its calls are approved, and continues in another process. Its state is in a file
//! meanwhile. The approval requests are signed, so that only the original requests can be approved even if the file
//! was changed; who may write a verdict into it is up to the application. Every decision leaves a record.
//!
//! Without an argument this is the first process; it starts itself again to be the second.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use haft::approval::{AuditRecord, SigningKeys};
use haft::conversation::Timestamp;
use haft::model::Expect;
use haft::model::{LoopEnd, LoopState, ScriptedTurn};
use haft::prelude::*;
use serde_json::json;

/// The number of times each tool ran in this process.
static READ: AtomicU32 = AtomicU32::new(0);
static PAID: AtomicU32 = AtomicU32::new(0);

/// The content of an invoice.
#[tool(readonly)]
fn read_invoice(invoice: String) -> String {
    READ.fetch_add(1, Ordering::Relaxed);
    format!("{invoice}: 50000 cents, due today")
}

/// Pays an invoice.
#[tool(destructive, approval = "always")]
fn pay(invoice: String, cents: u64) -> String {
    PAID.fetch_add(1, Ordering::Relaxed);
    format!("{invoice} is paid with {cents} cents")
}

/// Creates the agent in each process. Only the keys and the tools must be the same: they are in no file.
fn agent(model: ScriptedModel) -> anyhow::Result<TurnLoop> {
    let keys = SigningKeys::new("2026-11", "a secret that both processes know")?;
    let options = RunOptions::new()
        .caller("agent:books")
        .approvals(Suspend)
        .approval_keys(keys)
        .approval_lifetime(Duration::from_secs(24 * 3_600))
        .audit(print_record);
    Ok(TurnLoop::new(model, toolkit![ReadInvoice, Pay]).options(options))
}

fn print_record(record: &AuditRecord) {
    let who = record.who.as_deref().unwrap_or("nobody yet");
    let (outcome, call, reason) = (record.outcome.as_str(), &record.call_id, record.reason.as_deref().unwrap_or("-"));
    let digest = record.digest.as_deref().and_then(|digest| digest.get(..15)).unwrap_or_default();
    println!("  record: {outcome:<9} {call} {digest}… by {who}: {reason}");
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1) {
        Some(file) => finish(Path::new(&file)).await,
        None => begin().await,
    }
}

/// Runs the first process: the agent works until approval is required.
async fn begin() -> anyhow::Result<()> {
    println!("The first process, {}:", std::process::id());
    let model = ScriptedModel::default().then([
        ToolCall::new("read", "read_invoice", r#"{"invoice": "R-7"}"#),
        ToolCall::new("rent", "pay", r#"{"invoice": "R-7", "cents": 50000}"#),
        ToolCall::new("gift", "pay", r#"{"invoice": "R-8", "cents": 99000}"#),
    ]);
    let request = TurnRequest::new("some-model", vec![Item::user("Pay what is due.")]);
    let outcome = agent(model)?.start(request).finish().await;
    let LoopEnd::Waiting { approvals, .. } = &outcome.end else { anyhow::bail!("not waiting: {:?}", outcome.end) };
    for question in approvals {
        println!("  asked:  may {} run with {}?", question.tool, question.arguments);
    }
    assert_eq!((approvals.len(), READ.load(Ordering::Relaxed), PAID.load(Ordering::Relaxed)), (2, 1, 0));

    let file = StateFile::write(&outcome.state)?;
    println!("  the state is in {}", file.0.display());
    let status = Command::new(std::env::current_exe()?).arg(&file.0).status()?;
    anyhow::ensure!(status.success(), "the second process failed: {status}");
    Ok(())
}

/// Runs the second process: the requests are answered, and the agent continues.
async fn finish(file: &Path) -> anyhow::Result<()> {
    println!("The second process, {}:", std::process::id());
    let stored = fs::read_to_string(file)?;
    let mut state: LoopState = serde_json::from_str(&stored)?;
    let questions: Vec<_> = state.history().iter().filter_map(asked).cloned().collect();
    let now = Timestamp::from(SystemTime::now());

    println!(" The stored file was changed so that the approval requests expire in a hundred years:");
    let outcome = agent(ScriptedModel::new(["Nothing was paid."]))?.start(forged(&state, now)).finish().await;
    assert!(outcome.end.is_stopped());
    assert_eq!(PAID.load(Ordering::Relaxed), 0, "a question that was never asked so lets nothing run");

    println!(" The file as it was, and what two people decided:");
    let expected = Expect::new()
        .last(json!({"call_id": "read", "output": "R-7: 50000 cents, due today"}))
        .last(json!({"call_id": "rent", "output": "R-7 is paid with 50000 cents"}))
        .last(json!({"call_id": "gift", "is_error": true}));
    let model = ScriptedModel::new([ScriptedTurn::text("The rent is paid, R-8 is not.").expect(expected)]);
    let agent = agent(model.clone())?;
    agent.verdict(&mut state, questions[0].approve().decided("ana", now))?;
    agent.verdict(&mut state, questions[1].deny("we owe them nothing").decided("ben", now))?;
    let outcome = agent.start(state).finish().await;
    println!("  {}", outcome.state.text());

    assert!(outcome.end.is_stopped());
    model.finish()?;
    let ran = (READ.load(Ordering::Relaxed), PAID.load(Ordering::Relaxed));
    assert_eq!(ran, (0, 1), "what the first process did is not done again, and what was denied not at all");
    Ok(())
}

/// Returns the state with later expiries for its requests, each of them approved.
fn forged(state: &LoopState, now: Timestamp) -> LoopState {
    let mut state = state.clone();
    for item in &mut state.request_mut().history {
        if let Item::ApprovalRequest(request) = item {
            request.expires_at = Some(now.saturating_add(Duration::from_secs(100 * 365 * 24 * 3_600)));
        }
    }
    let verdicts: Vec<_> = state.history().iter().filter_map(asked).map(ApprovalRequest::approve).collect();
    state.request_mut().history.extend(verdicts.into_iter().map(Item::from));
    state
}

/// Returns the approval request in an item of a history.
fn asked(item: &Item) -> Option<&ApprovalRequest> {
    match item {
        Item::ApprovalRequest(request) => Some(request),
        _ => None,
    }
}

/// A file that is deleted when its owner is dropped.
struct StateFile(PathBuf);

impl StateFile {
    fn write(state: &LoopState) -> anyhow::Result<Self> {
        let name = format!("haft-stop-for-approval-{}.json", std::process::id());
        let file = Self(std::env::temp_dir().join(name));
        fs::write(&file.0, serde_json::to_string_pretty(state)?)?;
        Ok(file)
    }
}

impl Drop for StateFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            println!("{} stays: {error}", self.0.display());
        }
    }
}
