//! The serialized form of events: pinned, versioned, and read back as the same value.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use haft_core::tagged::TaggedEnum;
use haft_core::{
    ApprovalDecision, ApprovalRequest, CallId, ContentPart, FailureKind, Timestamp, ToolCall, ToolEvent, ToolFailure,
    ToolOutput, ToolResult, Verdict,
};
use haft_executor::{Cx, HandlerError, Tool, Toolkit};
use haft_schema::{Issue, JsonText};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

fn call() -> ToolCall {
    ToolCall::new("c1", "send", r#"{"to":"ana"}"#)
}

/// Returns one event of each kind.
fn one_of_each() -> [ToolEvent; 6] {
    let request = ApprovalRequest::new("r1", &call()).digest("d1").expires_at(Timestamp::from_unix_millis(5));
    let response =
        Verdict::new("r1", ApprovalDecision::Denied).reason("not now").decided("bob", Timestamp::from_unix_millis(7));
    let failure = ToolFailure::new(FailureKind::InputValidationError, "look")
        .issues(Issue::new("/to", "type", "must be a string").into())
        .cause("hunter2");
    [
        ToolEvent::Progress {
            index: 0,
            call_id: "c1".into(),
            tool: "send".into(),
            seq: 0,
            data: json!({"done": 0.5, "value": null}).into(),
        },
        ToolEvent::Preliminary {
            index: 1,
            call_id: "c1".into(),
            tool: "send".into(),
            seq: 1,
            value: json!([1, "two"]).into(),
        },
        ToolEvent::ApprovalRequested { index: 2, request: Box::new(request) },
        ToolEvent::ApprovalResolved {
            index: 2,
            call_id: "c1".into(),
            tool: "send".into(),
            response: Box::new(response),
        },
        ToolEvent::Output { index: 3, result: ToolResult::ok(&call(), json!("sent")) },
        ToolEvent::Output { index: 4, result: ToolResult::from_failure(&call(), failure) },
    ]
}

#[test]
fn the_form_of_each_event_is_pinned() {
    let written = one_of_each().map(|event| serde_json::to_string(&event).unwrap());
    insta::assert_snapshot!(written[0], @r#"{"v":1,"type":"progress","index":0,"call_id":"c1","tool":"send","seq":0,"data":{"done":0.5,"value":null}}"#);
    insta::assert_snapshot!(written[1], @r#"{"v":1,"type":"preliminary","index":1,"call_id":"c1","tool":"send","seq":1,"value":[1,"two"]}"#);
    insta::assert_snapshot!(written[2], @r#"{"v":1,"type":"approval_requested","index":2,"request":{"v":1,"request_id":"r1","call_id":"c1","tool":"send","arguments":"{\"to\":\"ana\"}","digest":"d1","expires_at":5}}"#);
    insta::assert_snapshot!(written[3], @r#"{"v":1,"type":"approval_resolved","index":2,"call_id":"c1","tool":"send","response":{"v":1,"request_id":"r1","decision":"denied","reason":"not now","who":"bob","at":7}}"#);
    insta::assert_snapshot!(written[4], @r#"{"v":1,"type":"output","index":3,"result":{"v":1,"call_id":"c1","tool":"send","outcome":{"status":"ok","value":"sent"}}}"#);
    insta::assert_snapshot!(written[5], @r#"{"v":1,"type":"output","index":4,"result":{"v":1,"call_id":"c1","tool":"send","outcome":{"status":"failed","kind":"input_validation_error","message":"look","issues":[{"pointer":"/to","keyword":"type","message":"must be a string"}],"retryable":true,"started":false}}}"#);
}

fn started() -> ToolEvent {
    ToolEvent::Started { index: 5, call_id: "c1".into(), tool: "send".into(), attempt: 2 }
}

#[test]
fn a_started_event_names_its_call_and_attempt() {
    let written = serde_json::to_string(&started()).unwrap();
    insta::assert_snapshot!(written, @r#"{"v":1,"type":"started","index":5,"call_id":"c1","tool":"send","attempt":2}"#);
    let event = started();
    assert_eq!((event.index(), event.call_id().as_str(), event.tool(), event.result()), (5, "c1", "send", None));
    assert_eq!(event.with_index(7).unwrap().index(), 7);
}

#[test]
fn every_event_is_read_back_as_it_was() {
    for event in one_of_each().into_iter().chain([started()]) {
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<ToolEvent>(&text).unwrap(), event);
        let tree = serde_json::to_value(&event).unwrap();
        assert_eq!(serde_json::from_value::<ToolEvent>(tree).unwrap(), event);
        let read: ToolEvent = serde_json::from_reader(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(!text.contains("hunter2"), "a cause is for the operator alone");
    }
}

#[test]
fn an_event_without_a_version_is_of_the_first_and_one_of_a_newer_version_is_rejected() {
    for event in one_of_each() {
        let mut written = serde_json::to_value(&event).unwrap();
        assert_eq!(written["v"], 1);
        written.as_object_mut().unwrap().shift_remove("v");
        assert_eq!(serde_json::from_value::<ToolEvent>(written.clone()).unwrap(), event);
        for (version, problem) in [
            (json!(2), "written by a newer version (2); this one reads up to 1"),
            (json!(0), "is not a format version"),
            (json!("1"), "invalid type"),
            (Value::Null, "invalid type"),
        ] {
            written["v"] = version;
            let error = serde_json::from_value::<ToolEvent>(written.clone()).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}

/// A value inside an event has its own version, by which it is rejected.
#[test]
fn a_newer_value_inside_an_event_is_rejected() {
    for event in one_of_each() {
        let mut written = serde_json::to_value(&event).unwrap();
        let Some(inner) = ["request", "response", "result"].into_iter().find(|name| written.get(name).is_some()) else {
            continue;
        };
        written[inner]["v"] = json!(2);
        let error = serde_json::from_value::<ToolEvent>(written).unwrap_err().to_string();
        assert!(error.contains("written by a newer version (2)"), "{error}");
    }
}

#[test]
fn an_invalid_event_is_rejected_by_its_fault() {
    let good = serde_json::to_value(&one_of_each()[0]).unwrap();
    for field in ["type", "index", "call_id", "tool", "seq", "data"] {
        let mut lacking = good.clone();
        lacking.as_object_mut().unwrap().shift_remove(field);
        let error = serde_json::from_value::<ToolEvent>(lacking).unwrap_err().to_string();
        assert!(error.contains(field), "{field}: {error}");
    }
    for (wrong, problem) in [
        (json!({"type": 1}), "`type` must be a string"),
        (json!([]), "type"),
        (json!("output"), "type"),
        (json!({"type": "output", "index": -1, "result": {}}), "-1"),
    ] {
        let error = serde_json::from_value::<ToolEvent>(wrong).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn an_event_of_an_unknown_type_is_kept_whole_and_names_its_call_where_it_can() {
    let table = [
        (json!({"type": "paused", "index": 3, "call_id": "c1", "tool": "send"}), (Some(3), Some("c1"), "send")),
        (json!({"until": {"a": [null]}, "v": 9, "call_id": "c1", "type": "paused"}), (None, Some("c1"), "")),
        (json!({"type": "", "index": -1, "call_id": 5, "tool": []}), (None, None, "")),
    ];
    for (written, (index, call_id, tool)) in table {
        let event: ToolEvent = serde_json::from_value(written.clone()).unwrap();
        let ToolEvent::Unknown(unknown) = &event else { panic!("{event:?}") };
        assert_eq!(unknown.event_type(), written["type"]);
        assert_eq!((unknown.index(), unknown.call_id().map(CallId::as_str)), (index, call_id));
        assert_eq!(unknown.json(), &written);
        assert_eq!((event.index(), event.call_id().as_str()), (index.unwrap_or(usize::MAX), call_id.unwrap_or("")));
        assert_eq!((event.tool(), event.result()), (tool, None));
        assert_eq!(serde_json::to_string(&event).unwrap(), written.to_string(), "written back unchanged");
    }
}

/// A variant that is added must be in the table that is read, in the samples here, and in this match.
#[test]
fn every_event_type_is_read() {
    let name = |event: &ToolEvent| match event {
        ToolEvent::Started { .. } => "started",
        ToolEvent::Progress { .. } => "progress",
        ToolEvent::Preliminary { .. } => "preliminary",
        ToolEvent::ApprovalRequested { .. } => "approval_requested",
        ToolEvent::ApprovalResolved { .. } => "approval_resolved",
        ToolEvent::Suspended { .. } => "suspended",
        ToolEvent::Output { .. } => "output",
        other @ ToolEvent::Unknown(_) => panic!("decide about {other:?}"),
    };
    let request = Box::new(ApprovalRequest::new("r1", &call()));
    let samples = one_of_each().into_iter().chain([started(), ToolEvent::Suspended { index: 0, request }]);
    let sampled: BTreeSet<&str> = samples.map(|event| name(&event)).collect();
    let known: BTreeSet<&str> = ToolEvent::VARIANTS.iter().map(|(tag, _)| *tag).collect();
    assert_eq!(sampled, known);
}

/// A later minor version may add fields; the known ones are still read.
#[test]
fn unknown_fields_are_ignored() {
    for event in one_of_each() {
        let mut written = serde_json::to_value(&event).unwrap();
        written["at"] = json!("noon");
        assert_eq!(serde_json::from_value::<ToolEvent>(written).unwrap(), event);
    }
}

/// Events of a real run, and not only hand-made ones, can be sent to another process.
#[tokio::test]
async fn the_events_of_a_run_can_be_sent_to_another_process() {
    let tool = Tool::new("t").try_handler_mixed(|(), cx: Cx| async move {
        cx.emit(json!({"exact": 0.1, "big": u64::MAX, "text": "\u{0}\u{1F600}"})).await?;
        cx.preliminary("early").await?;
        Ok::<_, HandlerError>("done")
    });
    let kit: Toolkit = Toolkit::from_iter([tool.unwrap()]);
    let events: Vec<_> = kit.run([ToolCall::new("c1", "t", ""), ToolCall::new("c2", "x", "")]).collect().await;
    assert_eq!(events.len(), 4);
    let sent = serde_json::to_string(&events).unwrap();
    assert_eq!(serde_json::from_str::<Vec<ToolEvent>>(&sent).unwrap(), events);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_]{0,8}", "\\PC{0,12}", select(vec!["", "type", "v", "\"", "\u{0}"]).prop_map(str::to_owned)]
}

/// Floats are eighths: printing and parsing preserves them, whatever the parser's precision.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn outcome() -> impl Strategy<Value = Result<(Value, Option<String>), ToolFailure>> {
    let kind = prop_oneof![select(FailureKind::ALL.to_vec()), text().prop_map(FailureKind::from)];
    let failure = (kind, text(), vec(text(), 0..3), any::<bool>(), option::of(value())).prop_map(
        |(kind, message, issues, started, details)| {
            let issues = issues.into_iter().map(|at| Issue::new(at, "type", "must be a string")).collect();
            let failure = ToolFailure::new(kind, message).issues(issues);
            let failure = if started { failure.started() } else { failure.not_started() };
            match details {
                Some(details) => failure.details(details),
                None => failure,
            }
        },
    );
    prop_oneof![(value(), option::of(text())).prop_map(Ok), failure.prop_map(Err)]
}

fn event() -> impl Strategy<Value = ToolEvent> {
    let place = || (any::<u32>().prop_map(|n| n as usize), text(), text());
    prop_oneof![
        (place(), any::<u64>(), value()).prop_map(|((index, id, tool), seq, data)| ToolEvent::Progress {
            index,
            call_id: id.into(),
            tool: tool.as_str().into(),
            seq,
            data: data.into(),
        }),
        (place(), any::<u64>(), value()).prop_map(|((index, id, tool), seq, value)| ToolEvent::Preliminary {
            index,
            call_id: id.into(),
            tool: tool.as_str().into(),
            seq,
            value: value.into(),
        }),
        (place(), text(), text(), option::of(any::<u64>())).prop_map(
            |((index, id, tool), request, arguments, until)| {
                let mut request = ApprovalRequest::new(request, &ToolCall::new(id, tool, arguments));
                request.expires_at = until.map(Timestamp::from_unix_millis);
                ToolEvent::ApprovalRequested { index, request: Box::new(request) }
            }
        ),
        (place(), text(), text(), option::of(text())).prop_map(|((index, id, tool), request, decision, reason)| {
            let mut response = Verdict::new(request, ApprovalDecision::from(decision.as_str()));
            response.reason = reason;
            let (call_id, tool) = (id.into(), tool.as_str().into());
            ToolEvent::ApprovalResolved { index, call_id, tool, response: Box::new(response) }
        }),
        (place(), outcome()).prop_map(|((index, id, tool), outcome)| {
            let call = ToolCall::new(id, tool, "");
            let result = match outcome {
                Ok((value, None)) => ToolResult::ok(&call, value),
                Ok((value, Some(shown))) => ToolResult::ok(
                    &call,
                    ToolOutput::new(JsonText::from(value)).for_model(vec![ContentPart::text(shown)]),
                ),
                Err(failure) => ToolResult::from_failure(&call, failure),
            };
            ToolEvent::Output { index, result }
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_event_is_read_back_from_text_and_from_a_tree(event in event()) {
        let text = serde_json::to_string(&event).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let read: ToolEvent =
            serde_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        prop_assert_eq!(&read, &event, "{}", text);
        prop_assert_eq!(serde_json::to_string(&read).unwrap_or_default(), text);
        let tree = serde_json::to_value(&event).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(tree["v"].as_u64(), Some(1));
        let read: ToolEvent = serde_json::from_value(tree).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&read, &event);
    }

    #[test]
    fn any_event_of_an_unknown_type_is_written_back_unchanged(
        members in vec((text(), value()), 0..6), name in "x_[a-z]{0,8}", at in 0_usize..6,
    ) {
        let mut members: Vec<_> = members.into_iter().filter(|(key, _)| key != "type").collect();
        members.insert(at.min(members.len()), ("type".to_owned(), name.clone().into()));
        let written = Value::Object(members.into_iter().collect()).to_string();
        let event: ToolEvent =
            serde_json::from_str(&written).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let ToolEvent::Unknown(unknown) = &event else { return Err(TestCaseError::fail(format!("{event:?}"))) };
        prop_assert_eq!(unknown.event_type(), name);
        prop_assert_eq!(serde_json::to_string(&event).unwrap_or_default(), written);
    }
}
