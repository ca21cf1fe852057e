//! Approval requests of a provider, for calls that it executes: the loop waits, and the provider gets the response.

use std::sync::{Arc, Mutex};

use haft_core::{ApprovalDecision, ApprovalRequest, Timestamp, ToolChoice, Verdict, history};
use haft_executor::{ApprovalOutcome, ApprovalPolicy, Cx, RunOptions, Suspend, VerdictFault};
use haft_model::{ModelError, StateError};
use serde_json::json;

use super::*;

/// An approval request of a provider for its own call.
fn asked(id: &str) -> ApprovalRequest {
    let mut request = ApprovalRequest::new(id, &call(&format!("mcp_{id}"), "double", "{}"));
    request.provider_data.insert("vendor".to_owned(), json!({"type": "mcp_approval_request", "id": id}));
    request
}

/// A turn that ends with approval requests of the provider.
fn asking(ids: &[&str]) -> Turn {
    let requests = ids.iter().map(|id| Item::from(asked(id)));
    Turn::new([Item::assistant("one moment")].into_iter().chain(requests).collect(), Finish::Stop)
}

fn script() -> ScriptedModel {
    ScriptedModel::default().then(asking(&["r1", "r2"])).then("done")
}

fn ids(state: &LoopState) -> Vec<String> {
    state.approvals().iter().map(|request| request.request_id.to_string()).collect()
}

/// The decisions of the responses in a history, in order.
fn responses(items: &[Item]) -> Vec<String> {
    let responses = items.iter().filter_map(|item| match item {
        Item::Verdict(response) => Some(format!("{} {}", response.request_id, response.decision.as_str())),
        _ => None,
    });
    responses.collect()
}

#[tokio::test(start_paused = true)]
async fn the_loop_waits_until_every_request_has_a_response_and_sends_them() {
    let model = script();
    let agent = agent(&model);
    let outcome = finish(&agent, request()).await;
    assert_eq!(ended(&outcome.end), "waiting for 0 and 2");
    assert_eq!(ids(&outcome.state), ["r1", "r2"]);
    let again = finish(&agent, stored(&outcome.state)).await;
    assert_eq!((&again.end, &again.state), (&outcome.end, &outcome.state), "it goes on waiting");

    let mut state = stored(&outcome.state);
    agent.verdict(&mut state, asked("r2").deny("it is still used")).unwrap();
    assert_eq!(ids(&state), ["r1"]);
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(ended(&outcome.end), "waiting for 0 and 1");
    assert_eq!(model.requests().len(), 1, "an unanswered request is never sent");

    let mut state = stored(&outcome.state);
    agent.verdict(&mut state, asked("r1").approve()).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!((&outcome.end, outcome.state.text().as_str()), (&LoopEnd::Stopped, "done"));
    let sent = &model.requests()[1].history;
    assert_eq!(told(sent)[1..], ["assistant", "asked mcp_r1", "asked mcp_r2", "said denied", "said approved"]);
    assert_eq!(responses(sent), ["r2 denied", "r1 approved"]);
    assert!(history::approvals(sent).remote.iter().all(|remote| remote.response.is_some()));
    assert_eq!(stored(&outcome.state), outcome.state);
}

#[tokio::test(start_paused = true)]
async fn calls_of_the_same_turn_run_before_the_loop_waits() {
    let mut turn = asking(&["r1"]);
    turn.items.push(call("c1", "double", "4").into());
    turn.items.push(call("c2", "ask", "\"?\"").into());
    let model = ScriptedModel::default().then(turn).then("done");
    let agent = agent(&model);
    let outcome = finish(&agent, request()).await;
    assert_eq!(ended(&outcome.end), "waiting for 1 and 1");
    let mut state = stored(&outcome.state);
    agent.verdict(&mut state, asked("r1").approve()).unwrap();
    assert_eq!(ended(&finish(&agent, state.clone()).await.end), "waiting for 1 and 0");
    state.answer("c2", json!("yes")).unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    let sent = &model.requests()[1].history;
    assert!(history::is_reconciled(sent), "{:?}", told(sent));
    assert_eq!(responses(sent), ["r1 approved"]);
}

#[tokio::test(start_paused = true)]
async fn no_approver_decides_about_a_request_of_the_provider() {
    let yes = |request: ApprovalRequest, _: Cx| async move { request.approve() };
    for options in [RunOptions::new(), RunOptions::new().approvals(yes), RunOptions::new().approvals(Suspend)] {
        let agent = agent(&script()).options(options);
        let outcome = finish(&agent, request()).await;
        assert_eq!(ended(&outcome.end), "waiting for 0 and 2");
        assert_eq!(ended(&finish(&agent, outcome.state).await.end), "waiting for 0 and 2");
    }
}

#[tokio::test(start_paused = true)]
async fn verdicts_that_do_not_fit_are_rejected_and_the_request_stays_pending() {
    let agent = agent(&script());
    let mut state = finish(&agent, request()).await.state;
    let before = state.clone();
    for (word, response) in [("edited", asked("r1").edit(json!({}))), ("answered", asked("r1").answer(json!(1)))] {
        let error = agent.verdict(&mut state, response).unwrap_err();
        let fault = VerdictFault::ProviderCall { word: word.to_owned() };
        assert_eq!(error, StateError::Verdict { request_id: "r1".into(), fault });
        assert!(error.to_string().contains("must be `approved` or `denied`"), "{error}");
    }
    let other = Verdict::new("r1", ApprovalDecision::Other("perhaps".into()));
    let unusable = agent.verdict(&mut state, other).unwrap_err();
    assert!(matches!(unusable, StateError::Verdict { fault: VerdictFault::UnusableDecision { .. }, .. }), "{unusable}");
    let digest = agent.verdict(&mut state, asked("r1").approve().digest("other")).unwrap_err();
    assert!(matches!(digest, StateError::OtherDigest { .. }));
    let mut elsewhere = asked("r1").approve();
    elsewhere.call_id = Some("mcp_r2".into());
    let fault = agent.verdict(&mut state, elsewhere).unwrap_err();
    assert!(matches!(fault, StateError::Verdict { fault: VerdictFault::OtherDigest, .. }), "{fault}");
    let unknown = agent.verdict(&mut state, asked("r9").approve()).unwrap_err();
    let pending = vec!["r1".into(), "r2".into()];
    assert_eq!(unknown, StateError::UnknownApproval { request_id: "r9".into(), pending });
    assert!(unknown.to_string().ends_with("pending: `r1`, `r2`"), "{unknown}");
    assert_eq!(state, before);
}

#[tokio::test(start_paused = true)]
async fn a_request_takes_one_verdict_also_after_it_was_sent() {
    let agent = agent(&script());
    let mut state = finish(&agent, request()).await.state;
    agent.verdict(&mut state, asked("r1").approve()).unwrap();
    let decided = StateError::AlreadyDecided { request_id: "r1".into() };
    assert_eq!(agent.verdict(&mut state, asked("r1").deny("no")).unwrap_err(), decided);
    agent.verdict(&mut state, asked("r2").approve()).unwrap();
    let mut state = finish(&agent, stored(&state)).await.state;
    assert_eq!(agent.verdict(&mut state, asked("r1").deny("no")).unwrap_err(), decided);
    assert!(state.approvals().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_expired_request_is_denied_when_the_state_is_started() {
    let turn = Turn::new(vec![asked("r1").expires_at(Timestamp::from_unix_millis(10)).into()], Finish::Stop);
    let model = ScriptedModel::default().then(turn).then("done");
    let now = Arc::new(Mutex::new(5));
    let clock = Arc::clone(&now);
    let options = RunOptions::new().approval_clock(move || Timestamp::from_unix_millis(*clock.lock().unwrap()));
    let agent = agent(&model).options(options);
    let outcome = finish(&agent, request()).await;
    assert_eq!(ended(&finish(&agent, outcome.state.clone()).await.end), "waiting for 0 and 1");
    *now.lock().unwrap() = 10;
    let mut late = outcome.state.clone();
    let yes = late.approvals()[0].approve();
    let fault = agent.verdict(&mut late, yes).unwrap_err();
    assert!(matches!(fault, StateError::Verdict { fault: VerdictFault::Expired, .. }));
    let seen = events(agent.start(stored(&outcome.state))).await;
    assert!(
        matches!(&seen[0], LoopEvent::ProviderApproval { response } if response.reason.as_deref() == Some("the approval request expired")),
        "{:?}",
        seen[0]
    );
    assert_eq!(responses(&model.requests()[1].history), ["r1 denied"]);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_in_time_counts_after_the_expiry_once_it_was_sent() {
    let turn = Turn::new(vec![asked("r1").expires_at(Timestamp::from_unix_millis(10)).into()], Finish::Stop);
    let model = ScriptedModel::default().then(turn).then("done").then("again");
    let at = |millis| RunOptions::new().approval_clock(move || Timestamp::from_unix_millis(millis));
    let agent = agent(&model);
    let mut state = finish(&agent.clone().options(at(5)), request()).await.state;
    let yes = state.approvals()[0].approve();
    agent.verdict_with(&mut state, yes, at(5)).unwrap();
    let state = agent.start_with(state, at(5)).finish().await.state.follow_up(Item::user("and now?"));
    let outcome = agent.start_with(state, at(50)).finish().await;
    assert_eq!((&outcome.end, responses(outcome.state.history())), (&LoopEnd::Stopped, vec!["r1 approved".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn verdicts_that_were_written_into_the_history_are_checked_at_the_start() {
    let model = script();
    let agent = agent(&model);
    let mut state = finish(&agent, request()).await.state;
    let written = [asked("r1").edit(json!({})), asked("r2").approve(), asked("r2").deny("no")];
    state.request_mut().history.extend(written.map(Item::from));
    let seen = events(agent.start(stored(&state))).await;
    assert_eq!(words(&seen)[..3].iter().filter(|word| word.starts_with("refused")).count(), 2, "{:?}", words(&seen));
    let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
    assert_eq!((ended(end).as_str(), ids(state)), ("waiting for 0 and 1", vec!["r1".to_owned()]));
    assert_eq!(responses(state.history()), ["r2 approved"]);
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn every_verdict_is_audited() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let records = Arc::clone(&log);
    let audit = move |record: &haft_executor::AuditRecord| {
        records.lock().unwrap().push((
            record.request_id.as_ref().unwrap().to_string(),
            record.outcome,
            record.caller.is_some(),
        ));
    };
    let agent = agent(&script()).options(RunOptions::new().caller("ana").audit(audit));
    let mut state = finish(&agent, request()).await.state;
    agent.verdict(&mut state, asked("r1").approve()).unwrap();
    agent.verdict(&mut state, asked("r2").deny("no")).unwrap();
    finish(&agent, state).await;
    let expected =
        [("r1".to_owned(), ApprovalOutcome::Approved, true), ("r2".to_owned(), ApprovalOutcome::Denied, true)];
    assert_eq!(*log.lock().unwrap(), expected);
}

/// Audit records and events of a loop that is started again and again.
#[tokio::test(start_paused = true)]
async fn a_verdict_is_accepted_once_however_often_the_state_is_started() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let records = Arc::clone(&log);
    let audit = move |record: &haft_executor::AuditRecord| {
        records.lock().unwrap().push(format!("{} {:?}", record.request_id.as_ref().unwrap(), record.outcome));
    };
    let broken = ModelError::Authentication { message: "no such key".into() };
    let model = ScriptedModel::default().then(asking(&["r1", "r2"])).then(broken).then("done");
    let agent = agent(&model).options(RunOptions::new().audit(audit));
    let mut state = finish(&agent, request()).await.state;
    let mut reported = Vec::new();
    let mut start = async |state: LoopState| {
        let seen = events(agent.start(stored(&state))).await;
        reported.extend(seen.iter().filter_map(|event| match event {
            LoopEvent::ProviderApproval { response } => Some(response.request_id.to_string()),
            _ => None,
        }));
        let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!() };
        (ended(end), stored(state))
    };
    agent.verdict(&mut state, asked("r2").deny("no")).unwrap();
    let (end, mut state) = start(state).await;
    assert_eq!(end, "waiting for 0 and 1");
    agent.verdict(&mut state, asked("r1").approve()).unwrap();
    let (end, state) = start(state).await;
    assert_eq!(end, "failed: model");
    let (end, state) = start(state).await;
    assert_eq!((end.as_str(), state.text().as_str()), ("stopped", "done"));
    assert_eq!(reported, ["r2", "r1"]);
    assert_eq!(*log.lock().unwrap(), ["r2 Denied", "r1 Approved"]);
    assert_eq!(responses(&model.requests()[2].history), ["r2 denied", "r1 approved"]);
}

/// A verdict that was accepted in time does not expire while another request waits.
#[tokio::test(start_paused = true)]
async fn an_accepted_verdict_does_not_expire_before_it_is_sent() {
    let request_at = |id: &str, millis| asked(id).expires_at(Timestamp::from_unix_millis(millis));
    let turn = Turn::new(vec![request_at("r1", 10).into(), request_at("r2", 100).into()], Finish::Stop);
    let model = ScriptedModel::default().then(turn).then("done");
    let at = |millis| RunOptions::new().approval_clock(move || Timestamp::from_unix_millis(millis));
    let agent = agent(&model);
    let mut state = agent.start_with(request(), at(1)).finish().await.state;
    agent.verdict_with(&mut state, request_at("r1", 10).approve(), at(5)).unwrap();
    let mut state = agent.start_with(stored(&state), at(6)).finish().await.state;
    agent.verdict_with(&mut state, request_at("r2", 100).approve(), at(50)).unwrap();
    let outcome = agent.start_with(stored(&state), at(50)).finish().await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    assert_eq!(responses(outcome.state.history()), ["r1 approved", "r2 approved"]);
}

/// A verdict that was given in time, in a state that is started too late.
#[tokio::test(start_paused = true)]
async fn a_verdict_that_expired_unused_is_replaced_by_a_denial_in_the_same_start() {
    let request_at = || asked("r1").expires_at(Timestamp::from_unix_millis(10));
    let model = ScriptedModel::default().then(Turn::new(vec![request_at().into()], Finish::Stop)).then("done");
    let log = Arc::new(Mutex::new(Vec::new()));
    let records = Arc::clone(&log);
    let at = |millis| RunOptions::new().approval_clock(move || Timestamp::from_unix_millis(millis));
    let agent = agent(&model).options(RunOptions::new().audit(move |record: &haft_executor::AuditRecord| {
        records.lock().unwrap().push(record.outcome);
    }));
    let mut state = agent.start_with(request(), at(1)).finish().await.state;
    agent.verdict_with(&mut state, request_at().approve(), at(5)).unwrap();
    let seen = events(agent.start_with(stored(&state), at(20))).await;
    assert_eq!(words(&seen)[0], "refused r1");
    assert!(
        matches!(&seen[1], LoopEvent::ProviderApproval { response } if response.decision == ApprovalDecision::Denied)
    );
    assert_eq!(words(&seen).last().unwrap(), "stopped");
    assert_eq!(responses(&model.requests()[1].history), ["r1 denied"]);
    assert_eq!(*log.lock().unwrap(), [ApprovalOutcome::Expired]);
}

/// A local approval, an interaction and a request of the provider in one turn, resolved in every order.
#[tokio::test(start_paused = true)]
async fn the_three_kinds_of_waiting_calls_are_resolved_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut turn = asking(&["r1"]);
        turn.items.extend([call("c1", "double", "4"), call("c2", "ask", "\"?\"")].map(Item::from));
        let model = ScriptedModel::default().then(turn).then("done");
        let gate = |tool: &Tool| match tool.name() {
            "double" => tool.clone().set_needs_approval(ApprovalPolicy::always()).unwrap(),
            _ => tool.clone(),
        };
        let gated: Toolkit = kit().iter().map(gate).collect();
        let agent = TurnLoop::new(model.clone(), gated).options(RunOptions::new().approvals(Suspend));
        let mut outcome = finish(&agent, request()).await;
        assert_eq!(ended(&outcome.end), "waiting for 1 and 2");
        assert_eq!(ids(&outcome.state)[0], "r1", "in the order of the history");
        for step in order {
            let mut state = stored(&outcome.state);
            match step {
                0 => agent.verdict(&mut state, asked("r1").approve()).unwrap(),
                1 => {
                    let mut local = state.approvals().into_iter().filter(|request| request.call_id == "c1");
                    agent.verdict(&mut state, local.next().unwrap().approve()).unwrap();
                }
                _ => state.answer("c2", json!("yes")).unwrap(),
            }
            outcome = finish(&agent, stored(&state)).await;
        }
        assert_eq!(outcome.end, LoopEnd::Stopped, "{order:?}");
        let sent = &model.requests()[1].history;
        assert!(history::is_reconciled(sent), "{:?}", told(sent));
        let mut said = told(sent)[1..].to_vec();
        said.retain(|told| told != "said approved");
        let expected = ["assistant", "asked mcp_r1", "call c1", "call c2", "output c1: 8", "output c2: yes"];
        assert_eq!(said, expected, "{order:?}");
        assert_eq!(responses(sent), ["r1 approved"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_in_a_turn_that_was_cut_off_still_waits() {
    let mut turn = asking(&["r1"]);
    turn.items.push(call("c1", "double", "4").into());
    turn.finish = Finish::Length;
    let model = ScriptedModel::default().then(turn).then("done");
    let agent = agent(&model);
    let outcome = finish(&agent, request()).await;
    assert_eq!(ended(&outcome.end), "waiting for 0 and 1");
    assert_eq!(told(outcome.state.history()).last().unwrap(), "output c1: interrupted");
    let mut state = stored(&outcome.state);
    agent.verdict(&mut state, asked("r1").approve()).unwrap();
    assert_eq!(finish(&agent, state).await.end, LoopEnd::Stopped);
    assert_eq!(responses(&model.requests()[1].history), ["r1 approved"]);
}

/// A repair closes local calls and leaves the requests of the provider and their responses where they are.
#[tokio::test(start_paused = true)]
async fn a_repair_neither_answers_nor_removes_a_request() {
    let model = ScriptedModel::new(["done"]);
    let agent = agent(&model).repair("it was lost");
    let items = vec![Item::user("go"), asked("r1").into(), call("c1", "double", "4").into(), Item::user("so?")];
    let outcome = finish(&agent, TurnRequest::new("any", items)).await;
    assert_eq!(ended(&outcome.end), "waiting for 0 and 1");
    assert_eq!(told(outcome.state.history())[1..], ["asked mcp_r1", "call c1", "output c1: cancelled", "user"]);
    let mut state = stored(&outcome.state);
    agent.verdict(&mut state, asked("r1").approve()).unwrap();
    assert_eq!(finish(&agent, state).await.end, LoopEnd::Stopped);
    assert_eq!(told(&model.requests()[0].history).last().unwrap(), "said approved");
}

/// The model changes between the request and its response: the response is part of the history like any other item.
#[tokio::test(start_paused = true)]
async fn another_model_gets_the_request_and_its_response() {
    let agent_of = |model: &ScriptedModel| agent(model);
    let mut state = finish(&agent_of(&script()), request()).await.state;
    let other = ScriptedModel::new(["done"]);
    let agent = agent_of(&other);
    for id in ["r1", "r2"] {
        agent.verdict(&mut state, asked(id).approve()).unwrap();
    }
    assert_eq!(finish(&agent, stored(&state)).await.end, LoopEnd::Stopped);
    assert_eq!(responses(&other.requests()[0].history), ["r1 approved", "r2 approved"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_id_or_call_is_taken_is_rejected() {
    let refused = |items: Vec<Item>| async move {
        let model = ScriptedModel::default()
            .then([call("c1", "double", "4")])
            .then(asking(&["r1"]))
            .then(Turn::new(items, Finish::Stop));
        let agent = agent(&model);
        let mut state = finish(&agent, request()).await.state;
        agent.verdict(&mut state, asked("r1").approve()).unwrap();
        let outcome = finish(&agent, state).await;
        assert_eq!(ended(&outcome.end), "failed: model");
        let Some(haft_model::LoopError::Model { source, .. }) = outcome.end.error() else { panic!() };
        let ModelError::Unreadable { message, .. } = &**source else { panic!("{source:?}") };
        message.to_string()
    };
    let repeated = refused(vec![asked("r1").into()]).await;
    assert!(
        repeated.ends_with("an approval request for the call `mcp_r1`, with the id of an earlier one"),
        "{repeated}"
    );
    let twice = refused(vec![asked("r3").into(), asked("r3").into()]).await;
    assert!(twice.contains("the item at 1") && twice.ends_with("with the id of an earlier one"), "{twice}");
    let mut local = asked("r4");
    local.call_id = "c1".into();
    let local = refused(vec![local.into()]).await;
    assert!(local.ends_with("an approval request for the call `c1`"), "{local}");
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_does_not_skip_the_request() {
    let model = script();
    let agent = agent(&model);
    let state = finish(&agent, request()).await.state.follow_up(Item::user("never mind"));
    let outcome = finish(&agent, state).await;
    assert_eq!(ended(&outcome.end), "waiting for 0 and 2");
    let mut state = outcome.state;
    for id in ["r1", "r2"] {
        agent.verdict(&mut state, asked(id).deny("never mind")).unwrap();
    }
    assert_eq!(finish(&agent, state).await.end, LoopEnd::Stopped);
    assert_eq!(told(&model.requests()[1].history)[4..], ["user", "said denied", "said denied"]);
}

#[tokio::test(start_paused = true)]
async fn a_bare_history_with_an_open_request_waits() {
    let model = ScriptedModel::new(["done"]);
    let agent = agent(&model);
    let history = vec![Item::user("go"), asked("r1").into()];
    let outcome = finish(&agent, TurnRequest::new("any", history)).await;
    assert_eq!(ended(&outcome.end), "waiting for 0 and 1");
    let mut state = outcome.state;
    agent.verdict(&mut state, asked("r1").approve()).unwrap();
    assert_eq!(finish(&agent, state).await.end, LoopEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_the_decide_function_adds_is_not_sent_unanswered() {
    let model = ScriptedModel::new(["one", "two"]);
    let agent = agent(&model).decide(|mut after| async move {
        if after.number() == 1 {
            after.push(asked("r1"));
            return after.next();
        }
        after.stop()
    });
    let outcome = finish(&agent, request()).await;
    assert_eq!((ended(&outcome.end).as_str(), model.requests().len()), ("waiting for 0 and 1", 1));
    let mut state = stored(&outcome.state);
    agent.verdict(&mut state, asked("r1").approve()).unwrap();
    assert_eq!(finish(&agent, state).await.state.text(), "two");
}

#[tokio::test(start_paused = true)]
async fn a_request_counts_as_the_call_that_the_tool_choice_requires() {
    let model = script();
    let outcome = finish(&agent(&model), request().tool_choice(ToolChoice::Required)).await;
    assert_eq!(ended(&outcome.end), "waiting for 0 and 2");
}
