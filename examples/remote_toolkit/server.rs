//! The side that has the tools: runs each call with the executor, and reports its events.

use std::collections::HashMap;
use std::sync::Arc;

use haft::approval::ApprovalResponse;
use haft::prelude::*;
use haft::run::Run;
use haft::tool::{BoxError, Cancellation};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::wire::{Command, LineSender, Link, Report};

/// A call in progress. Its verdicts are closed once it has ended.
struct Ongoing {
    cancellation: Cancellation,
    verdicts: UnboundedSender<ApprovalResponse>,
}

/// Serves a toolkit until the other side is gone. Calls that still run then are dropped, and so cancelled.
pub(crate) async fn serve(kit: &Toolkit, mut link: Link) {
    let (mut calls, mut runs) = (HashMap::<u64, Ongoing>::new(), JoinSet::new());
    while let Some(line) = link.incoming.recv().await {
        match serde_json::from_str(&line) {
            Ok(Command::List) => {
                let tools = kit.descriptors().iter().map(|tool| (**tool).clone()).collect();
                link.outgoing.send(&Report::Tools { tools }).ok();
            }
            Ok(Command::Call { number, call }) => {
                let (ongoing, options) = begin();
                runs.spawn(report_events(number, kit.run_with([call], options), link.outgoing.clone()));
                calls.retain(|_, ongoing| !ongoing.verdicts.is_closed());
                calls.insert(number, ongoing);
            }
            Ok(Command::Verdict { number, response }) => {
                if let Some(ongoing) = calls.get(&number) {
                    ongoing.verdicts.send(response).ok();
                }
            }
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

/// Creates the options of a call: it is cancelled by the other side, and its approval requests are events, which the
/// other side answers. Each verdict is bound to its request and checked here.
fn begin() -> (Ongoing, RunOptions) {
    let cancellation = Cancellation::new();
    let (verdicts, received) = unbounded_channel();
    let received = Arc::new(Mutex::new(received));
    let approver = move |_: ApprovalRequest, _: Cx| {
        let received = Arc::clone(&received);
        async move { received.lock().await.recv().await.ok_or_else(|| BoxError::from("the other side is gone")) }
    };
    let options = RunOptions::new().cancellation(cancellation.clone()).approvals(approver);
    (Ongoing { cancellation, verdicts }, options)
}

async fn report_events(number: u64, mut run: Run, outgoing: LineSender) {
    while let Some(event) = run.next().await {
        if outgoing.send(&Report::Event { number, event }).is_err() {
            return;
        }
    }
}
