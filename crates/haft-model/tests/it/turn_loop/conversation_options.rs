//! Options of one conversation, beside those of the loop.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::Caller;
use haft_executor::{
    ApprovalOutcome, ApprovalPolicy, AuditRecord, Cx, Permission, RunOptions, Services, SharedToolkit, SigningKeys,
    Suspend, VerdictFault,
};
use haft_model::{ScriptedModel, ScriptedTurn, StateError};

use super::*;

/// The kit with `who`, which returns the caller and a service; and `pay`, which requires approval.
fn desk() -> Toolkit {
    let who = Tool::new("who").handler(|(), cx: Cx| async move {
        let tenant = cx.service::<String>().cloned().unwrap_or_default();
        format!("{} {tenant}", cx.caller().map(Caller::to_string).unwrap_or_default())
    });
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, cx: Cx| async move {
        format!("{} paid {cents}", cx.caller().map(Caller::to_string).unwrap_or_default())
    });
    kit().with(who.unwrap()).unwrap().with(pay.unwrap()).unwrap()
}

fn of(caller: &str) -> RunOptions {
    RunOptions::new().caller(caller).services(Services::new().with(format!("tenant of {caller}")))
}

#[tokio::test(start_paused = true)]
async fn conversations_of_one_loop_have_their_own_caller_and_services() {
    let turn = || [call("c1", "who", "")];
    let model = ScriptedModel::default().then(turn()).then("one").then(turn()).then("two");
    let agent = TurnLoop::new(model, desk()).options(RunOptions::new().caller("nobody"));
    let ana = agent.start_with(request(), of("ana")).finish().await;
    let bob = agent.start_with(request(), of("bob")).finish().await;
    assert_eq!(told(ana.state.history())[2], "output c1: ana tenant of ana");
    assert_eq!(told(bob.state.history())[2], "output c1: bob tenant of bob");
}

#[tokio::test(start_paused = true)]
async fn without_options_of_the_conversation_those_of_the_loop_apply() {
    let script = || ScriptedModel::default().then([call("c1", "who", "")]).then("done");
    let agent = |model| TurnLoop::new(model, desk()).options(of("ana"));
    let plain = agent(script()).start(request()).finish().await;
    let merged = agent(script()).start_with(request(), RunOptions::new()).finish().await;
    assert_eq!(told(plain.state.history())[2], "output c1: ana tenant of ana");
    assert_eq!(plain, merged);
}

#[tokio::test(start_paused = true)]
async fn the_checks_and_limits_of_the_loop_hold_in_every_conversation() {
    let permit = |_: &Tool, call: &ToolCall, _: &Cx| match call.name.as_str() {
        "who" => Permission::denied("no"),
        _ => Permission::Allowed,
    };
    let model = ScriptedModel::default().then([call("c1", "who", ""), call("c2", "wait", "")]).then("done");
    let loops = RunOptions::new().permit(permit).call_timeout(Duration::from_secs(1));
    let narrow =
        of("ana").permit(|_: &Tool, _: &ToolCall, _: &Cx| Permission::Allowed).call_timeout(Duration::from_secs(9));
    let start = tokio::time::Instant::now();
    let outcome = TurnLoop::new(model, desk()).options(loops).start_with(request(), narrow).finish().await;
    assert_eq!(told(outcome.state.history())[3..5], ["output c1: permission_denied", "output c2: timed_out"]);
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn tools_that_the_caller_of_the_conversation_may_not_see_are_not_offered() {
    struct Staff;
    impl haft_executor::Permit for Staff {
        fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> haft_executor::Permitting {
            Permission::Allowed.into()
        }
        fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
            tool.name() != "pay" || caller.is_some_and(|caller| caller.as_str() == "staff")
        }
    }
    let model = ScriptedModel::new(["hello", "hello"]);
    let agent = TurnLoop::new(model.clone(), desk()).options(RunOptions::new().permit(Staff));
    agent.start_with(request(), of("ana")).finish().await;
    agent.start_with(request(), of("staff")).finish().await;
    let offered = |at: usize| model.requests()[at].tools.iter().any(|tool| tool.name == "pay");
    assert_eq!((offered(0), offered(1)), (false, true));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_is_resumed_with_the_options_of_the_start() {
    let model = ScriptedModel::default().then([call("c1", "pay", "5")]).then("done");
    let agent = TurnLoop::new(model, desk()).options(RunOptions::new().approvals(Suspend));
    let mut state = stored(&agent.start_with(request(), of("ana")).finish().await.state);
    let yes = state.approvals()[0].approve();
    agent.verdict_with(&mut state, yes, of("ana")).unwrap();
    let outcome = agent.start_with(stored(&state), of("ana")).finish().await;
    assert_eq!(told(outcome.state.history())[2], "output c1: ana paid 5");
}

#[tokio::test(start_paused = true)]
async fn a_verdict_is_checked_by_the_keys_of_the_conversation() {
    let keys = || SigningKeys::new("k1", [7; 32]).unwrap();
    let model = ScriptedModel::default().then([call("c1", "pay", "5")]).then("done");
    let agent = TurnLoop::new(model, desk()).options(RunOptions::new().approvals(Suspend));
    let signed = || of("ana").approval_keys(keys());
    let mut state = agent.start_with(request(), signed()).finish().await.state;
    let yes = state.approvals()[0].approve();
    let fault = agent.verdict(&mut state, yes.clone()).unwrap_err();
    assert!(matches!(fault, StateError::Verdict { fault: VerdictFault::UnknownKey { .. }, .. }), "{fault}");
    agent.verdict_with(&mut state, yes, signed()).unwrap();
    assert_eq!(agent.start_with(state, signed()).finish().await.state.text(), "done");
}

/// Under another run id an approved call would run with another idempotency key.
#[tokio::test(start_paused = true)]
async fn a_signed_approval_in_a_state_is_valid_in_its_own_run_only() {
    let signed = || of("ana").approval_keys(SigningKeys::new("k1", [7; 32]).unwrap());
    for (run_id, outcome) in [(Some("another"), "output c1: denied"), (None, "output c1: ana paid 5")] {
        let model = ScriptedModel::default().then([call("c1", "pay", "5")]).then("done");
        let agent = TurnLoop::new(model, desk()).options(RunOptions::new().approvals(Suspend));
        let mut state = agent.start_with(request(), signed()).finish().await.state;
        let yes = state.approvals()[0].approve();
        agent.verdict_with(&mut state, yes, signed()).unwrap();
        let mut written = serde_json::to_value(&state).unwrap();
        match run_id {
            Some(run_id) => written["run_ids"]["c1"] = run_id.into(),
            None => drop(written.as_object_mut().unwrap().shift_remove("run_ids").unwrap()),
        }
        let changed: LoopState = serde_json::from_value(written).unwrap();
        let ended = agent.start_with(changed, signed()).finish().await;
        assert_eq!(told(ended.state.history())[2], outcome);
    }
}

/// Approval does not replace permission: a call that waited is subject to the permits of the start that resumes it.
#[tokio::test(start_paused = true)]
async fn a_resumed_call_is_subject_to_the_options_of_its_start() {
    let model = ScriptedModel::default().then([call("c1", "pay", "5")]).then("done");
    let log = Arc::new(Mutex::new(Vec::new()));
    let records = Arc::clone(&log);
    let audit = move |record: &AuditRecord| {
        records.lock().unwrap().push(match record.outcome {
            ApprovalOutcome::Forbidden => {
                format!("{:?} by {:?}", record.caller.as_ref().unwrap(), record.rule.as_ref().unwrap().as_str())
            }
            outcome => format!("{outcome:?}"),
        });
    };
    let agent = TurnLoop::new(model, desk()).options(RunOptions::new().approvals(Suspend));
    let mut state = agent.start_with(request(), of("ana")).finish().await.state;
    let yes = state.approvals()[0].approve();
    agent.verdict_with(&mut state, yes, of("ana")).unwrap();
    let suspended = |_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("the account is closed").by_rule("closed");
    let outcome = agent.start_with(stored(&state), of("bob").permit(suspended).audit(audit)).finish().await;
    assert_eq!(told(outcome.state.history())[2], "output c1: permission_denied");
    assert!(outcome.state.approvals().is_empty());
    assert_eq!(*log.lock().unwrap(), ["\"bob\" by \"closed\"", "Rejected"], "the verdict was not used");
}

/// The names of hidden tools do not appear in a request, whatever a live source adds meanwhile.
#[tokio::test(start_paused = true)]
async fn a_tool_that_a_source_adds_is_hidden_from_callers_who_may_not_see_it() {
    struct Guests;
    impl haft_executor::Permit for Guests {
        fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> haft_executor::Permitting {
            Permission::Allowed.into()
        }
        fn sees(&self, tool: &Tool, _: Option<&Caller>) -> bool {
            !tool.name().starts_with("admin")
        }
    }
    let tools = SharedToolkit::new(kit());
    let more = tools.clone();
    let grow = move |_: &TurnRequest| {
        for name in ["admin_drop", "guest_look"] {
            more.replace(Tool::new(name).handler(|(), _cx| async { "ran" }).unwrap());
        }
        Ok::<_, String>(())
    };
    let first = ScriptedTurn::calls([call("c1", "double", "1")]).check(grow);
    let model = ScriptedModel::default().then(first).then([call("c2", "admin_drop", "")]).then("done");
    let agent = TurnLoop::new(model.clone(), tools);
    let outcome = agent.start_with(request(), RunOptions::new().permit(Guests)).finish().await;
    let offered: Vec<_> = model.requests()[1].tools.iter().map(|tool| tool.name.clone()).collect();
    assert!(offered.contains(&"guest_look".to_owned()) && !offered.contains(&"admin_drop".to_owned()), "{offered:?}");
    assert_eq!(told(outcome.state.history())[4], "output c2: unknown_tool");
}
