//! Tools that can't run: an error of the start, and later a tool that is left out.

use std::error::Error;

use haft_core::{Caller, FailureClass};
use haft_executor::{
    ApprovalPolicy, Cx, NotRunnable, Permission, Permit, Permitting, RunOptions, SharedToolkit, Snapshot, SourceFault,
    Suspend, ToolSource,
};
use haft_model::{Expect, LoopError, ScriptedTurn};

use super::*;

#[derive(Clone)]
struct Mailer;

/// A tool whose service nobody provides.
fn needy(name: &str) -> Tool {
    Tool::new(name).depends_on::<Mailer>().handler(|(), _cx| async { "sent" }).unwrap()
}

/// A tool that requires a service of each run.
fn tenant_tool() -> Tool {
    let tool = Tool::new("whose").depends_on_run::<String>();
    tool.handler(|(), cx: Cx| async move { cx.service::<String>().cloned().ok() }).unwrap()
}

fn ping() -> Tool {
    answering("ping")
}

fn answering(name: &str) -> Tool {
    Tool::new(name).handler(|(), _cx| async { "pong" }).unwrap()
}

/// A permit that hides the tools with other names.
struct Only(&'static [&'static str]);

impl Permit for Only {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }

    fn sees(&self, tool: &Tool, _: Option<&Caller>) -> bool {
        self.0.contains(&tool.name())
    }
}

/// A tool that adds another one to its source.
fn install(tools: &SharedToolkit, added: impl Fn() -> Tool + Send + Sync + 'static) -> Tool {
    let tools = tools.clone();
    let handler = move |(), _cx| {
        let is_added = tools.add(added()).is_ok();
        async move { is_added }
    };
    Tool::new("install").handler(handler).unwrap()
}

fn not_runnable(end: &LoopEnd) -> &NotRunnable {
    match end.error() {
        Some(LoopError::NotRunnable(problems)) => problems,
        _ => panic!("{end:?}"),
    }
}

fn left_out(events: &[LoopEvent]) -> Vec<(&str, &str)> {
    let each = events.iter().filter_map(|event| match event {
        LoopEvent::ToolLeftOut { tool, reason } => Some((tool.as_str(), reason.as_str())),
        _ => None,
    });
    each.collect()
}

#[tokio::test(start_paused = true)]
async fn a_start_with_tools_that_can_not_run_ends_at_once() {
    let model = ScriptedModel::new(["hello"]);
    let later = Tool::new("later").define().unwrap();
    let kit: Toolkit = Toolkit::from_iter([ping(), needy("mail"), later, tenant_tool()]);
    let agent = TurnLoop::new(model.clone(), kit);
    let state = LoopState::new(request());
    let seen = events(agent.start(state.clone())).await;
    assert_eq!(words(&seen), ["failed: not_runnable"]);
    let Some(LoopEvent::Ended { end, state: after }) = seen.last() else { panic!("{seen:?}") };
    let problems = not_runnable(end);
    assert_eq!(problems.missing_handlers, ["later"]);
    let services: Vec<_> = problems.missing_services.iter().map(|missing| missing.tool.as_str()).collect();
    assert_eq!(services, ["mail", "whose"], "services of the toolkit and of each run");
    assert_eq!(**after, state);
    assert!(model.requests().is_empty());
    let error = end.error().unwrap();
    assert_eq!(error.source().unwrap().to_string(), problems.to_string());
    assert!(
        error.to_string().starts_with("the loop can't be started with these tools: `later` has no handler"),
        "{error}"
    );
}

/// The options of the loop and of the conversation both count.
#[tokio::test(start_paused = true)]
async fn a_missing_run_service_is_found_before_the_first_turn() {
    let model = ScriptedModel::default().then([call("c1", "whose", "")]).then("done");
    let agent = TurnLoop::new(model.clone(), Toolkit::from_iter([tenant_tool(), ping()]));
    let outcome = finish(&agent, request()).await;
    assert_eq!(not_runnable(&outcome.end).missing_services[0].tool, "whose");
    assert!(model.requests().is_empty());

    let served = agent.start_with(outcome.state, RunOptions::new().service("ana".to_owned())).finish().await;
    assert_eq!(served.end, LoopEnd::Stopped);
    assert_eq!(told(served.state.history())[2], "output c1: ana");
}

/// Neither the repair nor the verdict is used.
#[tokio::test(start_paused = true)]
async fn a_state_that_waits_is_unchanged_by_a_start_that_can_not_run() {
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|(), _cx| async { "paid" }).unwrap();
    let tools = SharedToolkit::new(Toolkit::from_iter([pay]));
    let model = ScriptedModel::default().then([call("c1", "pay", "")]).then("done");
    let agent = TurnLoop::new(model, tools.clone()).options(RunOptions::new().approvals(Suspend)).repair("gone");
    let mut state = finish(&agent, request()).await.state;
    let verdict = state.approvals().remove(0).approve();
    agent.verdict(&mut state, verdict).unwrap();

    tools.add(needy("mail")).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(not_runnable(&outcome.end).missing_services.len(), 1);
    assert_eq!(outcome.state, state);

    let broken = TurnRequest::new("any", vec![Item::from(call("c9", "pay", "")), Item::user("well?")]);
    let outcome = finish(&agent, broken.clone()).await;
    assert_eq!(outcome.state.history(), &*broken.history);

    tools.remove("mail");
    let outcome = finish(&agent, state).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    assert_eq!(told(outcome.state.history())[2], "output c1: paid");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_arrives_later_and_can_not_run_is_left_out() {
    let tools = SharedToolkit::default();
    tools.add(install(&tools, || needy("mail"))).unwrap();
    tools.add(ping()).unwrap();
    let offer = || Expect::new().tools(["install", "ping"]);
    let model = ScriptedModel::default()
        .then(ScriptedTurn::calls([call("c1", "install", "")]).expect(offer()))
        .then(ScriptedTurn::calls([call("c2", "mail", ""), call("c3", "ping", "")]).expect(offer()))
        .then(ScriptedTurn::calls([call("c4", "ping", "")]).expect(offer()))
        .then("done");
    let seen = events(TurnLoop::new(model.clone(), tools.clone()).start(request())).await;
    model.finish().unwrap();
    let all: Vec<_> = words(&seen).into_iter().filter(|word| word != "delta").collect();
    let expected =
        ["ended 1 with 1", "left out mail", "turn 2", "complete", "output 0: execution_error", "output 1: pong"];
    let at = all.iter().position(|word| word == "ended 1 with 1").unwrap();
    assert_eq!(all[at..at + 6], expected);
    assert_eq!(all.last().unwrap(), "stopped");
    let [(tool, reason)] = left_out(&seen)[..] else { panic!("it is reported once: {all:?}") };
    assert_eq!(tool, "mail");
    assert!(reason.contains("`mail` requires the service") && reason.contains("provide it with"), "{reason}");
    for event in &seen {
        let written = serde_json::to_string(event).unwrap();
        assert_eq!(&serde_json::from_str::<LoopEvent>(&written).unwrap(), event);
    }
}

/// The failure of a call of such a tool is internal, so a loop may end with it.
#[tokio::test(start_paused = true)]
async fn a_call_of_a_tool_that_was_left_out_is_an_internal_failure() {
    let tools = SharedToolkit::default();
    tools.add(install(&tools, || needy("mail"))).unwrap();
    let model = ScriptedModel::default().then([call("c1", "install", "")]).then([call("c2", "mail", "")]);
    let outcome = finish(&TurnLoop::new(model, tools).fail_on([FailureClass::Internal]), request()).await;
    let LoopEnd::CallsFailed { results } = &outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!(results[0].call_id, "c2");
    let cause = results[0].failure().unwrap().source().unwrap();
    assert_eq!(cause.downcast_ref::<NotRunnable>().unwrap().missing_services[0].tool, "mail");
}

/// A tool that was corrected is offered; if it breaks again, it is reported again.
#[tokio::test(start_paused = true)]
async fn a_tool_is_offered_again_when_it_can_run() {
    let tools = SharedToolkit::default();
    tools.add(ping()).unwrap();
    let change = |change: fn(&SharedToolkit)| {
        let tools = tools.clone();
        ScriptedTurn::calls([call("c1", "ping", "")]).check(move |_| {
            change(&tools);
            Ok::<(), String>(())
        })
    };
    let model = ScriptedModel::default()
        .then(change(|tools| tools.add(needy("mail")).unwrap()))
        .then(change(|tools| drop(tools.replace(answering("mail")))))
        .then(change(|tools| drop(tools.replace(needy("mail")))))
        .then("done");
    let agent = TurnLoop::new(model.clone(), tools.clone());
    let seen = events(agent.start(request())).await;
    assert_eq!(left_out(&seen).len(), 2);
    let offered: Vec<(Vec<&str>, Option<u64>)> = seen
        .iter()
        .filter_map(|event| match event {
            LoopEvent::TurnStarted { tools, generation, .. } => {
                Some((tools.iter().map(String::as_str).collect(), *generation))
            }
            _ => None,
        })
        .collect();
    let expected =
        [(vec!["ping"], Some(1)), (vec!["ping"], Some(2)), (vec!["ping", "mail"], Some(3)), (vec!["ping"], Some(4))];
    assert_eq!(offered, expected);
}

/// Tools that a source leaves out itself are reported as well, and do not prevent the start.
#[tokio::test(start_paused = true)]
async fn faults_of_the_source_are_reported() {
    struct Faulty;

    impl ToolSource for Faulty {
        fn snapshot(&self) -> Snapshot {
            Snapshot::new(Toolkit::from_iter([ping()]), 3).with_faults([SourceFault::new("pong", "no such server")])
        }

        fn changed(&self, _after: u64) -> haft_executor::Changed<'_> {
            Box::pin(std::future::pending())
        }
    }

    let model = ScriptedModel::default().then([call("c1", "ping", "")]).then("done");
    let seen = events(TurnLoop::new(model, Faulty).start(request())).await;
    assert_eq!(left_out(&seen), [("pong", "no such server")]);
    assert_eq!(words(&seen)[..2], ["left out pong", "turn 1"]);
    assert_eq!(words(&seen).last().unwrap(), "stopped");
}

/// Tools that the decide function sets arrive later, too.
#[tokio::test(start_paused = true)]
async fn tools_that_are_set_between_turns_are_left_out_if_they_can_not_run() {
    let model = ScriptedModel::default().then([call("c1", "ping", "")]).then("done");
    let agent = TurnLoop::new(model.clone(), Toolkit::from_iter([ping()])).decide(|mut after| async move {
        after.set_tools(Toolkit::from_iter([ping(), needy("mail")]));
        after.as_usual()
    });
    let seen = events(agent.start(request())).await;
    assert_eq!(left_out(&seen).len(), 1);
    assert_eq!(words(&seen).last().unwrap(), "stopped");
    assert_eq!(model.requests()[1].tools.len(), 1);
}

/// The model may only be offered what the caller may see and what can run.
#[tokio::test(start_paused = true)]
async fn the_names_of_offered_tools_are_those_of_the_request() {
    let model = ScriptedModel::new(["hello"]);
    let hidden = RunOptions::new().permit(Only(&["add", "note"]));
    let seen = events(TurnLoop::new(model.clone(), kit()).options(hidden).start(request())).await;
    let Some(LoopEvent::TurnStarted { tools, generation: Some(0), .. }) = seen.first() else { panic!("{seen:?}") };
    let sent: Vec<_> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!((tools, &tools[..]), (&sent, &["add".to_owned(), "note".to_owned()][..]));
}
