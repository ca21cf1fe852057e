//! Gated tools that record their calls, and every way in which a verdict can reach them.

use std::pin::pin;
use std::sync::{Arc, Mutex};

use futures_util::{Stream, StreamExt};
use haft_core::{ApprovalRequest, ToolCall, ToolEvent, ToolResult, Verdict};
use haft_executor::{ApprovalPolicy, Cx, DefinitionError, RunOptions, Suspend, Suspended, Tool, Toolkit, VerdictQueue};

use crate::executing::{self, came, kit};

/// An approver that decides at once.
pub(crate) type Decide = fn(&ApprovalRequest) -> Verdict;

/// The actions of handlers, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    pub(crate) fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Creates a tool that records its number and returns it. Ungated.
pub(crate) fn noting(name: &'static str, journal: &Journal) -> Result<Tool, DefinitionError> {
    let journal = journal.clone();
    Tool::new(name).handler(move |cents: u16, _cx| {
        let journal = journal.clone();
        async move {
            journal.note(format!("{name} {cents}"));
            cents
        }
    })
}

/// Creates the same tool, always gated.
pub(crate) fn gated(name: &'static str, journal: &Journal) -> Result<Tool, DefinitionError> {
    noting(name, journal)?.set_needs_approval(ApprovalPolicy::always())
}

/// Creates a toolkit of `pay`, which is gated, and `look`, which is not.
pub(crate) fn bench() -> (Toolkit, Journal) {
    let journal = Journal::default();
    (kit([gated("pay", &journal), noting("look", &journal)]), journal)
}

/// Returns options with an approver that decides at once.
pub(crate) fn asking(decide: Decide) -> RunOptions {
    RunOptions::new().approvals(move |request: ApprovalRequest, _: Cx| async move { decide(&request) })
}

/// Returns the outcome of each result, in a word.
pub(crate) fn all_came(results: &[ToolResult]) -> Vec<&str> {
    results.iter().map(came).collect()
}

/// Returns the message that the model reads of the first result, which must be a failure.
pub(crate) fn message(results: &[ToolResult]) -> &str {
    results[0].failure().map_or("", |failure| &failure.message)
}

/// Returns every event of a stream, in a word each.
pub(crate) async fn tell(events: impl Stream<Item = ToolEvent>) -> Vec<String> {
    let mut events = pin!(events);
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(match &event {
            ToolEvent::Suspended { request, .. } => format!("{} suspended", request.call_id),
            other => executing::told(other),
        });
    }
    all
}

/// Suspends calls and returns them as another process reads them.
pub(crate) async fn suspend(kit: &Toolkit, options: &RunOptions, calls: &[ToolCall]) -> Suspended {
    let run = kit.run_with(calls, options.clone().approvals(Suspend));
    let suspended = run.collect_or_suspend().await.unwrap_err();
    serde_json::from_str(&serde_json::to_string(&suspended).unwrap()).unwrap()
}

/// A way in which a verdict reaches its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// An approver in the same process decides.
    Approver,
    /// A run waits on a queue.
    Queue,
    /// Verdicts come with a second request.
    Map,
    /// A plan waits on a queue.
    QueuePlan,
    /// The run is suspended, stored and resumed.
    Resume,
}

impl Way {
    pub(crate) const ALL: [Self; 5] = [Self::Approver, Self::Queue, Self::Map, Self::QueuePlan, Self::Resume];

    /// Returns the results of calls whose approval requests are all answered, in the order of the calls.
    pub(crate) async fn results(
        self,
        kit: &Toolkit,
        options: &RunOptions,
        calls: &[ToolCall],
        decide: Decide,
    ) -> Vec<ToolResult> {
        match self {
            Self::Approver => {
                let approver = move |request: ApprovalRequest, _: Cx| async move { decide(&request) };
                kit.run_with(calls, options.clone().approvals(approver)).collect_results().await
            }
            Self::Queue => by_queue(kit, options, calls, decide).await,
            Self::Map => {
                let asked = kit.plan_from_map(options, [], calls).await.requests;
                let plan = kit.plan_from_map(options, asked.iter().map(decide), calls).await;
                assert_eq!(plan.rejected_verdicts, []);
                kit.run(plan).collect_results().await
            }
            Self::QueuePlan => by_queue_plan(kit, options, calls, decide).await,
            Self::Resume => {
                let suspended = suspend(kit, options, calls).await;
                let verdicts: Vec<_> = suspended.pending().map(decide).collect();
                let run = kit.resume_with(suspended, verdicts, options.clone());
                assert_eq!(run.rejected_verdicts(), []);
                run.collect_or_suspend().await.unwrap()
            }
        }
    }
}

async fn by_queue(kit: &Toolkit, options: &RunOptions, calls: &[ToolCall], decide: Decide) -> Vec<ToolResult> {
    let (sender, queue) = VerdictQueue::new();
    let mut run = kit.run_with(calls, options.clone().approvals(queue));
    let mut results = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            ToolEvent::ApprovalRequested { request, .. } => drop(sender.send(decide(&request)).unwrap()),
            ToolEvent::Output { index, result } => results.push((index, result)),
            _ => {}
        }
    }
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

async fn by_queue_plan(kit: &Toolkit, options: &RunOptions, calls: &[ToolCall], decide: Decide) -> Vec<ToolResult> {
    let (sender, queue) = VerdictQueue::new();
    let plan = kit.plan_from_queue(options, &queue, calls).await;
    for request in &plan.approval_requests {
        sender.send(decide(request)).unwrap();
    }
    plan.into_run().collect_results().await
}

/// An approver that must not be called.
pub(crate) async fn never_asked(request: ApprovalRequest, _: Cx) -> Verdict {
    panic!("asked about {request:?}")
}
