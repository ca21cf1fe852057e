//! The refine step: between validation and every decision about a call.

use std::error::Error;
use std::future::{Ready, pending, ready};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use haft_core::{ApprovalRequest, FailureKind, ToolCall, ToolEvent, ToolFailure, ToolResult};
use haft_executor::{
    ApprovalPolicy, CallArguments, Cancellation, Cx, DefinitionError, EmitBuffer, ExecutionLimits, Next, Permission,
    Permit, Permitting, RefineError, Request, RunOptions, Suspend, Tool, ToolBuilder, Toolkit,
};
use haft_schema::{DecodeOptions, Issue, Issues, Repairs};
use serde_json::{Value, json};

use crate::approval::bench::{Journal, all_came, noting};
use crate::executing::{calls, kit};

/// A tool that refines cents to full euros, rejects zero, and records everything.
fn pay(journal: &Journal) -> ToolBuilder {
    let journal = journal.clone();
    Tool::new("pay").refine(move |cents: u16, _cx: Cx| {
        journal.note(format!("refine {cents}"));
        async move {
            match cents {
                0 => Err(Issue::new("/cents", "refine", "must be something").expected("more").found("nothing")),
                cents => Ok(cents.div_ceil(100) * 100),
            }
        }
    })
}

fn run_by(journal: &Journal, builder: ToolBuilder) -> Result<Tool, DefinitionError> {
    let journal = journal.clone();
    builder.handler(move |cents: u16, _cx| {
        journal.note(format!("run {cents}"));
        ready(cents)
    })
}

/// A policy that records what it decides on.
fn asking(journal: &Journal) -> ApprovalPolicy {
    let journal = journal.clone();
    ApprovalPolicy::when(move |cents: u16, _| {
        journal.note(format!("policy {cents}"));
        true
    })
}

/// A permit that records the call as it came, and its arguments.
struct Noting(Journal);

impl Permit for Noting {
    fn permit(&self, _: &Tool, call: &ToolCall, _: &Cx) -> Permitting {
        self.0.note(format!("permit {}", call.arguments));
        Permission::Allowed.into()
    }

    fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
        self.0.note(format!("permits {}", arguments.decode::<u16>().unwrap()));
        Permission::Allowed.into()
    }
}

fn failure(result: &ToolResult) -> &ToolFailure {
    let failure = result.failure().unwrap();
    assert!(!failure.started);
    failure
}

/// Runs one call alone, in a run and in a spawned task.
async fn every_way(kit: &Toolkit, call: &ToolCall, options: &RunOptions) -> Vec<ToolResult> {
    let mut results = vec![kit.run_call_with(call, options).await];
    results.extend(kit.run_with([call], options.clone()).collect_results().await);
    results.extend(kit.run_with([call], options.clone().spawned()).collect_results().await);
    results
}

#[tokio::test]
async fn everybody_sees_the_refined_arguments() {
    let journal = Journal::default();
    let kit = kit([run_by(&journal, pay(&journal).needs_approval(asking(&journal)))]);
    let noted = journal.clone();
    let approve = move |request: ApprovalRequest, _: Cx| {
        noted.note(format!("asked {}", request.arguments));
        ready(request.approve())
    };
    let options = RunOptions::new().permit(Noting(journal.clone())).approvals(approve);
    for result in every_way(&kit, &ToolCall::new("c1", "pay", "150"), &options).await {
        assert_eq!(result.value().unwrap().as_str(), "200");
    }
    let once = ["permit 150", "refine 150", "permits 200", "policy 200", "asked 200", "run 200"];
    assert_eq!(journal.lines(), [once; 3].concat());
}

#[tokio::test]
async fn a_rejection_is_an_invalid_input_and_ends_the_call() {
    let journal = Journal::default();
    let kit = kit([run_by(&journal, pay(&journal).needs_approval(asking(&journal))), noting("look", &journal)]);
    let options = RunOptions::new().permit(Noting(journal.clone()));
    for result in every_way(&kit, &ToolCall::new("c1", "pay", "0"), &options).await {
        let failure = failure(&result);
        assert_eq!(failure.kind, FailureKind::InputValidationError);
        let issue = &failure.issues.as_slice()[0];
        assert_eq!((issue.pointer.as_str(), issue.keyword.as_str()), ("/cents", "refine"));
        assert!(failure.message.contains("must be something"), "{failure}");
    }
    assert_eq!(journal.lines(), [["permit 0", "refine 0"]; 3].concat());
    let both = kit.run(calls([("pay", "0"), ("look", "1")])).collect_results().await;
    assert_eq!(all_came(&both), ["input_validation_error", "1"]);
}

#[tokio::test]
async fn invalid_arguments_are_not_refined() {
    let journal = Journal::default();
    let kit = kit([run_by(&journal, pay(&journal))]);
    for arguments in ["-1", "\"5\"", "{", "", "70000"] {
        for result in every_way(&kit, &ToolCall::new("c1", "pay", arguments), &RunOptions::new()).await {
            assert_eq!(failure(&result).kind, FailureKind::InputValidationError, "{arguments}");
        }
    }
    assert_eq!(journal.lines(), [""; 0]);
}

/// Every way a refine function can go wrong, and the failure that the model and the operator read.
#[tokio::test]
async fn an_error_of_the_function_is_not_the_models() {
    fn wrong(refine: impl Fn(Value, Cx) -> Ready<Result<Value, RefineError>> + Send + Sync + 'static) -> ToolBuilder {
        Tool::new("t").refine(refine)
    }
    let panics_later = Tool::new("t").refine(|cents: u16, _| async move {
        tokio::task::yield_now().await;
        assert_eq!(cents, 0, "secret");
        Ok::<_, RefineError>(cents)
    });
    let own = || ToolFailure::new("out_of_stock", "none left").started();
    for (builder, kind, message, cause) in [
        (wrong(|_, _| ready(Ok(json!("secret")))), "execution_error", "internal error", "refine function of `t`"),
        (wrong(|_, _| ready(Ok(json!(70_000)))), "execution_error", "internal error", "refine function of `t`"),
        (wrong(|_, _| ready(Err(RefineError::opaque("secret")))), "execution_error", "internal error", "secret"),
        (wrong(|_, _| ready(Err(std::fmt::Error.into()))), "execution_error", "internal error", "formatting"),
        (wrong(move |_, _| ready(Err(own().into()))), "out_of_stock", "none left", ""),
        (wrong(|_, _| ready(Err(Issues::default().into()))), "input_validation_error", "", ""),
        (wrong(|cents, _| panic!("secret {cents}")), "execution_error", "", "secret"),
        (panics_later, "execution_error", "", "secret"),
    ] {
        let journal = Journal::default();
        let kit = kit([run_by(&journal, builder), noting("look", &journal)]);
        for result in every_way(&kit, &ToolCall::new("c1", "t", "5"), &RunOptions::new()).await {
            let failure = failure(&result);
            assert_eq!(failure.kind.as_str(), kind);
            assert!(failure.message.contains(message), "{failure}");
            assert!(!result.to_model_text().contains("secret"), "{failure}");
            let source = failure.source().map(ToString::to_string).unwrap_or_default();
            assert!(source.contains(cause), "{source}");
        }
        let both = kit.run(calls([("t", "5"), ("look", "1")])).collect_results().await;
        assert_eq!(all_came(&both), [kind, "1"]);
        assert_eq!(journal.lines(), ["look 1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn timeouts_and_cancellation_end_a_refine_step() {
    let journal = Journal::default();
    let limits = ExecutionLimits::new().timeout(Duration::from_secs(5));
    let endless = |limits: ExecutionLimits| {
        let stuck = |_: u16, _| pending::<Result<u16, RefineError>>();
        kit([run_by(&journal, Tool::new("t").refine(stuck).limits(limits)), noting("look", &journal)])
    };
    let cancellation = Cancellation::new();
    let second = Duration::from_secs(1);
    for (kit, options, kind) in [
        (endless(ExecutionLimits::new()), RunOptions::new().cancellation(cancellation.clone()), FailureKind::Cancelled),
        (endless(limits), RunOptions::new(), FailureKind::TimedOut),
        (endless(ExecutionLimits::new().idle_timeout(second)), RunOptions::new(), FailureKind::TimedOut),
        (endless(ExecutionLimits::new()), RunOptions::new().call_timeout(second), FailureKind::TimedOut),
        (endless(ExecutionLimits::new()), RunOptions::new().timeout(second), FailureKind::TimedOut),
    ] {
        let run = kit.run_with(calls([("t", "5"), ("look", "1")]), options);
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            cancellation.cancel();
        };
        let (results, ()) = tokio::join!(run.collect_results(), cancel);
        assert_eq!(failure(&results[0]).kind, kind);
        assert!(results[1].is_ok());
    }
    assert_eq!(journal.lines(), ["look 1"; 5]);
}

/// The time that refining takes does not count towards the timeout of the handler.
#[tokio::test(start_paused = true)]
async fn the_handler_has_its_own_time() {
    let slow = Tool::new("t")
        .limits(ExecutionLimits::new().timeout(Duration::from_secs(5)))
        .refine(|cents: u16, cx: Cx| async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            cx.emit("refined").await?;
            Ok::<_, RefineError>(cents + 1)
        })
        .handler(|cents: u16, _| async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            cents
        });
    let mut run = kit([slow]).run(calls([("t", "5")]));
    assert!(matches!(run.next().await, Some(ToolEvent::Progress { data, .. }) if data.as_str() == "\"refined\""));
    assert!(
        matches!(run.next().await, Some(ToolEvent::Output { result, .. }) if result.value().unwrap().as_str() == "6")
    );
}

#[tokio::test]
async fn edited_arguments_are_refined_once() {
    let journal = Journal::default();
    let kit = kit([run_by(&journal, pay(&journal).needs_approval(ApprovalPolicy::always()))]);
    let edit = |cents: u16| {
        RunOptions::new().approvals(move |request: ApprovalRequest, _: Cx| ready(request.edit(json!(cents))))
    };
    for result in every_way(&kit, &ToolCall::new("c1", "pay", "150"), &edit(250)).await {
        assert_eq!(result.value().unwrap().as_str(), "300");
    }
    assert_eq!(journal.lines(), [["refine 150", "refine 250", "run 300"]; 3].concat());
    // The model learns only that its call was not approved: it did not write these arguments.
    for result in every_way(&kit, &ToolCall::new("c1", "pay", "150"), &edit(0)).await {
        assert_eq!(failure(&result).kind, FailureKind::Denied);
    }
}

/// A suspended call keeps the text of the model, and its request shows what was refined.
#[tokio::test]
async fn a_resumed_call_is_refined_from_the_text_of_the_model() {
    let journal = Journal::default();
    let kit = kit([run_by(&journal, pay(&journal).needs_approval(ApprovalPolicy::always()))]);
    let suspended = || async {
        let run = kit.run_with(calls([("pay", "150")]), RunOptions::new().approvals(Suspend));
        let stored = serde_json::to_string(&run.collect_or_suspend().await.unwrap_err()).unwrap();
        serde_json::from_str::<haft_executor::Suspended>(&stored).unwrap()
    };
    for (verdict, expected, lines) in [
        (
            (|request| request.approve()) as fn(&ApprovalRequest) -> _,
            "200",
            vec!["refine 150", "refine 150", "run 200"],
        ),
        (|request| request.edit(json!(7)), "100", vec!["refine 150", "refine 150", "refine 7", "run 100"]),
        (|request| request.deny("no"), "denied", vec!["refine 150", "refine 150"]),
    ] {
        let before = journal.lines().len();
        let suspended = suspended().await;
        let verdicts: Vec<_> = suspended.pending().map(verdict).collect();
        assert!(suspended.pending().all(|request| request.arguments == "200"));
        let results = kit.resume(suspended, verdicts).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), [expected]);
        assert_eq!(journal.lines()[before..], lines);
    }
}

/// An approval is for what was refined: if a resumed call would run with anything else, it does not run.
#[tokio::test]
async fn an_approval_does_not_hold_for_arguments_that_are_refined_differently() {
    let (journal, price) = (Journal::default(), Arc::new(AtomicU16::new(5)));
    let current = Arc::clone(&price);
    let changing = Tool::new("pay").needs_approval(ApprovalPolicy::always()).refine(move |_: u16, _| {
        let price = current.load(Ordering::SeqCst);
        async move { Ok::<_, RefineError>(price) }
    });
    let kit = kit([run_by(&journal, changing)]);
    let run = kit.run_with(calls([("pay", "1")]), RunOptions::new().approvals(Suspend));
    let suspended = run.collect_or_suspend().await.unwrap_err();
    let plan = kit.plan_from_map(RunOptions::new(), [], calls([("pay", "1")])).await;
    let approved: Vec<_> = plan.requests.iter().map(ApprovalRequest::approve).collect();
    let plan = kit.plan_from_map(RunOptions::new(), approved, calls([("pay", "1")])).await;
    assert_eq!(plan.requests.len(), 0);

    price.store(6, Ordering::SeqCst);
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let results = kit.resume(*suspended, verdicts).collect_or_suspend().await;
    assert_eq!(all_came(&results.unwrap()), ["denied"]);
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["denied"]);
    assert_eq!(journal.lines(), [""; 0]);
}

#[tokio::test]
async fn a_planned_call_runs_with_the_arguments_that_were_planned() {
    let journal = Journal::default();
    let kit = kit([run_by(&journal, pay(&journal).needs_approval(asking(&journal)))]);
    let plan = kit.plan_from_map(RunOptions::new(), [], calls([("pay", "150")])).await;
    assert_eq!(plan.requests[0].arguments, "200");
    kit.check_verdict(&RunOptions::new(), &plan.requests[0], &plan.requests[0].approve()).unwrap();
    let verdicts = [plan.requests[0].approve()];
    let plan = kit.plan_from_map(RunOptions::new(), verdicts, calls([("pay", "150")])).await;
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["200"]);
    assert_eq!(journal.lines().last().unwrap(), "run 200");
}

/// A middleware gets the refined arguments. Those that it writes are checked by the schema, and not refined.
#[tokio::test]
async fn arguments_of_a_middleware_are_not_refined() {
    let journal = Journal::default();
    let noted = journal.clone();
    let changing = move |request: Request, next: Next| {
        noted.note(format!("middleware {}", request.raw_arguments()));
        async move {
            next.run(request.again()).await;
            next.run(request.with_arguments(&json!(7))).await
        }
    };
    let kit = kit([run_by(&journal, pay(&journal)).map(|tool| tool.wrap(changing))]);
    for result in every_way(&kit, &ToolCall::new("c1", "pay", "150"), &RunOptions::new()).await {
        assert_eq!(result.value().unwrap().as_str(), "7");
    }
    assert_eq!(journal.lines(), [["refine 150", "middleware 200", "run 200", "run 7"]; 3].concat());
}

#[tokio::test]
async fn repairs_of_the_models_text_are_reported() {
    let journal = Journal::default();
    let options = RunOptions::new().decode_options(DecodeOptions::default().repairs(Repairs::all()));
    for result in
        every_way(&kit([run_by(&journal, pay(&journal))]), &ToolCall::new("c1", "pay", "\"150\""), &options).await
    {
        assert_eq!((result.value().unwrap().as_str(), result.repairs.len()), ("200", 1));
    }
}

/// Arguments that a tree would round are refined exactly or not at all.
#[tokio::test]
async fn large_integers_are_exact() {
    let exact = Tool::new("t").refine(|n: u128, _| async move { Ok::<_, RefineError>(n + 1) });
    let rounded = Tool::new("r").refine(|n: Value, _| async move { Ok::<_, RefineError>(n) });
    let kit = kit([exact.handler(|n: u128, _| async move { n }), rounded.handler(|n: u128, _| async move { n })]);
    let results =
        kit.run(calls([("t", "18446744073709551617"), ("r", "18446744073709551617")])).collect_results().await;
    assert_eq!(all_came(&results), ["18446744073709551618", "input_validation_error"]);
}

#[test]
fn a_tool_without_a_handler_of_its_own_refines_nothing() {
    let refine = |builder: ToolBuilder| builder.params::<u16>().refine(|n: u16, _| async move { Ok::<_, Issue>(n) });
    for builder in [Tool::signal("s"), Tool::interaction("i")] {
        let error = refine(builder).define().unwrap_err().to_string();
        assert!(error.contains("`refine`"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refine_step_that_waits_for_its_reader_is_not_idle() {
    let one = EmitBuffer::Bounded(NonZeroUsize::MIN);
    let limits = ExecutionLimits::new().idle_timeout(Duration::from_secs(1)).emit_buffer(one);
    let kit = kit([Tool::new("pay")
        .limits(limits)
        .refine(|cents: u16, cx: Cx| async move {
            for step in 0..4 {
                cx.emit(step).await?;
            }
            Ok::<_, RefineError>(cents)
        })
        .handler(|cents: u16, _cx| async move { cents })]);
    let mut run = kit.run(calls([("pay", "5")]));
    let mut result = None;
    while let Some(event) = run.next().await {
        result = event.result().cloned().or(result);
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
    assert_eq!(result.unwrap().to_model_text(), "5");
}
