//! Options of one conversation, beside those of the loop.

use std::time::Duration;

use haft_core::{ApprovalPolicy, Caller, Cx, RunOptions, Services, SigningKeys, Suspend, VerdictFault};
use haft_model::{ScriptedModel, StateError};

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
        "who" => haft_core::Permission::denied("no"),
        _ => haft_core::Permission::Allowed,
    };
    let model = ScriptedModel::default().then([call("c1", "who", ""), call("c2", "wait", "")]).then("done");
    let loops = RunOptions::new().permit(permit).call_timeout(Duration::from_secs(1));
    let narrow = of("ana")
        .permit(|_: &Tool, _: &ToolCall, _: &Cx| haft_core::Permission::Allowed)
        .call_timeout(Duration::from_secs(9));
    let start = tokio::time::Instant::now();
    let outcome = TurnLoop::new(model, desk()).options(loops).start_with(request(), narrow).finish().await;
    assert_eq!(told(outcome.state.history())[3..5], ["output c1: permission_denied", "output c2: timed_out"]);
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn tools_that_the_caller_of_the_conversation_may_not_see_are_not_offered() {
    struct Staff;
    impl haft_core::Permit for Staff {
        fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> haft_core::Permitting {
            haft_core::Permission::Allowed.into()
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
    assert!(matches!(fault, StateError::Verdict { fault: VerdictFault::Signature(_), .. }), "{fault}");
    agent.verdict_with(&mut state, yes, signed()).unwrap();
    assert_eq!(agent.start_with(state, signed()).finish().await.state.text(), "done");
}
