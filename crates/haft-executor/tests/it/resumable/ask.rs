//! Calls that ask while they run.

use std::time::Duration;

use haft_core::{FailureKind, ToolEvent, ToolResult};
use haft_executor::{AskError, ExecutionLimits, VerdictQueue};
use tokio::time::sleep;

use super::*;

fn asks() -> Tool {
    let asks = Tool::new("asks").try_handler_opaque(|(), cx: Cx| async move {
        let answer = cx.ask(Question::input::<u8>("How many?")).await?;
        Ok::<_, AskError>(answer.value().map(ToString::to_string))
    });
    asks.unwrap()
}

fn one() -> ToolCall {
    ToolCall::new("c1", "asks", "")
}

#[tokio::test]
async fn a_call_asks_while_it_runs() {
    let kit = kit([Ok(asks())]);
    let mut run = kit.run_with([one()], deciding(|request| request.answer(json!(2))));
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        seen.push(match event {
            ToolEvent::ApprovalRequested { request, .. } => request.question.unwrap().clone(),
            ToolEvent::ApprovalResolved { .. } => Box::new(Question::visit("resolved", "")),
            ToolEvent::Output { result, .. } => Box::new(Question::visit(result.to_model_text(), "")),
            other => panic!("{other:?}"),
        });
    }
    let expected = [Question::input::<u8>("How many?"), Question::visit("resolved", ""), Question::visit("2", "")];
    assert_eq!(seen.into_iter().map(|question| *question).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_single_call_asks_the_approver_of_its_options() {
    let kit = kit([Ok(asks())]);
    let result = kit.run_call_with(&one(), deciding(|request| request.answer(json!(2)))).await;
    assert_eq!(result.to_model_text(), "2");
    let result = kit.run_call_with(&one(), deciding(|request| request.deny("no"))).await;
    assert_eq!(result.value().unwrap().as_str(), "null");
}

#[tokio::test]
async fn an_approver_knows_whether_it_may_answer_later() {
    let pay = Tool::new("pay").needs_approval(haft_executor::ApprovalPolicy::always()).handler(|(), _cx| async { 1 });
    let kit = kit([Ok(asks()), Ok(sum(&Log::default())), pay]);
    let deferred = |request: ApprovalRequest, cx: Cx| async move {
        let answer = request.deny(cx.can_be_deferred().to_string());
        Ok::<_, haft_executor::BoxError>(answer)
    };
    let calls = [one(), ToolCall::new("c2", "sum", "1"), ToolCall::new("c3", "pay", "")];
    let mut run = kit.run_with(calls, RunOptions::new().approvals(deferred));
    let mut seen = std::collections::BTreeMap::new();
    while let Some(event) = run.next().await {
        if let ToolEvent::ApprovalResolved { call_id, response, .. } = event {
            seen.insert(call_id.to_string(), response.reason.unwrap());
        }
    }
    let expected = [("c1", "false"), ("c2", "true"), ("c3", "true")];
    assert_eq!(seen, expected.map(|(call, deferred)| (call.to_owned(), deferred.to_owned())).into());
}

#[tokio::test]
async fn a_question_without_an_answer_is_a_clear_failure() {
    let kit = kit([Ok(asks())]);
    let kind = |result: ToolResult| result.failure().unwrap().kind.clone();
    assert_eq!(kind(kit.run_call(&one()).await), FailureKind::InputRequired);
    let later = RunOptions::new().approvals(Suspend);
    assert_eq!(kind(kit.run_with([one()], later).collect_results().await.remove(0)), FailureKind::InputRequired);
    let wrong = deciding(|request| request.answer(json!("two")));
    assert_eq!(kind(kit.run_with([one()], wrong).collect_results().await.remove(0)), FailureKind::Denied);
    let broken = deciding(|_| panic!("the desk burns"));
    assert_eq!(kind(kit.run_with([one()], broken).collect_results().await.remove(0)), FailureKind::Denied);
}

/// The person may take as long as they like. What the handler does before and after counts.
#[tokio::test(start_paused = true)]
async fn timeouts_are_paused_while_a_person_thinks() {
    for (before, after, is_done) in [(4, 4, true), (4, 6, false), (11, 0, false)] {
        for idle in [false, true] {
            let seconds = Duration::from_secs;
            let limits = ExecutionLimits::new().timeout(seconds(10));
            let limits = if idle { limits.idle_timeout(seconds(9)) } else { limits };
            let tool = Tool::new("asks").limits(limits).try_handler_opaque(move |(), cx: Cx| async move {
                sleep(seconds(before)).await;
                let deadline = cx.deadline().unwrap();
                let second = async {
                    sleep(seconds(1)).await;
                    cx.ask(Question::input::<u8>("two")).await
                };
                let (first, second) = tokio::join!(cx.ask(Question::input::<u8>("one")), second);
                drop((first?, second?));
                sleep(seconds(1)).await;
                assert!(cx.deadline().unwrap() > deadline + seconds(3_000));
                sleep(seconds(after)).await;
                Ok::<_, AskError>(())
            });
            let kit = kit([tool]);
            let options = RunOptions::new().approvals(|request: ApprovalRequest, _: Cx| async move {
                sleep(Duration::from_secs(3_600)).await;
                request.answer(json!(1))
            });
            for options in [options.clone(), options.spawned()] {
                let results = kit.run_with([one()], options).collect_results().await;
                assert_eq!(results[0].is_ok(), is_done, "{before} {after} {idle} {:?}", results[0]);
            }
        }
    }
}

#[tokio::test]
async fn a_question_of_a_call_that_ends_is_closed() {
    let kit = kit([Ok(asks())]);
    let (sender, queue) = VerdictQueue::new();
    let mut run = kit.run_with([one()], RunOptions::new().approvals(queue.clone()));
    let Some(ToolEvent::ApprovalRequested { request, .. }) = run.next().await else { panic!() };
    run.cancel();
    let Some(ToolEvent::Output { result, .. }) = run.next().await else { panic!() };
    assert_eq!(result.failure().unwrap().kind, FailureKind::Cancelled);
    assert!(queue.open().is_empty());
    assert!(sender.send(request.answer(json!(1))).is_err());
}
