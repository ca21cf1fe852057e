//! Tools that are executed elsewhere: what their handler gets, what it may return, and when its `started` is believed.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{ContentPart, FailureKind, Outcome, ToolCall, ToolEvent, ToolFailure, ToolOutput, ToolResult};
use haft_executor::{
    ApprovalPolicy, Cancellation, ExecutionLimits, ForwardCx, Next, Request, RunOptions, Tool, Toolkit,
};
use haft_schema::{DecodeOptions, DuplicateKeys, JsonText, Limits, Repairs, Validation};
use serde_json::{Value, json};
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::executing::tell;

/// The calls that a handler received.
type Received = Arc<Mutex<Vec<(String, ToolCall)>>>;

const TRANSFER: &str = r#"{ "to":"ana",  "cents": 5 }"#;

fn definition() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "cents": {"type": "integer"}},
        "required": ["to"],
    });
    Tool::dynamic("transfer").params_json(schema).define().unwrap()
}

fn call(arguments: &str) -> ToolCall {
    ToolCall::new("c1", "transfer", arguments)
}

/// Creates a forwarding tool that records its calls and returns their arguments.
fn recording(definition: &Tool) -> (Tool, Received) {
    let received = Received::default();
    let kept = Arc::clone(&received);
    let tool = definition.with_forward(move |tool: Tool, call: ToolCall, _cx: ForwardCx| {
        let text = JsonText::parse(&call.arguments).unwrap();
        kept.lock().unwrap().push((tool.name().to_owned(), call));
        async move { Ok(ToolOutput::new(text)) }
    });
    (tool.unwrap(), received)
}

/// Creates a forwarding tool that fails.
fn failing(failure: ToolFailure) -> Tool {
    let forward = move |_: Tool, _: ToolCall, _: ForwardCx| std::future::ready(Err(failure.clone()));
    definition().with_forward(forward).unwrap()
}

fn refused() -> ToolFailure {
    ToolFailure::new(FailureKind::ExecutionError, "connection refused").not_started().retryable()
}

fn lost() -> ToolFailure {
    ToolFailure::new(FailureKind::OutcomeUnknown, "")
}

fn pass(tool: &Tool) -> Tool {
    tool.wrap(|request: Request, next: Next| async move { next.run(request).await })
}

/// Every way to run a call: alone, in a run, in a task, each with and without a middleware that passes it on.
async fn every_way(tool: &Tool, call: &ToolCall) -> Vec<ToolResult> {
    let mut results = Vec::new();
    for tool in [tool.clone(), pass(tool)] {
        let kit: Toolkit = Toolkit::from_iter([tool]);
        results.push(kit.run_call(call).await);
        results.push(kit.run([call.clone()]).collect_results().await.remove(0));
        results.push(kit.run_with([call.clone()], RunOptions::new().spawned()).collect_results().await.remove(0));
    }
    results
}

fn started(result: &ToolResult) -> bool {
    result.failure().unwrap().started
}

#[tokio::test]
async fn the_handler_gets_the_whole_call_with_its_text_unchanged() {
    let (tool, received) = recording(&definition());
    let requested = call(TRANSFER).metadata("tenant", "t1").provider_data("openai", json!({"id": 7}));
    for result in every_way(&tool, &requested).await {
        assert_eq!(result.value().unwrap().as_str(), TRANSFER);
    }
    let received = received.lock().unwrap();
    assert_eq!(received.len(), 6);
    assert!(received.iter().all(|(name, call)| name == "transfer" && *call == requested));
}

#[tokio::test]
async fn the_handler_gets_the_tool_as_it_was_discovered() {
    let kit: Toolkit = Toolkit::dynamic([definition()])
        .forward(|tool: Tool, call: ToolCall, cx: ForwardCx| async move {
            let names = json!([tool.name(), call.name, cx.tool_name()]);
            Ok(names.into())
        })
        .unwrap()
        .namespace("bank")
        .unwrap();
    let result = kit.run_call(&ToolCall::new("c1", "bank__transfer", TRANSFER)).await;
    assert_eq!(result.value().unwrap().as_str(), r#"["transfer","bank__transfer","bank__transfer"]"#);
}

#[tokio::test]
async fn invalid_arguments_are_not_forwarded() {
    let (tool, received) = recording(&definition());
    for arguments in ["", "{", r#"{"cents":5}"#, r#"{"to":1}"#, r#"{"to":"a","to":"b"}"#] {
        for result in every_way(&tool, &call(arguments)).await {
            assert_eq!(result.failure().unwrap().kind, FailureKind::InputValidationError, "{arguments}");
            assert!(!started(&result));
        }
    }
    assert!(received.lock().unwrap().is_empty());
}

#[tokio::test]
async fn text_is_forwarded_in_the_form_that_was_checked() {
    let table = [
        // Digits that no 64-bit number holds are kept.
        (r#"{"to":"a","cents":123456789012345678901234567890}"#, None),
        // Of a repeated key, the one that counted.
        (r#"{"to":"a","to":"b"}"#, Some(r#"{"to":"b"}"#)),
        // A repaired number.
        (r#"{"to":"a","cents":"5"}"#, Some(r#"{"to":"a","cents":5}"#)),
    ];
    let limits = Limits::default().duplicate_keys(DuplicateKeys::LastWins);
    let mut repairs = Repairs::default();
    repairs.quoted_scalars = true;
    let options = RunOptions::new().decode_options(DecodeOptions::default().limits(limits).repairs(repairs));
    for (arguments, expected) in table {
        let (tool, received) = recording(&definition());
        for tool in [tool.clone(), pass(&tool)] {
            let result = Toolkit::from_iter([tool]).run_call_with(&call(arguments), &options).await;
            assert!(result.is_ok(), "{:?}", result.failure());
            let (_, forwarded) = received.lock().unwrap().pop().unwrap();
            assert_eq!(forwarded.arguments, expected.unwrap_or(arguments));
        }
    }
}

#[tokio::test]
async fn edited_arguments_are_forwarded() {
    use haft_core::{ApprovalDecision, ApprovalRequest};
    use haft_executor::{BoxError, Cx};

    let (tool, received) = recording(&definition().set_needs_approval(ApprovalPolicy::always()).unwrap());
    let edit = |request: ApprovalRequest, _: Cx| async move {
        Ok::<_, BoxError>(request.respond(ApprovalDecision::Edited(json!({"to": "bob"}).into())))
    };
    let options = RunOptions::new().approvals(edit);
    let requested = call(TRANSFER).metadata("tenant", "t1");
    let result = Toolkit::from_iter([tool]).run_call_with(&requested, &options).await;
    assert_eq!(result.value().unwrap().as_str(), r#"{"to":"bob"}"#);
    let received = received.lock().unwrap();
    assert_eq!(received[0].1.metadata["tenant"], "t1");
    assert_eq!(received[0].1.arguments, r#"{"to":"bob"}"#);
}

#[tokio::test]
async fn arguments_that_a_middleware_changed_are_forwarded_unless_others_were_approved() {
    let change =
        |request: Request, next: Next| async move { next.run(request.with_arguments(&json!({"to": "eve"}))).await };
    let (tool, received) = recording(&definition());
    let result = Toolkit::from_iter([tool.wrap(change)]).run_call(&call(TRANSFER)).await;
    assert_eq!(result.value().unwrap().as_str(), r#"{"to":"eve"}"#);
    received.lock().unwrap().clear();

    let gated = tool.set_needs_approval(ApprovalPolicy::when(|_: Value, _cx| async { false })).unwrap();
    let result = Toolkit::from_iter([gated.wrap(change)]).run_call(&call(TRANSFER)).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::Denied);
    assert!(received.lock().unwrap().is_empty());
}

#[tokio::test]
async fn values_content_and_metadata_come_back() {
    let output = ToolOutput::content_only(vec![ContentPart::text("sent")]).with_metadata("node", "eu-1");
    let returned = output.clone();
    let tool = definition().with_forward(move |_: Tool, _: ToolCall, _: ForwardCx| {
        let output = returned.clone();
        async move { Ok(output) }
    });
    for result in every_way(&tool.unwrap(), &call(TRANSFER)).await {
        assert_eq!(result.outcome.output(), Some(&output));
    }
    let failure = lost().for_model(vec![ContentPart::text("log")]).with_metadata("node", "eu-1").cause("secret");
    for result in every_way(&failing(failure.clone()), &call(TRANSFER)).await {
        assert_eq!(result.failure(), Some(&failure));
    }
}

#[tokio::test]
async fn outputs_are_checked_by_the_success_schema() {
    let declared = Tool::dynamic("transfer").success_json(json!({"type": "integer"})).define().unwrap();
    let unchecked =
        declared.set_success(haft_schema::Schema::json_with(json!({"type": "integer"}), Validation::None).unwrap());
    let content = || ToolOutput::content_only(vec![ContentPart::text("7")]);
    let table = [
        (&declared, ToolOutput::from(json!(7)), true),
        (&declared, ToolOutput::from(json!("7")), false),
        (&declared, ToolOutput::from(json!("7")).for_model(vec![ContentPart::text("7")]), false),
        (&declared, content(), false),
        (&unchecked, content(), true),
        (&unchecked, ToolOutput::from(json!("7")), true),
    ];
    for (definition, output, is_valid) in table {
        let tool =
            definition.with_forward(move |_: Tool, _: ToolCall, _: ForwardCx| std::future::ready(Ok(output.clone())));
        for result in every_way(&tool.unwrap(), &call("{}")).await {
            assert_eq!(result.is_ok(), is_valid);
            if !is_valid {
                let failure = result.failure().unwrap();
                assert_eq!((&failure.kind, failure.started), (&FailureKind::OutputValidationError, true));
            }
        }
    }
}

#[tokio::test]
async fn the_failure_is_believed() {
    let busy = || ToolFailure::new("busy", "later").retry_after(Duration::from_secs(2));
    for failure in [refused(), lost(), busy(), busy().not_started(), refused().started()] {
        for result in every_way(&failing(failure.clone()), &call(TRANSFER)).await {
            assert_eq!(result.failure(), Some(&failure));
        }
    }
}

#[tokio::test]
async fn an_unknown_outcome_has_started_even_if_the_handler_says_otherwise() {
    for result in every_way(&failing(lost().not_started()), &call(TRANSFER)).await {
        assert!(started(&result));
        assert!(!result.failure().unwrap().retryable);
    }
}

#[tokio::test]
async fn a_failure_that_nests_too_deep_keeps_its_started() {
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    for failure in [refused(), lost()] {
        for result in every_way(&failing(failure.clone().with_metadata("deep", deep.clone())), &call(TRANSFER)).await {
            let invalid = result.failure().unwrap();
            assert_eq!((&invalid.kind, invalid.started), (&FailureKind::OutputValidationError, failure.started));
        }
    }
}

#[tokio::test]
async fn a_middleware_that_lies_is_corrected() {
    let lying = |failure: ToolFailure, says: bool| {
        failing(failure).wrap(move |request: Request, next: Next| async move {
            match next.run(request).await {
                Outcome::Failed(mut failure) => {
                    failure.started = says;
                    Outcome::Failed(failure)
                }
                outcome @ Outcome::Ok(_) => outcome,
            }
        })
    };
    for result in every_way(&lying(refused(), true), &call(TRANSFER)).await {
        assert!(!started(&result));
    }
    for result in every_way(&lying(lost(), false), &call(TRANSFER)).await {
        assert!(started(&result));
    }
    // A failure that the middleware makes up: with an output that was dropped, and without a call at all.
    let (tool, _) = recording(&definition());
    let replacing = tool.wrap(|request: Request, next: Next| async move {
        drop(next.run(request).await);
        refused().into()
    });
    for result in every_way(&replacing, &call(TRANSFER)).await {
        assert!(started(&result));
    }
    for result in every_way(&tool.wrap(|_: Request, _: Next| async { lost().into() }), &call(TRANSFER)).await {
        assert!(!started(&result));
    }
}

#[tokio::test]
async fn the_failure_of_an_ordinary_handler_is_not_believed() {
    let tool = definition().with_handler(|_: Value, _cx| async { 1 }).unwrap();
    let failing = Tool::new("transfer").try_handler_opaque(|_: Value, _cx| async { Err::<(), _>(refused()) }).unwrap();
    assert!(every_way(&tool, &call(TRANSFER)).await.iter().all(ToolResult::is_ok));
    for result in every_way(&failing, &call(TRANSFER)).await {
        assert!(started(&result));
    }
}

#[tokio::test]
async fn a_call_has_started_if_any_attempt_has() {
    let twice = |request: Request, next: Next| async move {
        let again = request.again();
        drop(next.run(request).await);
        next.run(again).await
    };
    for (first, second, has_started) in
        [(refused(), refused(), false), (lost(), refused(), true), (refused(), lost(), true)]
    {
        let attempts = Arc::new(AtomicU32::new(0));
        let tool = definition().with_forward(move |_: Tool, _: ToolCall, cx: ForwardCx| {
            attempts.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Err(if cx.attempt() == 1 { first.clone() } else { second.clone() }))
        });
        for result in every_way(&tool.unwrap().wrap(twice), &call(TRANSFER)).await {
            assert_eq!(started(&result), has_started);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_attempts_at_once_each_counts() {
    // The second attempt has not sent anything when the first, which may have, is dropped.
    let hedged = |request: Request, next: Next| async move {
        let (mut first, again) = (Box::pin(next.run(request.again())), next.run(request));
        tokio::select! {
            biased;
            outcome = &mut first => outcome,
            outcome = again => outcome,
        }
    };
    for first_is_sent in [false, true] {
        let tool = definition().with_forward(move |_: Tool, _: ToolCall, cx: ForwardCx| async move {
            if cx.attempt() == 2 {
                if !first_is_sent {
                    cx.mark_unsent();
                }
                pending::<()>().await;
            }
            sleep(Duration::from_secs(1)).await;
            Err(refused())
        });
        for result in every_way(&tool.unwrap().wrap(hedged), &call(TRANSFER)).await {
            assert_eq!(started(&result), first_is_sent);
        }
    }
}

#[tokio::test]
async fn a_panic_counts_as_started() {
    let early = definition().with_forward(|_: Tool, _: ToolCall, cx: ForwardCx| -> std::future::Ready<_> {
        cx.mark_unsent();
        panic!("early")
    });
    let late = definition().with_forward(|_: Tool, call: ToolCall, cx: ForwardCx| async move {
        cx.mark_unsent();
        yield_now().await;
        assert!(call.arguments.is_empty(), "late");
        Err(refused())
    });
    for tool in [early.unwrap(), late.unwrap()] {
        for result in every_way(&tool, &call(TRANSFER)).await {
            let failure = result.failure().unwrap();
            assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, true));
        }
    }
}

/// A handler that stops at one of these points.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StopsAt {
    /// Without a report.
    Unreported,
    Unsent,
    Sending,
    /// After it reported that nothing was sent, too late.
    UnsentAfterSending,
}

fn stopping(at: StopsAt) -> Tool {
    let forward = move |_: Tool, _: ToolCall, cx: ForwardCx| async move {
        match at {
            StopsAt::Unreported => {}
            StopsAt::Unsent => cx.mark_unsent(),
            StopsAt::Sending | StopsAt::UnsentAfterSending => {
                cx.mark_unsent();
                yield_now().await;
                cx.mark_sending()?;
            }
        }
        if at == StopsAt::UnsentAfterSending {
            cx.mark_unsent();
        }
        pending().await
    };
    definition().with_forward(forward).unwrap()
}

const STOPS: [(StopsAt, bool); 4] = [
    (StopsAt::Unreported, true),
    (StopsAt::Unsent, false),
    (StopsAt::Sending, true),
    (StopsAt::UnsentAfterSending, true),
];

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_has_started_unless_nothing_was_sent() {
    for (stop, has_started) in STOPS {
        let limited = stopping(stop).with_limits(ExecutionLimits::new().timeout(Duration::from_secs(1))).unwrap();
        let wrapped = stopping(stop).wrap(|request: Request, next: Next| async move {
            match tokio::time::timeout(Duration::from_secs(1), next.run(request)).await {
                Ok(outcome) => outcome,
                Err(_) => ToolFailure::new(FailureKind::TimedOut, "").into(),
            }
        });
        for tool in [limited, wrapped] {
            for result in every_way(&tool, &call(TRANSFER)).await {
                let failure = result.failure().unwrap();
                assert_eq!((&failure.kind, failure.started), (&FailureKind::TimedOut, has_started), "{stop:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_has_started_unless_nothing_was_sent() {
    for (stop, has_started) in STOPS {
        for tool in [stopping(stop), pass(&stopping(stop))] {
            for options in [RunOptions::new(), RunOptions::new().spawned()] {
                let cancellation = Cancellation::new();
                let kit: Toolkit = Toolkit::from_iter([tool.clone()]);
                let run = kit.run_with([call(TRANSFER)], options.cancellation(cancellation.clone()));
                let (results, ()) = tokio::join!(run.collect_results(), async {
                    sleep(Duration::from_secs(1)).await;
                    cancellation.cancel();
                });
                let failure = results[0].failure().unwrap();
                assert_eq!((&failure.kind, failure.started), (&FailureKind::Cancelled, has_started), "{stop:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_is_not_forwarded() {
    let (tool, received) = recording(&definition());
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let kit: Toolkit = Toolkit::from_iter([tool]);
    let results = kit.run_with([call(TRANSFER)], RunOptions::new().cancellation(cancellation)).collect_results().await;
    assert!(!started(&results[0]));
    assert!(received.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_must_not_be_sent_after_its_result() {
    // The context outlives the call, as in a task of the handler's own.
    let kept = Arc::new(Mutex::new(None::<ForwardCx>));
    let keeping = Arc::clone(&kept);
    let tool = definition().with_forward(move |_: Tool, _: ToolCall, cx: ForwardCx| {
        cx.mark_unsent();
        *keeping.lock().unwrap() = Some(cx);
        pending()
    });
    let limits = ExecutionLimits::new().timeout(Duration::from_secs(1));
    let kit: Toolkit = Toolkit::from_iter([tool.unwrap().with_limits(limits).unwrap()]);
    let result = kit.run_call(&call(TRANSFER)).await;
    assert!(!started(&result));
    let cx = kept.lock().unwrap().take().unwrap();
    let failure = cx.mark_sending().unwrap_err();
    assert_eq!((failure.kind, failure.started), (FailureKind::Cancelled, false));
}

#[tokio::test(start_paused = true)]
async fn a_call_has_not_started_while_the_other_side_waits() {
    type Step = fn(&ForwardCx);
    let (unsent, waiting): (Step, Step) = (ForwardCx::mark_unsent, ForwardCx::mark_waiting);
    let sending: Step = |cx| cx.mark_sending().unwrap();
    let table = [
        (vec![unsent, sending, waiting], false),
        (vec![sending, waiting], false),
        (vec![unsent, sending, waiting, sending], true),
        (vec![unsent, sending, waiting, sending, waiting], false),
        // Only what was sent can wait, and what was sent stays sent until it is reported to wait.
        (vec![waiting], true),
        (vec![unsent, sending, unsent], true),
    ];
    for (steps, has_started) in table {
        let limits = ExecutionLimits::new().timeout(Duration::from_secs(1));
        let tool = definition().with_forward(move |_: Tool, _: ToolCall, cx: ForwardCx| {
            for step in &steps {
                step(&cx);
            }
            pending()
        });
        for result in every_way(&tool.unwrap().with_limits(limits).unwrap(), &call(TRANSFER)).await {
            assert_eq!(result.failure().unwrap().kind, FailureKind::TimedOut);
            assert_eq!(started(&result), has_started);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_to_a_side_that_waits_after_the_result() {
    let kept = Arc::new(Mutex::new(None::<ForwardCx>));
    let keeping = Arc::clone(&kept);
    let tool = definition().with_forward(move |_: Tool, _: ToolCall, cx: ForwardCx| {
        cx.mark_sending().unwrap();
        cx.mark_waiting();
        *keeping.lock().unwrap() = Some(cx);
        pending()
    });
    let limits = ExecutionLimits::new().timeout(Duration::from_secs(1));
    let kit: Toolkit = Toolkit::from_iter([tool.unwrap().with_limits(limits).unwrap()]);
    assert!(!started(&kit.run_call(&call(TRANSFER)).await));
    assert_eq!(kept.lock().unwrap().take().unwrap().mark_sending().unwrap_err().kind, FailureKind::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn sending_is_refused_while_the_call_is_being_cancelled() {
    let cancellation = Cancellation::new();
    let cancel = cancellation.clone();
    let tool = definition().with_forward(move |_: Tool, _: ToolCall, cx: ForwardCx| {
        cx.mark_unsent();
        cancel.cancel();
        std::future::ready(cx.mark_sending().map(|()| json!("sent").into()))
    });
    let kit: Toolkit = Toolkit::from_iter([tool.unwrap()]);
    let results = kit.run_with([call(TRANSFER)], RunOptions::new().cancellation(cancellation)).collect_results().await;
    assert_eq!((&results[0].failure().unwrap().kind, started(&results[0])), (&FailureKind::Cancelled, false));
}

#[tokio::test]
async fn progress_and_preliminary_results_of_the_other_side_are_emitted() {
    let tool = definition().with_forward(|_: Tool, _: ToolCall, cx: ForwardCx| async move {
        cx.emit("connected").await.ok();
        cx.preliminary(1).await.ok();
        Ok(json!(2).into())
    });
    let kit: Toolkit = Toolkit::from_iter([tool.unwrap()]);
    let told = tell(kit.run([call(TRANSFER)])).await;
    assert_eq!(told, [r#"c1 progress "connected""#, "c1 preliminary 1", "c1 output 2"]);
}

#[tokio::test]
async fn each_attempt_is_reported_when_it_reaches_the_handler() {
    let tool = failing(refused()).wrap(|request: Request, next: Next| async move {
        let again = request.again();
        drop(next.run(request).await);
        next.run(again).await
    });
    for tool in [failing(refused()), tool] {
        for options in [RunOptions::new(), RunOptions::new().spawned()] {
            let mut run = Toolkit::from_iter([tool.clone()]).run_with([call(TRANSFER)], options.started_events());
            let mut attempts = Vec::new();
            while let Some(event) = run.next().await {
                if let ToolEvent::Started { attempt, .. } = event {
                    attempts.push(attempt);
                }
            }
            assert!(attempts == [1] || attempts == [1, 2], "{attempts:?}");
        }
    }
}

#[test]
fn tools_that_are_not_executed_here_cannot_forward() {
    let signal = Tool::signal("stop").define().unwrap();
    let error = signal.with_forward(|_: Tool, _: ToolCall, _: ForwardCx| async { Err(refused()) }).unwrap_err();
    assert!(error.to_string().contains("stop"), "{error}");
    let kit = Toolkit::<()>::dynamic([signal, definition(), definition()])
        .forward(|_: Tool, _: ToolCall, _: ForwardCx| async { Err(refused()) });
    assert_eq!(kit.unwrap_err().faults.len(), 2);
}
