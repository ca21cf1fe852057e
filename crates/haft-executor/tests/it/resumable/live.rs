//! Calls that wait within one run.

use std::num::NonZeroUsize;
use std::time::Duration;

use haft_core::{FailureKind, Outcome, ToolEvent};
use haft_core::{ToolFailure, ToolOutput, ToolResult};
use haft_executor::{
    ApprovalAnswer, ApprovalOutcome, Concurrency, ExecutionLimits, ForwardCx, Lanes, Next, Request, VerdictFault,
    VerdictQueue, Wait,
};
use tokio::time::sleep;

use super::*;

#[tokio::test]
async fn a_handler_goes_on_with_its_state_and_answers() {
    let log = Log::default();
    let kit = sum_kit(&log);
    let mut run = kit.run_with([call(3)], deciding(|request| request.answer(json!(7))));
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        seen.push(match event {
            ToolEvent::ApprovalRequested { request, .. } => format!("asked {}", request.question.is_some()),
            ToolEvent::ApprovalResolved { response, .. } => response.decision.as_str().to_owned(),
            ToolEvent::Output { result, .. } => result.to_model_text(),
            other => format!("{other:?}"),
        });
    }
    assert_eq!(seen, ["asked true", "answered", "asked true", "answered", "asked true", "answered", "21"]);
    let lines = log.lines();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line[2..] == lines[0][2..]), "one idempotency key: {lines:?}");
}

#[tokio::test]
async fn a_declined_question_reaches_the_handler() {
    let kit = sum_kit(&Log::default());
    let results = kit.run_with([call(1)], deciding(|request| request.deny("no"))).collect_results().await;
    assert_eq!(results[0].to_model_text(), "100");
}

#[tokio::test]
async fn without_an_approver_the_call_fails_with_input_required() {
    let kit = sum_kit(&Log::default());
    for result in [kit.run([call(1)]).collect_results().await.remove(0), kit.run_call(&call(1)).await] {
        let failure = result.failure().unwrap();
        assert_eq!((&failure.kind, failure.started), (&FailureKind::InputRequired, true));
    }
    // A single call can't be suspended.
    let result = kit.run_call_with(&call(1), RunOptions::new().approvals(Suspend)).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::InputRequired);
}

#[tokio::test]
async fn a_single_call_waits_for_an_approver() {
    let kit = sum_kit(&Log::default());
    let result = kit.run_call_with(&call(2), deciding(|request| request.answer(json!(4)))).await;
    assert_eq!(result.to_model_text(), "8");
}

#[tokio::test]
async fn a_wrong_answer_is_reported_and_asked_again() {
    let kit = sum_kit(&Log::default());
    let options = RunOptions::new().approvals(|request: ApprovalRequest, cx: Cx| async move {
        match cx.attempt() {
            1 => request.approve(),
            2 => {
                let rejected = cx.rejected_verdict().unwrap();
                assert!(rejected.fault.to_string().contains("`answered` with an `answer`"), "{}", rejected.fault);
                request.answer(json!(1_000))
            }
            _ => {
                let VerdictFault::Invalid { issues } = &cx.rejected_verdict().unwrap().fault else { panic!() };
                assert!(issues.to_string().contains("255"), "{issues}");
                request.answer(json!(5))
            }
        }
    });
    let mut run = kit.run_with([call(1)], options);
    while let Some(event) = run.next().await {
        if let Some(result) = event.result() {
            assert_eq!(result.to_model_text(), "5");
        }
    }
    assert_eq!(run.rejected_verdicts().len(), 2);
}

#[tokio::test]
async fn a_call_whose_answers_stay_wrong_is_denied_and_has_started() {
    let kit = sum_kit(&Log::default());
    let results = kit.run_with([call(1)], deciding(|request| request.answer(json!("x")))).collect_results().await;
    let failure = results[0].failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::Denied, true));
}

#[tokio::test]
async fn an_approver_without_an_answer_cancels_the_call() {
    let kit = sum_kit(&Log::default());
    let options = RunOptions::new().approvals(|_: ApprovalRequest, _: Cx| async move {
        ApprovalAnswer::NoAnswer { reason: "the desk is closed".to_owned() }
    });
    let results = kit.run_with([call(1)], options).collect_results().await;
    let failure = results[0].failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::Cancelled, true));
    assert_eq!(failure.message, "the desk is closed");
}

#[tokio::test]
async fn the_number_of_rounds_is_bounded() {
    let log = Log::default();
    let kit = sum_kit(&log);
    let results = kit.run_with([call(1_000)], deciding(|request| request.answer(json!(1)))).collect_results().await;
    let failure = results[0].failure().unwrap();
    assert_eq!(failure.message, "the call asked questions 100 times and did not finish");
    assert!(failure.started);
    assert_eq!(log.lines().len(), 101);
}

#[tokio::test]
async fn a_wait_that_nobody_could_end_is_an_error_of_the_handler() {
    let odd = |wait: fn() -> Wait| {
        Tool::new("sum").resumable(move |_: u32, _, _cx| async move { Resumable::<()>::Wait(wait()) })
    };
    let waits: [fn() -> Wait; 4] = [
        || Wait::new([], 1),
        || Wait::new([Question::input_json("?", json!({"type": 7}))], 1),
        || Wait::new([Question::visit("?", "file:///etc/passwd")], 1),
        || Wait::new([Question::input::<u8>("?")], f64::NAN),
    ];
    for wait in waits {
        let kit = kit([odd(wait)]);
        let results = kit.run_with([call(1)], deciding(ApprovalRequest::approve)).collect_results().await;
        let failure = results[0].failure().unwrap();
        assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, true));
        assert!(std::error::Error::source(failure).unwrap().to_string().contains("can't be asked"));
    }
}

/// A call that waits lets others have its slot and its lane, whether they are of the same run or not.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_holds_neither_slot_nor_lane() {
    for spawned in [false, true] {
        let lanes = Lanes::new("one at a time");
        let one = ExecutionLimits::new().concurrency(Concurrency::Max(NonZeroUsize::MIN));
        let asks = sum_of(Tool::new("sum").limits(one), &Log::default());
        let kit = kit([asks.in_lane(&lanes)]);
        let (sender, queue) = VerdictQueue::new();
        let options = RunOptions::new().approvals(queue).concurrency(1);
        let options = if spawned { options.spawned() } else { options };
        let calls = ["c1", "c2", "c3"].map(|id| ToolCall::new(id, "sum", "1"));
        let mut run = kit.run_with(calls, options);
        let mut open = Vec::new();
        while open.len() < 3 {
            match run.next().await.unwrap() {
                ToolEvent::ApprovalRequested { request, .. } => open.push(request),
                other => panic!("{other:?}"),
            }
        }
        for request in open.iter().rev() {
            sender.send(request.answer(json!(3))).unwrap();
        }
        let results = run.collect_results().await;
        assert_eq!(results.iter().map(ToolResult::to_model_text).collect::<Vec<_>>(), ["3", "3", "3"]);
    }
}

/// Each time a handler runs it has its whole time, and the wait between has no limit.
#[tokio::test(start_paused = true)]
async fn timeouts_start_anew_and_do_not_count_while_a_call_waits() {
    let limits = ExecutionLimits::new().timeout(Duration::from_secs(10));
    let slow = Tool::new("sum").limits(limits).resumable(|_: u32, resumed: Option<Resumed>, cx: Cx| async move {
        let round = resumed.map_or(0, |resumed| resumed.round());
        assert!(cx.deadline().unwrap() >= tokio::time::Instant::now() + Duration::from_secs(9));
        sleep(Duration::from_secs(if round == 3 { 11 } else { 9 })).await;
        if round == 2 && *cx.call_id() == "c1" {
            return Resumable::Done(round);
        }
        Resumable::wait([Question::input::<u8>("?")], ())
    });
    let kit = kit([slow]);
    let options = RunOptions::new().approvals(|request: ApprovalRequest, _: Cx| async move {
        sleep(Duration::from_secs(3_600)).await;
        request.answer(json!(1))
    });
    let calls = [call(0), ToolCall::new("c2", "sum", "0")];
    let results = kit.run_with(calls, options).collect_results().await;
    assert_eq!(results[0].to_model_text(), "2");
    let failure = results[1].failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::TimedOut, true));
}

#[tokio::test(start_paused = true)]
async fn a_question_expires_and_times_out_as_a_request_does() {
    let kit = sum_kit(&Log::default());
    let silent = || RunOptions::new().approvals(|_: ApprovalRequest, _: Cx| std::future::pending::<Verdict>());
    let second = Duration::from_secs(1);
    for options in [silent().approval_timeout(second), silent().approval_lifetime(second)] {
        let results = kit.run_with([call(1)], options).collect_results().await;
        let failure = results[0].failure().unwrap();
        assert_eq!((&failure.kind, failure.started), (&FailureKind::Cancelled, true));
    }
}

#[tokio::test]
async fn a_call_is_cancelled_while_it_waits() {
    let records = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&records);
    let kit = sum_kit(&Log::default());
    let (_sender, queue) = VerdictQueue::new();
    let options = RunOptions::new().approvals(queue.clone()).audit(move |record| {
        kept.lock().unwrap().push(record.outcome);
    });
    let mut run = kit.run_with([call(1)], options);
    assert!(matches!(run.next().await, Some(ToolEvent::ApprovalRequested { .. })));
    assert_eq!(queue.open().len(), 1);
    run.cancel();
    let Some(ToolEvent::Output { result, .. }) = run.next().await else { panic!() };
    let failure = result.failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::Cancelled, true));
    assert!(run.next().await.is_none());
    assert_eq!(queue.open().len(), 0);
    assert_eq!(*records.lock().unwrap(), [ApprovalOutcome::Unanswered]);
}

#[tokio::test]
async fn each_of_several_questions_has_its_answer_in_their_order() {
    let ask = Tool::new("ask").resumable(|(), resumed: Option<Resumed>, _cx| async move {
        let Some(resumed) = resumed else {
            let visit = Question::visit("Sign in", "https://example.com");
            let questions = [Question::input::<u8>("a"), visit, Question::input::<String>("b")];
            return Resumable::wait(questions, ());
        };
        Resumable::Done(resumed.answers().iter().map(|it| it.value().map(ToString::to_string)).collect::<Vec<_>>())
    });
    let kit = kit([ask]);
    let (sender, queue) = VerdictQueue::new();
    let mut run = kit.run_with([ToolCall::new("c1", "ask", "")], RunOptions::new().approvals(queue));
    let mut open = Vec::new();
    while open.len() < 3 {
        let Some(ToolEvent::ApprovalRequested { request, .. }) = run.next().await else { panic!() };
        open.push(request);
    }
    sender.send(open[2].answer(json!("x"))).unwrap();
    sender.send(open[1].approve()).unwrap();
    let wrong = sender.send(open[0].answer(json!("x"))).unwrap_err();
    assert!(matches!(wrong.fault, VerdictFault::Invalid { .. }), "told at once: {wrong}");
    sender.send(open[0].answer(json!(1))).unwrap();
    let results = run.collect_results().await;
    assert_eq!(results[0].value().unwrap().as_str(), r#"["1",null,"\"x\""]"#);
}

/// A middleware sees a call that waits as one that failed, and is around each round.
#[tokio::test]
async fn middleware_is_around_every_round() {
    let log = Log::default();
    let seen = log.clone();
    let watch = move |request: Request, next: Next| {
        let seen = seen.clone();
        async move {
            let outcome = next.run(request).await;
            seen.note(match &outcome {
                Outcome::Ok(_) => "done".to_owned(),
                Outcome::Failed(failure) => failure.kind.to_string(),
            });
            outcome
        }
    };
    let kit = kit([Ok(sum(&Log::default()).wrap(watch))]);
    let results = kit.run_with([call(2)], deciding(|request| request.answer(json!(4)))).collect_results().await;
    assert_eq!(results[0].to_model_text(), "8");
    assert_eq!(log.lines(), ["input_required", "input_required", "done"]);
}

/// A call that is made by another one and can't be answered there does not make that one wait.
#[tokio::test]
async fn the_failure_of_a_nested_call_is_a_failure() {
    let inner = sum_kit(&Log::default());
    let outer = Tool::new("outer").try_handler_opaque(move |(), _cx| {
        let inner = inner.clone();
        async move {
            let failed = inner.run_call(&call(1)).await.into_failure();
            Err::<(), _>(failed)
        }
    });
    let kit = kit([outer]);
    let outer = [ToolCall::new("c1", "outer", "")];
    let results = kit.run_with(outer, deciding(|_| panic!("nothing is asked"))).collect_results().await;
    assert_eq!(results[0].failure().unwrap().kind, FailureKind::InputRequired);
}

#[tokio::test]
async fn a_forwarding_handler_waits_and_says_whether_it_started() {
    for has_started in [true, false] {
        let remote = Toolkit::dynamic([Tool::dynamic("remote").define().unwrap()]).forward(
            move |_: Tool, call: ToolCall, cx: ForwardCx| async move {
                match cx.resumed() {
                    None => {
                        let wait = ToolFailure::from(Wait::new([Question::input::<u8>("?")], json!({"opaque": [1]})));
                        Err(if has_started { wait } else { wait.not_started() })
                    }
                    Some(resumed) if resumed.answers()[0].is_denied() => {
                        Err(ToolFailure::new(FailureKind::ToolFailed, "declined").not_started())
                    }
                    Some(resumed) => {
                        assert_eq!(resumed.state_json().as_str(), r#"{"opaque":[1]}"#);
                        let answer = resumed.answers()[0].value().cloned();
                        Ok(ToolOutput::from(json!([call.arguments, answer])))
                    }
                }
            },
        );
        let kit: Toolkit = remote.unwrap();
        let call = [ToolCall::new("c1", "remote", r#"{"a":1}"#)];
        let results = kit.run_with(&call, deciding(|request| request.answer(json!(3)))).collect_results().await;
        assert_eq!(results[0].value().unwrap().as_str(), r#"["{\"a\":1}",3]"#);
        let results = kit.run_with(&call, deciding(|request| request.deny("no"))).collect_results().await;
        assert_eq!(results[0].failure().unwrap().started, has_started);
    }
}
