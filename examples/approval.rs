//! A gated tool: denied without an approver, and run once it is approved. And permits, which deny a call, or hide the
//! tool, before approval is requested.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::approval::{ApprovalRequest, Verdict};
use haft::prelude::*;
use haft::run::Run;
use haft::run::{Dispatch, Permission, Permit, Permitting};
use haft::tool::{BoxError, Caller};

/// Moves money.
#[tool(destructive, approval = |transfer: Transfer, _cx| async move { transfer.cents > 10_000 })]
fn transfer(to: String, cents: u64) -> String {
    format!("{cents} cents went to {to}")
}

/// The balance of the account, in cents.
#[tool(readonly)]
fn get_balance() -> i64 {
    1_200_000
}

/// A permit by which every caller may read, and only the treasurer sees the other tools.
struct Treasury;

impl Permit for Treasury {
    fn permit(&self, tool: &Tool, _call: &ToolCall, cx: &Cx) -> Permitting {
        let _ = (tool, cx);
        Permission::Allowed.into()
    }

    fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
        tool.annotations().readonly() || caller.is_some_and(|caller| caller.as_str() == "treasurer")
    }
}

/// Stands for a person. Only an approval of exactly this request lets the call run.
async fn ask_clerk(request: ApprovalRequest, _cx: Cx) -> Result<Verdict, BoxError> {
    if request.arguments.contains("Mallory") { Ok(request.deny("not to Mallory")) } else { Ok(request.approve()) }
}

#[tokio::main]
async fn main() {
    let kit = toolkit![Transfer, GetBalance];
    let small = ToolCall::new("small", "transfer", r#"{"to": "Ada", "cents": 500}"#);
    let large = ToolCall::new("large", "transfer", r#"{"to": "Ada", "cents": 250000}"#);
    let shady = ToolCall::new("shady", "transfer", r#"{"to": "Mallory", "cents": 250000}"#);
    let balance = ToolCall::new("balance", "get_balance", "{}");

    println!("No approver is configured:");
    let seen = watch(kit.run([&small, &large])).await;
    assert_eq!(seen, ["small ok", "large denied"]);

    println!("\nAn approver is configured:");
    let seen = watch(kit.run_with([&small, &large, &shady], RunOptions::new().approvals(ask_clerk))).await;
    for expected in ["small ok", "large asked", "large approved", "large ok", "shady denied"] {
        assert!(seen.iter().any(|line| line == expected), "{expected} in {seen:?}");
    }
    assert!(!seen.contains(&"small asked".to_owned()));

    println!("\nOnly reading is permitted, even if the approver would approve more:");
    let only_reading = |tool: &Tool, _: &ToolCall, _: &Cx| {
        if tool.annotations().readonly() { Permission::Allowed } else { Permission::denied("only reading is allowed") }
    };
    let seen =
        watch(kit.run_with([&balance, &large], RunOptions::new().permit(only_reading).approvals(ask_clerk))).await;
    assert_eq!(seen, ["balance ok", "large permission_denied"]);

    println!("\nFor a guest there is no such tool:");
    let guest = RunOptions::new().permit(Treasury).caller("guest");
    let seen = watch(kit.run_with([&balance, &small], guest.clone())).await;
    assert_eq!(seen, ["balance ok", "small unknown_tool"]);
    let listed: Vec<_> = kit.list(&guest).iter().map(|descriptor| descriptor.name.clone()).collect();
    println!("  and the list is {listed:?}");
    assert_eq!(listed, ["get_balance"]);
}

/// Prints the events and returns them in short.
async fn watch(mut run: Run) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        let (short, long) = match &event {
            ToolEvent::ApprovalRequested { request, .. } => {
                ("asked", format!("may {} run with {}?", request.tool, request.arguments))
            }
            ToolEvent::ApprovalResolved { response, .. } => {
                (response.decision.as_str(), response.reason.clone().unwrap_or_default())
            }
            ToolEvent::Output { result, .. } => {
                let kind = result.failure().map_or("ok", |failure| failure.kind.as_str());
                (kind, result.to_call_output().output.to_string())
            }
            _ => continue,
        };
        println!("  {:<8} {short:<18} {long}", event.call_id().as_str());
        seen.push(format!("{} {short}", event.call_id()));
    }
    seen
}
