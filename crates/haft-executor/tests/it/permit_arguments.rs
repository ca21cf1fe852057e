//! Permits that decide on the decoded arguments: exactly those that would run, however the call comes.

use std::cell::Cell;
use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, ApprovalRule, Caller, FailureKind, Timestamp, ToolCall, ToolResult};
use haft_executor::{
    ApprovalOutcome, ApprovalPolicy, AuditRecord, BoxError, CallArguments, Cx, Dispatch, Next, Permission, Permit,
    Permitting, RefineError, Request, RunOptions, Suspend, Tool, Toolkit, VerdictQueue,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::approval::bench::{Way, all_came, asking, bench, message, never_asked};
use crate::executing::{calls, came, kit};

/// Denies numbers beyond a limit, and logs the arguments that it is asked about.
#[derive(Clone, Default)]
struct AtMost {
    most: u128,
    asked: Arc<Mutex<Vec<String>>>,
}

impl AtMost {
    fn new(most: u128) -> Self {
        Self { most, asked: Arc::default() }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn check(&self, arguments: &CallArguments<'_>) -> Result<Permission, BoxError> {
        let n: u128 = arguments.decode()?;
        self.asked.lock().unwrap().push(n.to_string());
        if n <= self.most {
            return Ok(Permission::Allowed);
        }
        Ok(Permission::denied("too much for you").by_rule("at-most"))
    }
}

impl Permit for AtMost {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }

    fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
        self.check(arguments).into()
    }
}

/// Reads the arguments as a tree, and allows every tree.
struct ReadsTree;

impl Permit for ReadsTree {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }

    fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
        arguments.tree().map(|_| Permission::Allowed).into()
    }
}

fn allowing(_: &Tool, _: &ToolCall, _: &Cx) -> Permission {
    Permission::Allowed
}

#[tokio::test]
async fn edited_arguments_are_subject_to_permits_whichever_way_they_come() {
    for way in Way::ALL {
        let (kit, journal) = bench();
        let permit = AtMost::new(10);
        let options = RunOptions::new().permit(permit.clone());
        let results = way.results(&kit, &options, &calls([("pay", "5")]), |request| request.edit(json!(500))).await;
        assert_eq!(all_came(&results), ["permission_denied"], "{way:?}");
        assert_eq!(message(&results), "too much for you", "{way:?}");
        assert_eq!(permit.asked().last().unwrap(), "500", "{way:?}");
        assert_eq!(journal.lines(), [""; 0], "{way:?}");
        let results = way.results(&kit, &options, &calls([("pay", "5")]), |request| request.edit(json!(6))).await;
        assert_eq!(all_came(&results), ["6"], "{way:?}");
        assert_eq!(permit.asked().last().unwrap(), "6", "{way:?}");
    }
}

/// Arguments are validated first, and no approval is requested for a call that is denied.
#[tokio::test]
async fn a_permit_is_asked_after_validation_and_before_approval() {
    let (kit, _) = bench();
    let permit = AtMost::new(10);
    let options = RunOptions::new().approvals(never_asked).permit(permit.clone());
    let results = kit.run_with(calls([("pay", "500"), ("look", "500")]), options.clone()).collect_results().await;
    assert_eq!(all_came(&results), ["permission_denied", "permission_denied"]);
    assert_eq!(permit.asked(), ["500", "500"]);
    let invalid = calls([("pay", "\"much\""), ("look", "-1"), ("ghost", "1")]);
    let results = kit.run_with(invalid, options).collect_results().await;
    assert_eq!(all_came(&results), ["input_validation_error", "input_validation_error", "unknown_tool"]);
    assert_eq!(permit.asked(), [""; 0]);
    let plan = kit.plan_from_map(RunOptions::new().permit(permit.clone()), [], calls([("pay", "500"), ("look", "5")]));
    let plan = plan.await;
    assert_eq!((plan.requests.len(), permit.asked()), (0, vec!["500".to_owned(), "5".to_owned()]));
}

#[tokio::test]
async fn signals_and_interactions_are_asked_about_and_provider_executed_calls_are_not() {
    let tools = || {
        kit([
            Tool::signal("halt").params::<u8>().define(),
            Tool::interaction("choose").params::<u8>().success::<u8>().define(),
            Tool::new("search").handler(|n: u8, _cx| async move { n }),
        ])
    };
    let asked = || {
        let mut calls = calls([("halt", "11"), ("halt", "1"), ("choose", "12"), ("choose", "2"), ("search", "13")]);
        calls[4] = calls[4].clone().executed_by_provider();
        calls
    };
    let approving = || asking(ApprovalRequest::approve).policy(ApprovalPolicy::always());
    for options in [RunOptions::new(), approving()] {
        let permit = AtMost::new(10);
        let results = tools().run_with(asked(), options.permit(permit.clone())).collect_results().await;
        let denied = "permission_denied";
        let surfaced = "non_local_tool";
        assert_eq!(all_came(&results), [denied, surfaced, denied, surfaced, surfaced]);
        assert_eq!(permit.asked(), ["11", "1", "12", "2"]);
    }
}

fn minting() -> Toolkit {
    kit([Tool::new("mint").handler(|n: u128, _cx| async move { n.to_string() })])
}

/// No tree holds this number: a permit reads it whole, or the call is denied.
#[tokio::test]
async fn a_permit_sees_exactly_what_would_run_or_denies() {
    let large = "18446744073709551617";
    for (options, outcome) in [
        (RunOptions::new(), "\"18446744073709551617\""),
        (RunOptions::new().permit(AtMost::new(18_446_744_073_709_551_617)), "\"18446744073709551617\""),
        (RunOptions::new().permit(AtMost::new(18_446_744_073_709_551_616)), "permission_denied"),
        (RunOptions::new().permit(ReadsTree), "permission_denied"),
        (RunOptions::new().permit(AtMost::new(u128::MAX)).permit(ReadsTree), "permission_denied"),
    ] {
        let results = minting().run_with(calls([("mint", large)]), options).collect_results().await;
        assert_eq!(came(&results[0]), outcome);
    }
    let results = minting().run_with(calls([("mint", "5")]), RunOptions::new().permit(ReadsTree)).collect_results();
    assert_eq!(came(&results.await[0]), "\"5\"");
}

/// Replaces every argument by a larger one.
async fn raising(request: Request, next: Next) -> haft_core::Outcome {
    next.run(request.with_arguments(&json!(500))).await
}

#[tokio::test]
async fn a_middleware_does_not_change_arguments_that_a_permit_has_decided_on() {
    let later = |permit: AtMost| RunOptions::new().permit(Deferring(permit));
    for (options, outcome) in [
        (RunOptions::new().permit(allowing), "500"),
        (RunOptions::new().permit(AtMost::new(10)), "denied"),
        (RunOptions::new().permit(AtMost::new(10)).permit(allowing), "denied"),
        (RunOptions::new().permit(allowing).permit(AtMost::new(10)), "denied"),
        (later(AtMost::new(10)), "denied"),
    ] {
        let pay = Tool::new("pay").handler(|n: u16, _cx| async move { n }).map(|tool| tool.wrap(raising));
        let results = kit([pay]).run_with(calls([("pay", "5")]), options).collect_results().await;
        assert_eq!(came(&results[0]), outcome);
    }
}

/// Decides as another permit does, later.
struct Deferring(AtMost);

impl Permit for Deferring {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }

    fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
        let decided = self.0.check(arguments);
        Permitting::later(async move {
            tokio::task::yield_now().await;
            decided
        })
    }
}

thread_local! {
    static READS: Cell<usize> = const { Cell::new(0) };
}

/// A number that counts how often it is read.
#[derive(JsonSchema)]
struct Counted(u128);

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        READS.set(READS.get() + 1);
        u128::deserialize(deserializer).map(Self)
    }
}

#[tokio::test]
async fn only_a_permit_that_reads_the_arguments_costs_a_second_reading() {
    let count = || kit([Tool::new("count").handler(|n: Counted, _cx| async move { n.0.to_string() })]);
    for (options, reads) in [
        (RunOptions::new(), 1),
        (RunOptions::new().permit(allowing).permit(allowing), 1),
        (RunOptions::new().permit(AtMost::new(u128::MAX)), 2),
        // What one permit has read is there for the next one.
        (RunOptions::new().permit(AtMost::new(u128::MAX)).permit(Deferring(AtMost::new(u128::MAX))), 2),
        (RunOptions::new().permit(Deferring(AtMost::new(u128::MAX))).permit(AtMost::new(u128::MAX)), 2),
    ] {
        READS.set(0);
        let call = calls([("count", "18446744073709551617")]);
        let results = count().run_with(call, options).collect_results().await;
        assert_eq!(came(&results[0]), "\"18446744073709551617\"");
        assert_eq!(READS.get(), reads);
    }
}

#[tokio::test]
async fn the_rule_of_a_denial_is_for_the_operator_only() {
    let results = minting().run_with(calls([("mint", "11")]), RunOptions::new().permit(AtMost::new(10)));
    let results = results.collect_results().await;
    let failure = results[0].failure().unwrap();
    assert_eq!(failure.source().unwrap().to_string(), "denied by the rule `at-most`");
    for shown in [failure.to_string(), results[0].to_model_text(), serde_json::to_string(&results[0]).unwrap()] {
        assert!(shown.contains("too much for you") && !shown.contains("at-most"), "{shown}");
    }
    let unnamed = RunOptions::new().permit(|_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("no"));
    let results = minting().run_with(calls([("mint", "11")]), unnamed).collect_results().await;
    assert!(results[0].failure().unwrap().source().is_none());
}

/// Returns the denials that the auditor of a run with this permit receives.
async fn denials(permit: impl Permit + 'static) -> Vec<AuditRecord> {
    let records = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&records);
    let options = RunOptions::new()
        .caller("ana")
        .approval_clock(|| Timestamp::from_unix_millis(1_000))
        .audit(move |record| noted.lock().unwrap().push(record.clone()))
        .permit(permit);
    let seen_by_other = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&seen_by_other);
    let options = options.audit(move |_| *counted.lock().unwrap() += 1);
    let kit = minting();
    let results = kit.run_with(calls([("mint", "11"), ("mint", "9")]), options).collect_results().await;
    assert_eq!(results.len(), 2);
    let records: Vec<AuditRecord> = std::mem::take(&mut records.lock().unwrap());
    assert_eq!(*seen_by_other.lock().unwrap(), records.len(), "auditors add up");
    for record in &records {
        let written = serde_json::to_string(record).unwrap();
        assert!(written.starts_with(r#"{"type":"denial","#), "{written}");
        assert_eq!(serde_json::from_str::<AuditRecord>(&written).unwrap(), *record);
        assert_eq!((record.outcome, &record.request_id), (ApprovalOutcome::Forbidden, &None));
    }
    records
}

#[tokio::test]
async fn a_denied_call_leaves_one_audit_record_with_the_rule() {
    let denied = denials(AtMost::new(10)).await;
    assert_eq!(denied.len(), 1, "{denied:?}");
    assert_eq!(denied[0].rule.as_ref().map(ApprovalRule::as_str), Some("at-most"));
    assert_eq!(denied[0].reason.as_deref(), Some("too much for you"));
    assert_eq!((denied[0].tool.as_str(), denied[0].call_id.as_str()), ("mint", "c1"));
    assert_eq!(denied[0].caller.as_ref().map(Caller::as_str), Some("ana"));
    assert_eq!(denied[0].recorded_at, Timestamp::from_unix_millis(1_000));

    assert!(denials(AtMost::new(11)).await.is_empty());
}

#[tokio::test]
async fn a_call_of_a_hidden_tool_leaves_an_audit_record_and_reveals_nothing_else() {
    struct Hiding;
    impl Permit for Hiding {
        fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
            Permission::Allowed.into()
        }

        fn sees(&self, _: &Tool, _: Option<&Caller>) -> bool {
            false
        }
    }

    let denied = denials(Hiding).await;
    assert_eq!(denied.len(), 2, "{denied:?}");
    assert_eq!(denied[0].reason.as_deref(), Some("the tool is hidden from this caller"));
    let results = minting().run_with(calls([("mint", "9")]), RunOptions::new().permit(Hiding)).collect_results().await;
    assert_eq!(message(&results), "there is no tool called 'mint'; there are no tools");
}

#[tokio::test]
async fn a_permit_that_fails_to_decide_leaves_an_audit_record() {
    let broken = |_: &Tool, call: &ToolCall, _: &Cx| match &*call.arguments {
        "11" => panic!("no rules loaded"),
        _ => Permission::Allowed,
    };
    let denied = denials(broken).await;
    assert_eq!(denied.len(), 1, "{denied:?}");
    assert_eq!(denied[0].rule, None);
    assert_eq!(denied[0].reason.as_deref(), Some("the permission check failed, so this call was not run"));
}

/// A way to run one call, to its result.
type SingleWay =
    for<'a> fn(&'a Toolkit, &'a ToolCall, &'a RunOptions) -> Pin<Box<dyn Future<Output = ToolResult> + 'a>>;

#[tokio::test]
async fn a_denied_call_leaves_one_record_in_every_way_to_run_it() {
    let ways: [(&str, SingleWay); 8] = [
        ("alone", |kit, call, options| Box::pin(kit.run_call_with(call, options))),
        ("by failure mode", |kit, call, options| {
            Box::pin(async move { ToolResult::from_failure(call, kit.try_run_call(call, options).await.unwrap_err()) })
        }),
        ("in a run", |kit, call, options| {
            Box::pin(async move { kit.run_with([call], options).collect_results().await.remove(0) })
        }),
        ("in a task", |kit, call, options| {
            Box::pin(async move { kit.run_with([call], options.clone().spawned()).collect_results().await.remove(0) })
        }),
        ("by dispatch", |kit, call, options| {
            Box::pin(async move { kit.run_calls(vec![call.into()], options.clone()).collect_results().await.remove(0) })
        }),
        ("planned from a map", |kit, call, options| {
            Box::pin(async move {
                let plan = kit.plan_from_map(options, [], [call]).await;
                kit.run(plan).collect_results().await.remove(0)
            })
        }),
        ("planned from a queue", |kit, call, options| {
            Box::pin(async move {
                let (_sender, queue) = VerdictQueue::new();
                kit.plan_from_queue(options, &queue, [call]).await.into_run().collect_results().await.remove(0)
            })
        }),
        ("resumed", |kit, call, options| {
            Box::pin(async move {
                let asked = RunOptions::new().policy(ApprovalPolicy::always()).approvals(Suspend);
                let suspended = kit.run_with([call], asked).collect_or_suspend().await.unwrap_err();
                let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
                kit.resume_with(*suspended, verdicts, options).collect_results().await.remove(0)
            })
        }),
    ];
    let refining = Tool::new("mint")
        .refine(|n: u128, _cx: Cx| async move { Ok::<_, RefineError>(n + 1) })
        .handler(|n: u128, _cx| async move { n.to_string() });
    for kit in [minting(), kit([refining])] {
        for (way, run) in &ways {
            for permits in 0..2 {
                let records = Arc::new(Mutex::new(Vec::new()));
                let noted = Arc::clone(&records);
                let options = RunOptions::new().audit(move |record| noted.lock().unwrap().push(record.clone()));
                let at_once = |_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("never").by_rule("at-once");
                let options = match permits {
                    0 => options.permit(AtMost::new(10)).permit(Deferring(AtMost::new(9))),
                    _ => options.permit(at_once).permit(AtMost::new(10)),
                };
                let result = run(&kit, &ToolCall::new("c1", "mint", "11"), &options).await;
                assert_eq!(result.failure().unwrap().kind, FailureKind::PermissionDenied, "{way}");
                let records: Vec<AuditRecord> = std::mem::take(&mut records.lock().unwrap());
                let is_denial = |record: &&AuditRecord| record.outcome == ApprovalOutcome::Forbidden;
                let denials: Vec<_> = records.iter().filter(is_denial).collect();
                assert_eq!(denials.len(), 1, "{way} {records:?}");
                assert_eq!(
                    denials[0].rule.as_ref().map(ApprovalRule::as_str),
                    Some(["at-most", "at-once"][permits]),
                    "{way}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_permit_that_wraps_another_passes_its_default_on() {
    let permitting = allowing.permits_arguments(
        &Tool::new("pay").handler(|n: u16, _cx| async move { n }).unwrap(),
        &ToolCall::new("c1", "pay", "5"),
        &CallArguments::from_tree(&json!(5)),
        &Cx::for_call(&ToolCall::new("c1", "pay", "5")),
    );
    assert_eq!(format!("{permitting:?}"), "Permitting(unchecked)");
    assert_eq!(permitting.decided().await.unwrap(), Permission::Allowed);
    assert_eq!(CallArguments::from_tree(&Value::Null).decode::<()>().ok(), Some(()));
}

/// Returns the default decision on arguments where it should decide on the call.
struct Undecided;

impl Permit for Undecided {
    fn permit(&self, tool: &Tool, call: &ToolCall, cx: &Cx) -> Permitting {
        self.permits_arguments(tool, call, &CallArguments::from_tree(&Value::Null), cx)
    }
}

#[tokio::test]
async fn the_default_decision_on_arguments_allows_no_call_by_itself() {
    let (kit, journal) = bench();
    let results = kit.run_with(calls([("look", "1")]), RunOptions::new().permit(Undecided)).collect_results().await;
    assert_eq!(all_came(&results), ["permission_denied"]);
    let cause = results[0].failure().unwrap().source().unwrap().to_string();
    assert!(cause.contains("return `Permission::Allowed`"), "{cause}");
    assert_eq!(journal.lines(), [""; 0]);
}
