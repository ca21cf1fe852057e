//! Approvals as stored data: consistent values are read back, others are rejected.

use haft_core::{ApprovalDecision, ApprovalRequest, ApprovalScope, Timestamp, ToolCall, ToolResult, Verdict};
use haft_executor::{ApprovalMemory, AuditRecord, RunOptions, Suspended, SuspendedError};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::approval::bench::{bench, suspend};
use crate::executing::calls;

/// Returns a stored value whose first call is done and whose others wait.
async fn sample() -> Value {
    let (kit, _) = bench();
    let suspended = suspend(&kit, &RunOptions::new(), &calls([("look", "1"), ("pay", "2"), ("pay", "3")])).await;
    serde_json::to_value(suspended).unwrap()
}

fn read(value: Value) -> Result<Suspended, String> {
    let text = value.to_string();
    let from_tree = serde_json::from_value::<Suspended>(value).map_err(|error| error.to_string());
    let from_text = serde_json::from_str::<Suspended>(&text).map_err(|error| error.to_string());
    assert_eq!(from_tree.is_ok(), from_text.is_ok(), "{text}");
    from_tree
}

#[tokio::test]
async fn an_inconsistent_stored_value_is_rejected() {
    type Change = fn(&mut Value);
    let table: [(&str, Change, &str); 20] = [
        ("no such call", |it| it["pending"][0]["index"] = json!(3), "there are only 3 calls"),
        ("far beyond", |it| it["finished"][0]["index"] = json!(u64::MAX), "there are only 3 calls"),
        ("negative", |it| it["pending"][0]["index"] = json!(-1), "invalid value"),
        ("twice open", |it| it["pending"][1] = it["pending"][0].clone(), "more than one approval request or result"),
        ("open and done", both_open_and_done, "more than one approval request or result"),
        ("another's question", |it| it["pending"][0]["index"] = json!(2), "belongs to the call `c2`"),
        ("another's result", |it| it["finished"][0]["result"]["call_id"] = json!("c9"), "belongs to the call `c9`"),
        ("swapped questions", swap_questions, "belongs to the call"),
        ("one question for two", share_question, "two calls have the approval request"),
        (
            "a lost question",
            |it| drop(it["pending"].as_array_mut().unwrap().pop()),
            "neither an approval request nor a result",
        ),
        ("a lost result", |it| it["finished"] = json!([]), "neither an approval request nor a result"),
        ("unstarted and open", |it| it["unstarted"] = json!([1]), "more than one approval request or result"),
        ("unstarted twice", unstarted_twice, "more than one approval request or result"),
        ("unstarted beyond", |it| it["unstarted"] = json!([3]), "there are only 3 calls"),
        ("lost calls", |it| it["calls"] = json!([]), "there are only 0 calls"),
        ("newer", |it| it["v"] = json!(2), "newer version (2)"),
        ("a newer call", |it| it["calls"][0]["v"] = json!(9), "newer version (9)"),
        ("a newer question", |it| it["pending"][0]["request"]["v"] = json!(3), "newer version (3)"),
        ("not calls", |it| it["calls"] = json!({}), "invalid type"),
        ("nothing pending", |it| drop(it.as_object_mut().unwrap().remove("pending")), "missing field"),
    ];
    let sound = sample().await;
    assert!(read(sound.clone()).is_ok());
    let mut of_the_first = sound.clone();
    of_the_first.as_object_mut().unwrap().remove("v");
    assert_eq!(read(of_the_first), read(sound.clone()), "no version is the first version");
    for (name, change, said) in table {
        let mut changed = sound.clone();
        change(&mut changed);
        let error = read(changed).unwrap_err();
        assert!(error.contains(said), "{name}: {error}");
    }
    for nonsense in [json!(null), json!([]), json!("suspended"), json!(7), json!({})] {
        assert!(read(nonsense.clone()).is_err(), "{nonsense}");
    }
}

fn both_open_and_done(it: &mut Value) {
    let call: ToolCall = serde_json::from_value(it["calls"][1].clone()).unwrap();
    let done = json!({"index": 1, "result": ToolResult::ok(&call, json!(2))});
    it["finished"].as_array_mut().unwrap().push(done);
}

fn unstarted_twice(it: &mut Value) {
    it["finished"] = json!([]);
    it["unstarted"] = json!([0, 0]);
}

fn swap_questions(it: &mut Value) {
    let first = it["pending"][0]["request"].take();
    let second = it["pending"][1]["request"].take();
    (it["pending"][0]["request"], it["pending"][1]["request"]) = (second, first);
}

fn share_question(it: &mut Value) {
    it["pending"][1]["request"]["request_id"] = it["pending"][0]["request"]["request_id"].clone();
}

/// Arguments that were changed in store are other arguments: their approval does not apply.
#[tokio::test]
async fn calls_that_had_not_started_run_when_the_run_is_resumed_and_are_checked_like_others() {
    let (kit, journal) = bench();
    let run = Suspended::not_started(calls([("look", "1"), ("pay", "2"), ("nothing", "3")])).with_run_id("r1");
    assert_eq!(run.unstarted().count(), 3);
    let stored = read(serde_json::to_value(&run).unwrap()).unwrap();
    assert_eq!(stored, run);
    let options = RunOptions::new().approvals(haft_executor::Suspend);
    let waiting = kit.resume_with(stored, [], options).collect_or_suspend().await.unwrap_err();
    assert_eq!((waiting.pending().len(), waiting.finished().count(), waiting.unstarted().count()), (1, 2, 0));
    assert_eq!(waiting.run_id().unwrap(), &"r1");
    assert_eq!(journal.lines(), ["look 1"]);
}

#[tokio::test]
async fn arguments_that_were_changed_in_store_are_not_approved() {
    let (kit, journal) = bench();
    let mut value = sample().await;
    value["calls"][1]["arguments"] = json!("200");
    let suspended = read(value).unwrap();
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let results = kit.resume(suspended, verdicts).collect_or_suspend().await.unwrap();
    assert_eq!(crate::approval::bench::all_came(&results), ["1", "denied", "3"]);
    assert_eq!(journal.lines(), ["pay 3"]);
}

/// A request whose digest is not that of the call is void: approval is requested again.
#[tokio::test]
async fn a_request_whose_digest_was_changed_in_store_is_made_again() {
    let changes: [fn(&mut Value); 2] = [
        |it| it["pending"][0]["request"]["digest"] = json!("sha256:00"),
        |it| drop(it["pending"][0]["request"].as_object_mut().unwrap().remove("digest")),
    ];
    for change in changes {
        let (kit, journal) = bench();
        let mut value = sample().await;
        change(&mut value);
        let suspended = read(value).unwrap();
        let asked = suspended.pending().next().unwrap().clone();
        let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
        let suspended = kit.resume(suspended, verdicts).collect_or_suspend().await.unwrap_err();
        let again = suspended.pending().next().unwrap().clone();
        assert_ne!((&again.request_id, &again.digest), (&asked.request_id, &asked.digest));
        assert_eq!((suspended.pending().len(), journal.lines()), (1, vec!["pay 3".to_owned()]));
    }
}

#[test]
fn matching_calls_and_requests_are_sufficient() {
    let call = |id: &str| ToolCall::new(id, "pay", "1");
    let ask = |id: &str, question: &str| (call(id), ApprovalRequest::new(question, &call(id)));
    assert_eq!(Suspended::of([]).unwrap().calls().len(), 0);
    assert_eq!(Suspended::of([ask("c1", "q1"), ask("c2", "q2")]).unwrap().pending().len(), 2);
    let shared = Suspended::of([ask("c1", "q1"), ask("c2", "q1")]).unwrap_err();
    assert_eq!(shared, SuspendedError::SharedRequest { request_id: "q1".into() });
    let foreign = Suspended::of([(call("c1"), ask("c2", "q2").1)]).unwrap_err();
    assert_eq!(foreign, SuspendedError::OtherCall { index: 0, call_id: "c1".into(), found: "c2".into() });
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{0,8}",
        "\\PC{0,12}",
        select(vec!["", "null", "\"", "\\", "\u{0}", "{}"]).prop_map(str::to_owned)
    ]
}

/// Generates any JSON. Floats are eighths: printing and parsing preserves them, whatever the parser's precision.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn moment() -> impl Strategy<Value = Timestamp> {
    any::<u64>().prop_map(Timestamp::from_unix_millis)
}

fn question() -> impl Strategy<Value = ApprovalRequest> {
    let bound = (text(), text(), option::of(moment()), option::of((text(), text())));
    let rule = option::of(select(vec!["tool_policy", "run_policy", "policy_failed", "still_open"]));
    (text(), text(), text(), bound, rule, json_value()).prop_map(|(id, call_id, tool, bound, rule, later)| {
        let (arguments, digest, expires_at, signature) = bound;
        let request = ApprovalRequest::new(id, &ToolCall::new(call_id, tool, arguments)).digest(digest);
        let mut written = serde_json::to_value(request).unwrap();
        if let Some(end) = expires_at {
            written["expires_at"] = json!(end);
        }
        if let Some((key_id, mac)) = signature {
            written["signature"] = json!({"key_id": key_id, "mac": mac});
        }
        if let Some(rule) = rule {
            written["rule"] = json!(rule);
        }
        // A field of a later version, which is kept.
        written["later"] = later;
        serde_json::from_value(written).unwrap()
    })
}

fn verdict() -> impl Strategy<Value = Verdict> {
    let decision = prop_oneof![
        Just(ApprovalDecision::Approved),
        Just(ApprovalDecision::Denied),
        json_value().prop_map(|value| ApprovalDecision::Edited(value.into())),
        json_value().prop_map(|value| ApprovalDecision::Answered(value.into())),
        text().prop_map(|word| ApprovalDecision::from(word.as_str())),
    ];
    let scope = prop_oneof![
        select(vec!["this_call", "these_arguments", "this_tool", "this_session"]).prop_map(ApprovalScope::from),
        text().prop_map(|word| ApprovalScope::from(word.as_str())),
    ];
    let said = (option::of(text()), option::of(text()), option::of(moment()));
    (question(), decision, scope, said).prop_map(|(question, decision, scope, (reason, who, at))| {
        let mut response = question.respond(decision).scope(scope);
        (response.reason, response.who, response.at) = (reason, who, at);
        response
    })
}

/// Generates some waiting calls and some finished ones, in their stored form.
fn suspended() -> impl Strategy<Value = Value> {
    vec((text(), text(), option::of(json_value())), 0..4).prop_map(|calls| {
        let mut value = json!({"v": 1, "calls": [], "pending": [], "finished": []});
        for (index, (id, arguments, result)) in calls.into_iter().enumerate() {
            let call = ToolCall::new(id, "pay", arguments);
            let (place, entry) = match result {
                Some(result) => ("finished", json!({"index": index, "result": ToolResult::ok(&call, result)})),
                None => {
                    let request = ApprovalRequest::new(format!("q{index}"), &call);
                    ("pending", json!({"index": index, "request": request}))
                }
            };
            value["calls"].as_array_mut().unwrap().push(json!(call));
            value[place].as_array_mut().unwrap().push(entry);
        }
        value
    })
}

fn record() -> impl Strategy<Value = Value> {
    let words = select(vec![
        "approved",
        "denied",
        "edited",
        "answered",
        "remembered",
        "remembered_denied",
        "rejected",
        "expired",
        "unanswered",
        "no_approver",
        "suspended",
    ]);
    (verdict(), words, text(), option::of(text()), any::<u64>()).prop_map(|(verdict, outcome, caller, edited, at)| {
        let mut value = json!({
            "v": 1, "request_id": verdict.request_id, "call_id": verdict.call_id, "tool": "pay",
            "digest": verdict.digest, "outcome": outcome, "scope": verdict.scope, "recorded_at": at,
        });
        let said = [("who", json!(verdict.who)), ("at", json!(verdict.at)), ("reason", json!(verdict.reason))];
        let more = [("edited_digest", json!(edited)), ("caller", json!(caller)), ("rule", json!("run_policy"))];
        for (key, word) in said.into_iter().chain(more).filter(|(_, word)| !word.is_null()) {
            value[key] = word;
        }
        value
    })
}

fn memory() -> impl Strategy<Value = Value> {
    let subject = prop_oneof![
        text().prop_map(|digest| json!({"scope": "these_arguments", "subject": digest})),
        text().prop_map(|digest| json!({"scope": "this_tool", "subject": digest})),
        Just(json!({"scope": "this_session"})),
    ];
    vec((subject, option::of(text()), verdict()), 0..4).prop_map(|entries| {
        let verdicts = entries.into_iter().map(|(mut holds_for, caller, verdict)| {
            if let Some(caller) = caller {
                holds_for["caller"] = json!(caller);
            }
            json!({"holds_for": holds_for, "verdict": verdict})
        });
        json!({"v": 1, "verdicts": verdicts.collect::<Vec<_>>()})
    })
}

fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> Result<(), TestCaseError> {
    let text = serde_json::to_string(value).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let read: T = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    prop_assert_eq!(&read, value, "{}", text);
    let tree = serde_json::to_value(value).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let read: T = serde_json::from_value(tree).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&read, value);
    Ok(())
}

fn parse<T: DeserializeOwned>(value: &Value) -> Result<T, TestCaseError> {
    serde_json::from_value(value.clone()).map_err(|error| TestCaseError::fail(format!("{error}: {value}")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_and_verdicts_are_read_as_they_were_written(question in question(), verdict in verdict()) {
        check(&question)?;
        check(&verdict)?;
    }

    #[test]
    fn records_are_read_as_they_were_written(value in record()) {
        let record: AuditRecord = parse(&value)?;
        check(&record)?;
        let mut written = serde_json::to_value(&record).map_err(|error| TestCaseError::fail(error.to_string()))?;
        // Records of earlier versions have no type.
        prop_assert_eq!(written.as_object_mut().unwrap().remove("type"), Some(json!("approval")));
        prop_assert_eq!(written, value);
    }

    #[test]
    fn suspended_runs_are_read_as_they_were_written(value in suspended()) {
        let suspended: Suspended = parse(&value)?;
        check(&suspended)?;
        let places = suspended.pending().len() + suspended.finished().len();
        prop_assert_eq!(places, suspended.calls().len());
    }

    #[test]
    fn memories_are_read_as_they_were_written(value in memory()) {
        let memory: ApprovalMemory = parse(&value)?;
        let text = serde_json::to_string(&memory).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let read: ApprovalMemory = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(serde_json::to_string(&read).unwrap_or_default(), text);
        prop_assert_eq!(read.len(), memory.len());
    }
}
