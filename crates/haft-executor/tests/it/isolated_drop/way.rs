//! The ways in which a run drops what it was given.

use haft_core::{FailureClass, ToolCall, ToolEvent};
use haft_executor::{RunOptions, Step, Suspend, Toolkit, VerdictQueue};

use super::bench::{Bench, call};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    ToTheEnd,
    Spawned,
    Midway,
    SpawnedMidway,
    NeverPolled,
    RunCall,
    RunCallMidway,
    Handle,
    TryRun,
    ContinueWithResults,
    Resumed,
    Planned,
    Queued,
}

pub(super) const WAYS: &[Way] = &[
    Way::ToTheEnd,
    Way::Spawned,
    Way::Midway,
    Way::SpawnedMidway,
    Way::NeverPolled,
    Way::RunCall,
    Way::RunCallMidway,
    Way::Handle,
    Way::TryRun,
    Way::ContinueWithResults,
    Way::Resumed,
    Way::Planned,
    Way::Queued,
];

impl Way {
    /// Runs calls this way, and drops the toolkit and the options as early as the way allows.
    pub(super) async fn go(self, bench: Bench) {
        let seen = bench.seen();
        let Bench { kit, options, .. } = bench;
        let seen = move || std::mem::take(&mut *seen.lock().unwrap());
        let done = [call(0, false), call(1, false)];
        let waits = [call(0, false), call(1, false), call(2, true)];
        match self {
            Self::ToTheEnd | Self::Spawned => {
                let run = kit.run_with(done, if self == Self::Spawned { options.spawned() } else { options });
                drop(kit);
                assert!(run.collect_results().await.iter().all(haft_core::ToolResult::is_ok));
                assert_eq!(seen(), [true, true]);
            }
            Self::Midway | Self::SpawnedMidway => {
                let options = if self == Self::SpawnedMidway { options.spawned() } else { options };
                let mut run = kit.run_with(waits, options);
                drop(kit);
                let mut outputs = 0;
                while outputs < 2 {
                    outputs += usize::from(matches!(run.next().await, Some(ToolEvent::Output { .. })));
                }
                drop(run);
                assert_eq!(seen(), [true, true, false]);
                // An aborted task is dropped by the runtime when it is next scheduled.
                tokio::task::yield_now().await;
            }
            Self::NeverPolled => {
                let run = kit.run_with(done, options);
                drop(kit);
                drop(run);
                assert_eq!(seen(), [false, false]);
            }
            Self::RunCall => {
                assert!(kit.run_call_with(&done[0], &options).await.is_ok());
                assert_eq!(seen(), [true]);
            }
            Self::RunCallMidway => {
                let waiting = kit.run_call_with(&waits[2], &options);
                assert!(tokio::time::timeout(std::time::Duration::from_secs(1), waiting).await.is_err());
                assert_eq!(seen(), [false]);
            }
            Self::Handle => assert!(kit.try_run_call(&done[0], &options).await.is_ok()),
            Self::TryRun => {
                let run = kit.run_with(done, options).fail_on([FailureClass::Internal]);
                drop(kit);
                assert_eq!(run.collect_results().await.unwrap().len(), 2);
            }
            Self::ContinueWithResults => {
                let mut run = kit.run_with(done, options).continue_with_results(|results| results.len());
                drop(kit);
                let mut last = None;
                while let Some(step) = run.next().await {
                    last = Some(step);
                }
                drop(run);
                assert_eq!(last, Some(Step::Next(2)));
            }
            Self::Resumed | Self::Planned | Self::Queued => self.ask(kit, options, done).await,
        }
    }

    /// Runs the ways in which approval is requested outside of the run.
    async fn ask(self, kit: Toolkit, options: RunOptions, done: [ToolCall; 2]) {
        match self {
            Self::Resumed => {
                let suspended = kit.run_with(done, options.clone().approvals(Suspend)).collect_or_suspend().await;
                let suspended = suspended.unwrap_err();
                let verdicts: Vec<_> = suspended.pending().map(haft_core::ApprovalRequest::approve).collect();
                let run = kit.resume_with(*suspended, verdicts, options);
                drop(kit);
                assert_eq!(run.collect_results().await.iter().filter(|result| result.is_ok()).count(), 2);
            }
            Self::Planned => {
                let plan = kit.plan_from_map(options.clone(), [], &done).await;
                let verdicts: Vec<_> = plan.requests.iter().map(haft_core::ApprovalRequest::approve).collect();
                let plan = kit.plan_from_map(options.clone(), verdicts, &done).await;
                let run = kit.run_with(plan, options);
                drop(kit);
                assert_eq!(run.collect_results().await.iter().filter(|result| result.is_ok()).count(), 2);
            }
            _ => {
                let (sender, queue) = VerdictQueue::new();
                let plan = kit.plan_from_queue(options, &queue, done).await;
                for request in &plan.approval_requests {
                    sender.send(request.approve()).unwrap();
                }
                let results = plan.into_run().collect_results().await.len();
                assert_eq!(results, 2);
            }
        }
    }
}
