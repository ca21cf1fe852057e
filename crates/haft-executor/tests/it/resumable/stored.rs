//! Calls that wait across runs and processes.

use haft_core::{FailureKind, RunId, ToolEvent, ToolResult};
use haft_executor::{ApprovalPolicy, SigningKeys, VerdictFault, VerdictQueue};

use super::*;

#[tokio::test]
async fn a_call_goes_on_in_another_process_in_every_round() {
    let log = Log::default();
    let mut suspended = suspend(&sum_kit(&log), &RunOptions::new(), &[call(3)]).await;
    for _ in 0..2 {
        let answers = answer_all(&suspended, &json!(5));
        let run = sum_kit(&log).resume_with(suspended, answers, RunOptions::new().approvals(Suspend));
        suspended = stored(&run.collect_or_suspend().await.unwrap_err());
    }
    let answers = answer_all(&suspended, &json!(5));
    let results = sum_kit(&log).resume(suspended, answers).collect_or_suspend().await.unwrap();
    assert_eq!(results[0].to_model_text(), "15");
    let lines = log.lines();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line[2..] == lines[0][2..]), "one idempotency key: {lines:?}");
}

#[tokio::test]
async fn a_call_that_waits_again_without_an_approver_stays_open_only_where_it_was() {
    let kit = sum_kit(&Log::default());
    let suspended = suspend(&kit, &RunOptions::new(), &[call(2)]).await;
    // No verdict and no approver: nothing changes.
    let again = stored(&kit.resume(stored(&suspended), []).collect_or_suspend().await.unwrap_err());
    assert_eq!(again, suspended);
    // A new question has nobody to go to.
    let answers = answer_all(&suspended, &json!(5));
    let results = kit.resume(suspended, answers).collect_or_suspend().await.unwrap();
    assert_eq!(results[0].failure().unwrap().kind, FailureKind::InputRequired);
}

#[tokio::test]
async fn an_invalid_answer_leaves_its_question_open() {
    let kit = sum_kit(&Log::default());
    let suspended = suspend(&kit, &RunOptions::new(), &[call(1)]).await;
    for wrong in [json!("five"), json!(256), json!(null)] {
        let answers = answer_all(&suspended, &wrong);
        let request = suspended.pending().next().unwrap();
        assert!(matches!(
            kit.check_verdict(&RunOptions::new(), request, &answers[0]),
            Err(VerdictFault::Invalid { .. })
        ));
        let mut run = kit.resume(stored(&suspended), answers);
        assert!(matches!(run.next().await, Some(ToolEvent::Suspended { .. })));
        assert!(run.next().await.is_none());
        assert!(matches!(run.rejected_verdicts()[0].fault, VerdictFault::Invalid { .. }));
        assert_eq!(stored(&run.suspended().unwrap()), suspended);
    }
}

/// Answers that came while others are missing are kept, and are not asked for again.
#[tokio::test]
async fn answers_come_one_by_one() {
    let ask = || {
        Tool::new("ask").resumable(|(), resumed: Option<Resumed>, _cx| async move {
            let Some(resumed) = resumed else {
                return Resumable::wait([1, 2, 3].map(|n| Question::input::<u8>(format!("{n}"))), ());
            };
            let values = resumed.answers().iter().map(|answer| answer.decode::<u8>().unwrap().unwrap());
            Resumable::Done(values.collect::<Vec<_>>())
        })
    };
    let keys = SigningKeys::new("k", b"a secret of thirty-two bytes....").unwrap();
    let options = RunOptions::new().approval_keys(keys);
    let kit = kit([ask()]);
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let mut suspended = suspend(&kit, &options, &[ToolCall::new("c1", "ask", "")]).await;
        let requests: Vec<ApprovalRequest> = suspended.pending().cloned().collect();
        assert_eq!(requests.len(), 3);
        for (n, place) in order.into_iter().enumerate() {
            let answer = requests[place].answer(json!(place + 1));
            let run = kit.resume_with(suspended.clone(), [answer], options.clone());
            match run.collect_or_suspend().await {
                Err(left) => {
                    suspended = stored(&left);
                    assert_eq!(suspended.pending().len(), 2 - n);
                }
                Ok(results) => assert_eq!(results[0].to_model_text(), "[1,2,3]"),
            }
        }
        assert_eq!(suspended.pending().len(), 1, "the last answer was the end");
    }
}

#[tokio::test]
async fn a_question_that_waited_may_be_answered_by_a_queue() {
    let kit = sum_kit(&Log::default());
    let suspended = suspend(&kit, &RunOptions::new(), &[call(2)]).await;
    let (sender, queue) = VerdictQueue::new();
    let mut run = kit.resume_with(suspended, [], RunOptions::new().approvals(queue));
    let mut results: Vec<ToolResult> = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            ToolEvent::ApprovalRequested { request, .. } => drop(sender.send(request.answer(json!(6))).unwrap()),
            ToolEvent::Output { result, .. } => results.push(result),
            _ => {}
        }
    }
    assert_eq!(results[0].to_model_text(), "12");
}

/// A call that needs approval first is approved once, and waits with the arguments that were approved.
#[tokio::test]
async fn an_approved_and_edited_call_waits_with_its_arguments() {
    let log = Log::default();
    let kit = kit([sum(&log).set_needs_approval(ApprovalPolicy::always())]);
    let suspended = suspend(&kit, &RunOptions::new(), &[call(9)]).await;
    let request = suspended.pending().next().unwrap();
    assert!(request.question.is_none());
    let edit = request.edit(json!(1));
    let run = kit.resume_with(suspended.clone(), [edit], RunOptions::new().approvals(Suspend));
    let suspended = stored(&run.collect_or_suspend().await.unwrap_err());
    let request = suspended.pending().next().unwrap();
    assert_eq!((request.arguments.as_str(), request.question.is_some()), ("1", true));
    let answers = answer_all(&suspended, &json!(5));
    let results = kit.resume(suspended, answers).collect_or_suspend().await.unwrap();
    assert_eq!(results[0].to_model_text(), "5");
    assert_eq!(log.lines().len(), 2);
}

#[tokio::test]
async fn the_others_of_a_run_are_finished_and_stay_so() {
    let log = Log::default();
    let kit = sum_kit(&log);
    let calls = [call(0), ToolCall::new("c2", "sum", "1"), ToolCall::new("c3", "sum", "x")];
    let suspended = suspend(&kit, &RunOptions::new(), &calls).await;
    assert_eq!((suspended.finished().len(), suspended.pending().len()), (2, 1));
    let answers = answer_all(&suspended, &json!(5));
    let results = kit.resume(suspended, answers).collect_or_suspend().await.unwrap();
    assert_eq!(results[1].to_model_text(), "5");
    assert_eq!(log.lines().len(), 3);
}

/// Permits decide by the present rules, and a call that has run is not reported as one that has not.
#[tokio::test]
async fn permits_decide_again() {
    let kit = sum_kit(&Log::default());
    let suspended = suspend(&kit, &RunOptions::new(), &[call(1)]).await;
    let answers = answer_all(&suspended, &json!(5));
    let denying = RunOptions::new().permit(|_: &Tool, _: &ToolCall, _: &Cx| haft_executor::Permission::denied("gone"));
    let mut run = kit.resume_with(suspended, answers, denying);
    let Some(ToolEvent::Output { result, .. }) = run.next().await else { panic!() };
    let failure = result.failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::PermissionDenied, true));
    assert_eq!(run.rejected_verdicts().len(), 1, "the answer is returned");
}

#[tokio::test]
async fn a_run_is_put_together_from_its_parts() {
    let kit = sum_kit(&Log::default());
    let mut run = kit.run_with([call(1)], RunOptions::new().approvals(Suspend).run_id("r1"));
    let Some(ToolEvent::ApprovalRequested { .. }) = run.next().await else { panic!() };
    let Some(ToolEvent::Suspended { index, request }) = run.next().await else { panic!() };
    let state = run.waiting_call(index).unwrap();
    assert!(state.asks(&request.request_id));
    assert_eq!(state.call(), &call(1));
    let state: haft_executor::WaitingCall = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();

    let whole = Suspended::with_waiting([(call(1), *request.clone())], [state]).unwrap().with_run_id("r1");
    assert_eq!(whole, run.suspended().unwrap());
    assert_eq!(whole.run_id(), Some(&RunId::from("r1")));
    let alone = Suspended::of([(call(1), *request)]).unwrap_err();
    assert!(alone.to_string().contains("whose state is missing"), "{alone}");
}
