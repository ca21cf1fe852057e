//! The side that has the tools: runs each call with the executor, and reports its events.

use std::collections::HashMap;
use std::sync::Arc;

use haft::approval::Verdict;
use haft::prelude::*;
use haft::run::{Dispatch, Run, RunId};
use haft::tool::{BoxError, Cancellation};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::wire::{Command, LineSender, Link, Report};

/// An answer to an approval request. The error is that there is none.
type Decided = Result<Verdict, BoxError>;

/// A call in progress. Its verdicts are closed once it has ended.
struct Ongoing {
    cancellation: Cancellation,
    verdicts: UnboundedSender<Decided>,
}

/// Serves any source of tools until the other side is gone. Calls that still run then are dropped, and so cancelled.
pub(crate) async fn serve(tools: &dyn Dispatch, mut link: Link) {
    let (mut calls, mut runs) = (HashMap::<u64, Ongoing>::new(), JoinSet::new());
    let mut listed = list(tools, &link.outgoing);
    loop {
        let line = tokio::select! {
            line = link.incoming.recv() => line,
            () = tools.changed(listed) => {
                listed = list(tools, &link.outgoing);
                continue;
            }
        };
        let Some(line) = line else { return };
        match serde_json::from_str(&line) {
            Ok(Command::Call { number, run_id, call }) => {
                let (ongoing, options) = begin(number, run_id, link.outgoing.clone());
                let run = tools.run_calls(vec![call.into()], options);
                runs.spawn(report_events(number, run, link.outgoing.clone()));
                calls.retain(|_, ongoing| !ongoing.verdicts.is_closed());
                calls.insert(number, ongoing);
            }
            Ok(Command::Verdict { number, response }) => answer(&calls, number, Ok(response)),
            Ok(Command::NoVerdict { number }) => answer(&calls, number, Err("nobody has decided".into())),
            Ok(Command::Cancel { number }) => {
                if let Some(ongoing) = calls.get(&number) {
                    ongoing.cancellation.cancel();
                }
            }
            // A line that this side does not understand concerns no call.
            Err(_) => {}
        }
    }
}

/// Reports the current tools, and returns their generation.
fn list(tools: &dyn Dispatch, outgoing: &LineSender) -> u64 {
    // Read first: if the tools change in between, they are listed once more.
    let generation = tools.snapshot().generation();
    let tools = tools.list(&RunOptions::new()).iter().map(|tool| (**tool).clone()).collect();
    outgoing.post(&Report::Tools { tools }).ok();
    generation
}

/// Creates the options of a call: it is cancelled by the other side, which also answers its approval requests. Each
/// verdict is bound to its request and checked here. After an invalid one the approver is asked again, and so the other
/// side.
fn begin(number: u64, run_id: RunId, outgoing: LineSender) -> (Ongoing, RunOptions) {
    let cancellation = Cancellation::new();
    let (verdicts, received) = unbounded_channel::<Decided>();
    let received = Arc::new(Mutex::new(received));
    let approver = move |request: ApprovalRequest, _: Cx| {
        let received = Arc::clone(&received);
        let event = ToolEvent::ApprovalRequested { index: 0, request: Box::new(request) };
        outgoing.post(&Report::Event { number, event }).ok();
        async move { received.lock().await.recv().await.unwrap_or_else(|| Err("the other side is gone".into())) }
    };
    let options = RunOptions::new().run_id(run_id).cancellation(cancellation.clone()).approvals(approver);
    (Ongoing { cancellation, verdicts }, options)
}

fn answer(calls: &HashMap<u64, Ongoing>, number: u64, verdict: Decided) {
    if let Some(ongoing) = calls.get(&number) {
        ongoing.verdicts.send(verdict).ok();
    }
}

async fn report_events(number: u64, mut run: Run, outgoing: LineSender) {
    while let Some(event) = run.next().await {
        // The approver reports its requests itself.
        let is_request = matches!(event, ToolEvent::ApprovalRequested { .. });
        if !is_request && outgoing.post(&Report::Event { number, event }).is_err() {
            return;
        }
    }
}
