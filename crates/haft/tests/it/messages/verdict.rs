//! Errors of approvals, suspended runs, histories and stored values.

use haft::approval::{ApprovalDecision, SigningKeys, Suspended, Verdict, VerdictFault, VerdictQueue};
use haft::conversation::{History, ToolCallOutput, Turn, history};
use haft::schema::Issue;
use serde_json::{Value, json};

use super::*;

fn call(id: &str) -> ToolCall {
    ToolCall::new(id, "pay", "5")
}

pub(super) async fn rejected(messages: &mut Messages) {
    messages.section("Verdicts that are rejected");
    let request = ApprovalRequest::new("q1", &call("c1"));
    let (sender, queue) = VerdictQueue::new();
    queue.expect(&request);
    let foreign = sender.send(request.approve().digest("sha256:other")).unwrap_err();
    messages.add("RejectedVerdict", &foreign);
    messages.add("VerdictFault::OtherDigest", &foreign.fault);
    sender.send(request.approve()).unwrap();
    messages.add("VerdictFault::AlreadyDecided", sender.send(request.approve()).unwrap_err().fault);
    let stray = Verdict::new("q9", ApprovalDecision::Approved);
    sender.send(stray.clone()).unwrap();
    messages.add("VerdictFault::UnknownRequest", &queue.take_unmatched()[0].fault);
    for number in 0..=1_024 {
        sender.send(Verdict::new(format!("r{number}"), ApprovalDecision::Approved)).unwrap();
    }
    messages.add("VerdictFault::Full", &queue.take_unmatched()[0].fault);
    queue.close();
    messages.add("VerdictFault::Closed", sender.send(stray).unwrap_err().fault);
    messages.add("VerdictFault::Expired", VerdictFault::Expired);
    messages.add("VerdictFault::ClockFailed", VerdictFault::ClockFailed);
    messages.add("VerdictFault::ProviderCall", VerdictFault::ProviderCall { word: "edited".to_owned() });
    let kit: Toolkit = Toolkit::from_iter([approval::pay()]);
    let suspended = kit.run_with([call("c1")], RunOptions::new().approvals(Suspend)).collect_or_suspend().await;
    let request = suspended.unwrap_err().pending().next().unwrap().clone();
    for (situation, verdict) in [
        ("VerdictFault::UnusableDecision", request.respond("perhaps".into())),
        ("VerdictFault::Invalid, arguments", request.edit(json!("five"))),
        ("VerdictFault::Invalid, an answer", request.answer(json!("five"))),
    ] {
        let fault = kit.check_verdict(&RunOptions::new(), &request, &verdict).unwrap_err();
        messages.add(situation, fault);
    }
    messages.add("VerdictFault::Unsigned", VerdictFault::Unsigned);
}

pub(super) fn signatures(messages: &mut Messages) {
    messages.section("Signatures of approval requests");
    messages.add("a secret that is too short", SigningKeys::new("k1", "secret").unwrap_err());
    let keys = SigningKeys::new("k1", [7; 32]).unwrap();
    messages.add("a key id twice", keys.clone().accepting("k1", [8; 32]).unwrap_err());
    let mut request = ApprovalRequest::new("q1", &call("c1"));
    messages.add("no signature", keys.verify(&request).unwrap_err());
    SigningKeys::new("k2", [7; 32]).unwrap().sign(&mut request);
    messages.add("an unknown key", keys.verify(&request).unwrap_err());
    keys.sign(&mut request);
    "500".clone_into(&mut request.arguments);
    messages.add("a request that was changed", keys.verify(&request).unwrap_err());
    messages.add("a request that an earlier version signed", VerdictFault::OutdatedSignature);
}

pub(super) fn suspended(messages: &mut Messages) {
    messages.section("Suspended runs that can't be read");
    let request = |id: &str, call_id: &str| ApprovalRequest::new(id, &call(call_id));
    let pending = |index: usize, id: &str, call_id: &str| json!({"index": index, "request": request(id, call_id)});
    let done = json!({"index": 0, "result": ToolResult::ok(&call("c1"), json!(5))});
    for (situation, pending, finished) in [
        ("an index without a call", json!([pending(3, "q1", "c1")]), json!([])),
        ("pending and finished", json!([pending(0, "q1", "c1")]), json!([done])),
        ("about another call", json!([pending(0, "q1", "c9")]), json!([])),
        ("one request for two calls", json!([pending(0, "q1", "c1"), pending(1, "q1", "c2")]), json!([])),
        ("neither pending nor finished", json!([pending(0, "q1", "c1")]), json!([])),
    ] {
        let stored = json!({"v": 1, "calls": [call("c1"), call("c2")], "pending": pending, "finished": finished});
        messages.add(situation, serde_json::from_value::<Suspended>(stored).unwrap_err());
    }
}

pub(super) fn histories(messages: &mut Messages) {
    messages.section("Histories");
    let item = |id: &str| Item::from(call(id));
    let output = |id: &str| ToolCallOutput::new(id, "paid");
    for (situation, items) in [
        ("an output was moved", vec![item("c1"), Item::user("well?"), output("c1").into()]),
        ("a call was answered as cancelled", vec![item("c1"), Item::user("never mind")]),
        ("an output without a call was removed", vec![output("c9").into()]),
        ("an output before its call was removed", vec![output("c1").into(), item("c1"), output("c1").into()]),
        ("a second output was removed", vec![item("c1"), output("c1").into(), output("c1").into()]),
        ("a call was renamed", vec![item("c1"), output("c1").into(), item("c1"), output("c1").into()]),
        ("an output was relabelled", vec![item("c1"), output("c1").tool("search").into()]),
    ] {
        messages.add(situation, &history::repair(items, "the user moved on").changes[0]);
    }
    let group = vec![item("c1"), item("c2"), item("c3"), output("c3").into(), output("c2").into()];
    messages.add("outputs were reordered", &history::repair(group, "").changes[1]);

    let result = |id: &str| ToolResult::ok(&call(id), json!(5));
    let searched = ToolCall::new("c3", "web_search", "{}").executed_by_provider();
    let turn = || Turn::new(vec![item("c1"), searched.clone().into()], haft::conversation::Finish::ToolCalls);
    let strays = |results: Vec<ToolResult>| History::new().append(turn(), results).unwrap_err();
    messages.add("one result without a call", strays(vec![result("c1"), result("c9")]));
    messages.add("several results that answer no call", strays(vec![result("c1"), result("c1"), result("c3")]));
}

pub(super) fn stored_values(messages: &mut Messages) {
    messages.section("Stored values that can't be read");
    let read = |value: Value| serde_json::from_value::<ToolResult>(value).unwrap_err();
    let result = serde_json::to_value(ToolResult::ok(&call("c1"), json!(5))).unwrap();
    let with = |key: &str, value: Value| {
        let mut changed = result.clone();
        changed[key] = value;
        changed
    };
    messages.add("a newer version", read(with("v", json!(99))));
    messages.add("not a version", read(with("v", json!(0))));
    let status = |status: Value| json!({"v": 1, "call_id": "c1", "tool": "pay", "status": status, "outcome": {"status": status}});
    messages.add("an unknown tag", read(status(json!("unsure"))));
    messages.add("a tag that is not a string", read(status(json!(5))));
    messages.add("an issue with its location", Issue::new("/days", "maximum", "must be at most 14"));
}
