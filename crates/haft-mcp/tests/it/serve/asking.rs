//! Approvals and questions, in both eras.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use haft_core::{Decider, Question, Secret};
use haft_executor::{ApprovalPolicy, BoxError, Cx, Resumable, Resumed, Tool, Toolkit};
use haft_mcp::serve::{
    Approvers, CallKey, CallerAccess, EarlierRun, PendingRun, Serve, ServeLimits, ServedClient, StateKeys, serve,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::line_client::{LineClient, NEW, OLD};

#[derive(Deserialize, JsonSchema)]
struct Payment {
    cents: u32,
    to: String,
}

fn pay(policy: ApprovalPolicy) -> Tool {
    let handler = |payment: Payment, _cx| async move { format!("{} to {}", payment.cents, payment.to) };
    Tool::new("pay").needs_approval(policy).handler(handler).unwrap()
}

fn paying(decider: Decider) -> Serve {
    serve(Toolkit::from_iter([pay(ApprovalPolicy::always())])).decided_by(decider)
}

fn arguments() -> Value {
    json!({"cents": 500, "to": "ana"})
}

/// Answers the next request of the server.
async fn answer_request(client: &mut LineClient, method: &str, answer: Value) -> Value {
    let request = client.next().await;
    assert_eq!(request["method"], method, "{request}");
    client.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": answer})).await;
    request["params"].clone()
}

#[tokio::test]
async fn the_user_of_an_old_client_decides_by_a_form() {
    for (answer, expected) in [
        (json!({"action": "accept", "content": arguments()}), "500 to ana"),
        (json!({"action": "accept", "content": {}}), "500 to ana"),
        (json!({"action": "accept", "content": {"cents": 3, "to": "ben"}}), "3 to ben"),
        (json!({"action": "decline"}), "denied"),
        (json!({"action": "cancel"}), "cancelled"),
    ] {
        let mut client = LineClient::connect(paying(Decider::Client), OLD).await;
        let id = client.begin("tools/call", json!({"name": "pay", "arguments": arguments()})).await;
        let params = answer_request(&mut client, "elicitation/create", answer.clone()).await;
        assert!(params["message"].as_str().unwrap().contains("`pay`"), "{params}");
        let result = client.answer(id).await["result"].take();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(expected), "{answer}: {text}");
    }
}

#[tokio::test]
async fn the_user_of_a_new_client_decides_by_another_request() {
    for (answer, expected) in [
        (json!({"action": "accept", "content": arguments()}), "500 to ana"),
        (json!({"action": "accept", "content": {"cents": 3}}), "3 to ana"),
        (json!({"action": "decline"}), "denied"),
        (json!({"action": "cancel"}), "cancelled"),
    ] {
        let mut client = LineClient::connect(paying(Decider::Client), NEW).await;
        let required = client.call("pay", arguments()).await;
        assert!(!required["requestState"].as_str().unwrap().contains("ana"));
        let result = client.go_on("pay", arguments(), &required, std::slice::from_ref(&answer)).await;
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
        assert!(text.contains(expected), "{answer}: {text}");
    }
}

#[tokio::test]
async fn an_invalid_edit_is_asked_for_again() {
    let mut client = LineClient::connect(paying(Decider::Client), OLD).await;
    let id = client.begin("tools/call", json!({"name": "pay", "arguments": arguments()})).await;
    let wrong = json!({"action": "accept", "content": {"cents": -3}});
    answer_request(&mut client, "elicitation/create", wrong.clone()).await;
    let right = json!({"action": "accept", "content": {"cents": 4}});
    let again = answer_request(&mut client, "elicitation/create", right.clone()).await;
    assert!(again["message"].as_str().unwrap().contains("not accepted"), "{again}");
    assert_eq!(client.answer(id).await["result"]["content"][0]["text"], "4 to ana");

    let mut client = LineClient::connect(paying(Decider::Client), NEW).await;
    let required = client.call("pay", arguments()).await;
    let required = client.go_on("pay", arguments(), &required, &[wrong]).await;
    let result = client.go_on("pay", arguments(), &required, &[right]).await;
    assert_eq!(result["content"][0]["text"], "4 to ana");
}

#[tokio::test]
async fn a_client_that_can_not_ask_gets_a_clear_failure() {
    for era in [OLD, NEW] {
        let mut client = LineClient::connect_with(paying(Decider::Client), era, json!({})).await;
        let result = client.call("pay", arguments()).await;
        assert_eq!(result["isError"], true);
        let message = result["structuredContent"]["error"]["message"].as_str().unwrap();
        assert!(message.contains("this client does not support elicitation"), "{message}");
    }
}

#[tokio::test]
async fn a_rule_says_who_decides_whatever_the_server_says() {
    let server = |decider: Decider| {
        let policy = ApprovalPolicy::always().decided_by(decider);
        serve(Toolkit::from_iter([pay(policy)])).decided_by(if decider == Decider::Client {
            Decider::Approvers
        } else {
            Decider::Client
        })
    };
    let mut client = LineClient::connect(server(Decider::Client), NEW).await;
    assert_eq!(client.call("pay", arguments()).await["resultType"], "input_required");
    let mut client = LineClient::connect(server(Decider::Approvers), NEW).await;
    let result = client.call("pay", arguments()).await;
    let message = result["structuredContent"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("nobody to ask"), "{message}");
}

#[tokio::test]
async fn a_state_that_is_not_this_calls_is_refused() {
    let keys = StateKeys::from_secret(&Secret::new("shared"));
    let server = |caller: &str| paying(Decider::Client).keys(keys.clone()).caller(caller);
    let mut ana = LineClient::connect(server("ana"), NEW).await;
    let accept = || [json!({"action": "accept", "content": {}})];
    let required = ana.call("pay", arguments()).await;
    let mut elsewhere = LineClient::connect(server("ana"), NEW).await;
    let mut ben = LineClient::connect(server("ben"), NEW).await;
    let mut forged = required.clone();
    let state = required["requestState"].as_str().unwrap();
    forged["requestState"] = format!("{}{}", &state[..state.len() - 4], "AAAA").into();
    let other = json!({"cents": 9_999, "to": "ana"});
    let refused = [
        ben.go_on("pay", arguments(), &required, &accept()).await,
        ana.go_on("pay", other, &required, &accept()).await,
        ana.go_on("pay", arguments(), &forged, &accept()).await,
    ];
    for refused in refused {
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert_eq!(message, "the request state is invalid, expired or used: make the call again without it");
    }
    // Any process with the key goes on with it, and the same process once.
    assert_eq!(elsewhere.go_on("pay", arguments(), &required, &accept()).await["content"][0]["text"], "500 to ana");
    assert_eq!(elsewhere.go_on("pay", arguments(), &required, &accept()).await["error"]["code"], -32602, "replayed");

    let params = json!({"name": "pay", "arguments": arguments(), "inputResponses": {"x": {}}});
    assert_eq!(ana.call_with(params).await["resultType"], "input_required", "an answer to nothing is no answer");
    let instant = paying(Decider::Client).limits(ServeLimits::default().answer_within(std::time::Duration::ZERO));
    let mut late = LineClient::connect(instant, NEW).await;
    let required = late.call("pay", arguments()).await;
    assert_eq!(late.go_on("pay", arguments(), &required, &accept()).await["error"]["code"], -32602, "expired");
}

#[tokio::test]
async fn a_definition_that_has_changed_is_asked_about_again() {
    let keys = StateKeys::from_secret(&Secret::new("shared"));
    let mut client = LineClient::connect(paying(Decider::Client).keys(keys.clone()), NEW).await;
    let required = client.call("pay", arguments()).await;
    let handler = |_: Payment, _cx: Cx| async { "paid" };
    let changed = Tool::new("pay").describe("Pays at once.").needs_approval(ApprovalPolicy::always()).handler(handler);
    let changed = changed.unwrap();
    let server = serve(Toolkit::from_iter([changed])).decided_by(Decider::Client).keys(keys);
    let mut client = LineClient::connect(server, NEW).await;
    let refused = client.go_on("pay", arguments(), &required, &[json!({"action": "accept"})]).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

/// A tool that asks while it runs, and one that leaves meanwhile.
fn asking() -> Toolkit {
    let live = Tool::new("live").try_handler_mixed(|(), cx: Cx| async move {
        let both = tokio::join!(cx.ask(Question::input::<u8>("One?")), cx.ask(Question::input::<u8>("Two?")));
        let (one, two) = (both.0?.decode::<u8>()?, both.1?.decode::<u8>()?);
        Ok::<_, haft_executor::HandlerError<String>>(format!("{one:?} {two:?}"))
    });
    let spawned = Tool::new("spawned").try_handler_mixed(|(), cx: Cx| async move {
        let client = cx.service::<ServedClient>().unwrap().clone();
        let params = json!({"messages": [], "maxTokens": 9});
        let sampled = tokio::spawn(async move { client.sample(params).await }).await.unwrap();
        Ok::<_, haft_executor::HandlerError<String>>(sampled.unwrap()["content"]["text"].clone())
    });
    let left = Tool::new("left").resumable(|(), resumed: Option<Resumed>, _cx: Cx| async move {
        match resumed {
            Some(resumed) => Resumable::Done(format!("{:?}", resumed.answers()[0].decode::<u8>().unwrap())),
            None => Resumable::wait([Question::input::<u8>("How many?")], ()),
        }
    });
    Toolkit::from_iter([live.unwrap(), spawned.unwrap(), left.unwrap()])
}

#[tokio::test]
async fn handlers_ask_an_old_client_while_they_run() {
    let mut client = LineClient::connect(serve(asking()), OLD).await;
    let id = client.begin("tools/call", json!({"name": "live", "arguments": {}})).await;
    for _ in 0..2 {
        let request = client.next().await;
        let answer = if request["params"]["message"] == "One?" { 1 } else { 2 };
        let result = json!({"action": "accept", "content": {"answer": answer}});
        client.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }
    assert_eq!(client.answer(id).await["result"]["content"][0]["text"], "Some(1) Some(2)");

    let id = client.begin("tools/call", json!({"name": "left", "arguments": {}})).await;
    let answer = json!({"action": "accept", "content": {"answer": 7}});
    answer_request(&mut client, "elicitation/create", answer).await;
    assert_eq!(client.answer(id).await["result"]["content"][0]["text"], "Some(7)");

    let id = client.begin("tools/call", json!({"name": "spawned", "arguments": {}})).await;
    let answer = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}});
    answer_request(&mut client, "sampling/createMessage", answer).await;
    assert_eq!(client.answer(id).await["result"]["content"][0]["text"], "sampled");
}

#[tokio::test]
async fn handlers_ask_a_new_client_by_their_results() {
    let accept = |answer: u8| json!({"action": "accept", "content": {"answer": answer}});
    let mut client = LineClient::connect(serve(asking()), NEW).await;
    let required = client.call("live", json!({})).await;
    assert_eq!(required["inputRequests"].as_object().unwrap().len(), 2, "{required}");
    // One answer is missing, so the question is asked again.
    let required = client.go_on("live", json!({}), &required, &[accept(1)]).await;
    assert_eq!(required["inputRequests"].as_object().unwrap().len(), 1, "{required}");
    let result = client.go_on("live", json!({}), &required, &[accept(2)]).await;
    assert_eq!(result["content"][0]["text"], "Some(1) Some(2)");
    assert_eq!(client.go_on("live", json!({}), &required, &[accept(2)]).await["error"]["code"], -32602);

    let required = client.call("spawned", json!({})).await;
    let request = required["inputRequests"].as_object().unwrap().values().next().unwrap();
    assert_eq!(request["method"], "sampling/createMessage");
    let answer = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}});
    assert_eq!(client.go_on("spawned", json!({}), &required, &[answer]).await["content"][0]["text"], "sampled");

    // A handler that leaves goes on in another process.
    let keys = StateKeys::from_secret(&Secret::new("shared"));
    let mut one = LineClient::connect(serve(asking()).keys(keys.clone()), NEW).await;
    let mut two = LineClient::connect(serve(asking()).keys(keys), NEW).await;
    let required = one.call("left", json!({})).await;
    assert_eq!(two.go_on("left", json!({}), &required, &[accept(7)]).await["content"][0]["text"], "Some(7)");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_in_memory_ends_with_its_time() {
    let limits = ServeLimits::default().waiting(1);
    let mut client = LineClient::connect(serve(asking()).limits(limits), NEW).await;
    assert_eq!(client.call("live", json!({})).await["resultType"], "input_required");
    let refused = client.call("live", json!({})).await;
    assert_eq!(refused["structuredContent"]["error"]["kind"], "input_required", "{refused}");
    tokio::time::advance(std::time::Duration::from_secs(16 * 60)).await;
    tokio::task::yield_now().await;
    assert_eq!(client.call("live", json!({})).await["resultType"], "input_required");
}

#[tokio::test]
async fn a_question_is_withdrawn_when_its_call_is_cancelled() {
    let mut client = LineClient::connect(paying(Decider::Client), OLD).await;
    let id = client.begin("tools/call", json!({"name": "pay", "arguments": arguments()})).await;
    let question = client.next().await;
    assert_eq!(question["method"], "elicitation/create");
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.send(&cancelled).await;
    let withdrawn = client.next().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
}

/// Approvers with a store in memory.
#[derive(Clone, Default)]
struct Office(Arc<Mutex<HashMap<String, (PendingRun, bool)>>>);

impl Approvers for Office {
    async fn keep(&self, run: PendingRun) -> Result<(), BoxError> {
        self.0.lock().unwrap().insert(run.key.digest(), (run, false));
        Ok(())
    }

    async fn earlier(&self, key: &CallKey) -> Result<Option<EarlierRun>, BoxError> {
        let mut runs = self.0.lock().unwrap();
        match runs.get(&key.digest()) {
            None => Ok(None),
            Some((run, false)) => Ok(Some(EarlierRun::Pending(run.run_id.clone()))),
            Some((_, true)) => {
                let (run, _) = runs.remove(&key.digest()).unwrap();
                let verdicts = run.suspended.pending().map(haft_core::ApprovalRequest::approve).collect();
                Ok(Some(EarlierRun::Decided { suspended: Box::new(run.suspended), verdicts }))
            }
        }
    }
}

#[tokio::test]
async fn approvers_decide_later_and_the_same_call_learns_the_outcome() {
    let office = Office::default();
    let server = || paying(Decider::Approvers).approvers(office.clone()).caller(CallerAccess::new("ana"));
    let mut client = LineClient::connect(server(), NEW).await;
    let pending = client.call("pay", arguments()).await;
    let error = pending["structuredContent"]["error"].clone();
    assert_eq!((&error["kind"], &error["started"]), (&json!("approval_pending"), &json!(false)));
    let run_id = office.0.lock().unwrap().values().next().unwrap().0.run_id.to_string();
    assert!(error["message"].as_str().unwrap().contains(&run_id), "{error}");
    let again = client.call("pay", arguments()).await;
    assert!(again["structuredContent"]["error"]["message"].as_str().unwrap().contains(&run_id));
    assert_eq!(office.0.lock().unwrap().len(), 1, "one run waits");

    office.0.lock().unwrap().values_mut().for_each(|(_, decided)| *decided = true);
    let mut other = LineClient::connect(server().caller("ben"), NEW).await;
    assert_eq!(other.call("pay", arguments()).await["structuredContent"]["error"]["kind"], "approval_pending");
    assert_eq!(client.call("pay", arguments()).await["content"][0]["text"], "500 to ana");
}

#[tokio::test]
async fn a_request_with_a_name_is_answered_by_it_and_a_malformed_answer_is_none() {
    let greet = Tool::new("greet").try_handler_mixed(|(), cx: Cx| async move {
        let client = cx.service::<ServedClient>().unwrap().keyed("user_name");
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let answer = client.elicit(json!({"mode": "form", "message": "Who?", "requestedSchema": schema})).await?;
        Ok::<_, haft_executor::HandlerError<String>>(format!("Hello, {}!", answer["content"]["name"]))
    });
    let kit: Toolkit = Toolkit::from_iter([greet.unwrap()]);
    let mut client = LineClient::connect(serve(kit.clone()), NEW).await;
    let with =
        |answer: Value| json!({"name": "greet", "arguments": {}, "inputResponses": {"user_name": answer, "x": 1}});
    let right = json!({"action": "accept", "content": {"name": "Ana"}});
    assert_eq!(client.call_with(with(right.clone())).await["content"][0]["text"], "Hello, \"Ana\"!");
    for wrong in [json!(12_345), json!(null), json!({"action": "dance"})] {
        let required = client.call_with(with(wrong)).await;
        assert_eq!(required["inputRequests"]["user_name"]["method"], "elicitation/create", "{required}");
        let result = client.go_on("greet", json!({}), &required, std::slice::from_ref(&right)).await;
        assert_eq!(result["content"][0]["text"], "Hello, \"Ana\"!");
    }
    // A client of the new era is told which capability is missing.
    let mut client = LineClient::connect_with(serve(kit.clone()), NEW, json!({})).await;
    let refused = client.call("greet", json!({})).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"elicitation": {}}));
    let mut client = LineClient::connect_with(serve(kit), OLD, json!({})).await;
    assert_eq!(client.call("greet", json!({})).await["isError"], true);
}
