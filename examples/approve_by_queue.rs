//! Approval by a queue that outlives every run: the approver sends verdicts, and each reaches the round that requested
//! it. First with the separate parts, for two rounds at once; then the short form, where the run does it all.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::approval::VerdictQueue;
use haft::approval::{Receipt, VerdictSender};
use haft::prelude::*;
use tokio::sync::{Barrier, mpsc};

/// A barrier for two deployments: neither ends before both have begun.
struct Rendezvous(Barrier);

#[derive(Services)]
struct App {
    rendezvous: Rendezvous,
}

/// Deploys to a region.
#[tool(destructive, approval = "always")]
async fn deploy(region: String, #[service] rendezvous: &Rendezvous) -> String {
    rendezvous.0.wait().await;
    format!("{region} runs the new version")
}

/// Returns the version that runs in a region.
#[tool(readonly)]
fn get_version(region: String) -> String {
    format!("{region} runs version 7")
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit = toolkit![Deploy, GetVersion].provide(App { rendezvous: Rendezvous(Barrier::new(2)) });
    let (sender, queue) = VerdictQueue::new();
    let (questions, inbox) = mpsc::unbounded_channel();

    println!("Two rounds at once, and one person for both:");
    let (first, second, ()) = tokio::try_join!(
        round(
            &kit,
            &queue,
            questions.clone(),
            ["first-eu deploy eu", "first-us deploy us", "first-now get_version eu"]
        ),
        round(&kit, &queue, questions, ["second-lab deploy lab", "second-moon deploy moon"]),
        decide(sender, inbox),
    )?;
    assert_eq!(first, ["first-eu ok", "first-now ok", "first-us ok"]);
    assert_eq!(second, ["second-lab denied", "second-moon cancelled"]);

    println!("\nThe short form: the run requests approval and waits, and its events contain every step.");
    let (sender, queue) = VerdictQueue::new();
    let mut run = kit.run_with(
        [call("eu deploy eu"), call("us deploy us"), call("now get_version eu")],
        RunOptions::new().approvals(queue),
    );
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        if let ToolEvent::ApprovalRequested { request, .. } = &event {
            sender.send(request.approve())?;
        }
        seen.extend(shown(&event));
    }
    seen.sort();
    assert_eq!(seen, ["eu ok", "now ok", "us ok"]);
    Ok(())
}

/// Runs one round: calls that require no approval run at once, and approved ones as soon as they are, concurrently.
async fn round<const N: usize>(
    kit: &Toolkit,
    queue: &VerdictQueue,
    questions: mpsc::UnboundedSender<ApprovalRequest>,
    calls: [&str; N],
) -> anyhow::Result<Vec<String>> {
    let plan = kit.plan_from_queue(RunOptions::new(), queue, calls.map(call)).await;
    for question in &plan.approval_requests {
        questions.send(question.clone())?;
    }
    drop(questions);
    // The plan becomes one run of all its calls. One after the other would never end here: a deployment waits for
    // another.
    let mut run = plan.into_run();
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        seen.extend(shown(&event));
    }
    seen.sort();
    Ok(seen)
}

/// Stands for a person who reads all requests first, and then answers all but one, the latest first.
async fn decide(sender: VerdictSender, mut inbox: mpsc::UnboundedReceiver<ApprovalRequest>) -> anyhow::Result<()> {
    let mut open = Vec::new();
    while let Some(question) = inbox.recv().await {
        println!("  {:<12} asked: {} {}", question.call_id.as_str(), question.tool, question.arguments);
        open.push(question);
    }
    for question in open.iter().rev() {
        let verdict = match question.arguments.as_str() {
            r#"{"region":"moon"}"# => continue,
            r#"{"region":"lab"}"# => question.deny("the lab is closed"),
            _ => question.approve(),
        };
        assert_eq!(sender.send(verdict.clone())?, Receipt::Delivered);
        // The first verdict counts, and a second one is returned to its sender.
        let Err(rejected) = sender.send(verdict) else { anyhow::bail!("a second verdict was accepted") };
        println!("  {:<12} again? {}", question.call_id.as_str(), rejected.fault);
    }
    // Here the last sender is dropped, which ends the queue: no call waits for a verdict that can't come.
    Ok(())
}

/// Creates a call from its id, tool and region.
fn call(text: &str) -> ToolCall {
    let mut words = text.split(' ');
    let (id, tool, region) = (words.next(), words.next(), words.next());
    let arguments = serde_json::json!({ "region": region }).to_string();
    ToolCall::new(id.unwrap_or_default(), tool.unwrap_or_default(), arguments)
}

/// Prints an event, and returns the last one of a call in short.
fn shown(event: &ToolEvent) -> Option<String> {
    let (id, result) = (event.call_id().as_str(), event.result());
    match event {
        ToolEvent::ApprovalResolved { response, .. } => println!("  {id:<12} {}", response.decision.as_str()),
        _ => println!("  {id:<12} {}", result.map_or_else(|| "asked".to_owned(), ToolResult::to_model_text)),
    }
    result.map(|result| format!("{id} {}", result.failure().map_or("ok", |failure| failure.kind.as_str())))
}
