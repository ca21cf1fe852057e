//! Finished and suspended calls of runs that end early, and of single calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{ApprovalRequest, FailureClass, ToolCall, ToolEvent};
use haft_executor::{Cancellation, RunOptions, Suspend};
use tokio::time::Instant;

use crate::approval::bench::{all_came, bench, suspend, tell};
use crate::executing::calls;

/// A resumed run that is cancelled before it begins, or is past its deadline, keeps the earlier results.
#[tokio::test]
async fn earlier_results_survive_a_run_that_never_begins() {
    let flag = Cancellation::new();
    flag.cancel();
    let past = Instant::now() - Duration::from_millis(1);
    let ends = [(RunOptions::new().cancellation(flag), "cancelled"), (RunOptions::new().deadline(past), "timed_out")];
    for (options, came_of) in ends {
        let (kit, journal) = bench();
        let suspended = suspend(&kit, &RunOptions::new(), &calls([("look", "1"), ("pay", "2")])).await;
        let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
        let told = tell(kit.resume_with(suspended.clone(), verdicts.clone(), options.clone())).await;
        assert_eq!(told, [format!("c2 output {came_of}")]);
        let results = kit.resume_with(suspended, verdicts, options).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), ["1", came_of]);
        assert_eq!(journal.lines(), ["look 1"]);
    }
}

/// The caller of a streamed single call can't receive a suspended call either.
#[tokio::test]
async fn a_streamed_call_that_would_be_suspended_is_denied() {
    let (kit, _) = bench();
    let mut stream = kit.try_run_call(ToolCall::new("c1", "pay", "5"), RunOptions::new().approvals(Suspend));
    let last = stream.next().await.expect("one result");
    assert_eq!(last.unwrap_err().kind.as_str(), "denied");
    assert!(stream.next().await.is_none());
}

/// The observer of a single call receives the result that its caller receives.
#[tokio::test]
async fn an_observer_sees_the_one_result_of_a_single_call() {
    let (kit, _) = bench();
    let seen = Arc::new(Mutex::new(0));
    let counting = Arc::clone(&seen);
    let options = RunOptions::new().approvals(Suspend).observe(move |event: &ToolEvent| {
        *counting.lock().unwrap() += usize::from(event.result().is_some());
    });
    kit.run_call_with(&ToolCall::new("c1", "pay", "5"), &options).await;
    assert_eq!(*seen.lock().unwrap(), 1);
}

/// A stream that forwards events also hands over the suspended calls.
#[tokio::test]
async fn suspended_calls_can_be_taken_from_every_stream_of_events() {
    let (kit, journal) = bench();
    let calls = calls([("look", "1"), ("pay", "2")]);
    let mut run =
        kit.run_with(&calls, RunOptions::new().approvals(Suspend)).continue_with_results(|results| results.len());
    while run.next::<usize>().await.is_some() {}
    let left = run.suspended().unwrap();
    assert_eq!((left.pending().len(), left.finished().len()), (1, 1));
    let mut run = kit.run_with(&calls, RunOptions::new().approvals(Suspend)).fail_on([FailureClass::Call]);
    while run.next().await.is_some() {}
    let verdicts: Vec<_> = left.pending().map(ApprovalRequest::approve).collect();
    assert_eq!(run.suspended().unwrap().pending().len(), 1);
    assert_eq!(all_came(&kit.resume(left, verdicts).collect_or_suspend().await.unwrap()), ["1", "2"]);
    assert_eq!(journal.lines(), ["look 1", "look 1", "pay 2"]);
}
