//! The events of a loop: their order, their form, and backpressure by the reader.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::tagged::TaggedEnum;
use haft_core::{Delta, Finish, ToolResult, Usage};
use haft_model::{LoopError, ModelError, ModelInfo, ScriptedModel, ScriptedTurn, Spent};
use haft_schema::Issue;
use proptest::prelude::*;
use serde_json::json;

use super::*;

#[tokio::test(start_paused = true)]
async fn events_are_emitted_in_order() {
    let model = ScriptedModel::default()
        .then([call("c1", "note", "1"), call("c2", "double", "2"), call("c3", "double", "x")])
        .then(Turn::new(vec![Item::assistant("done")], Finish::Stop));
    let told = words(&events(agent(&model).start(request())).await);
    let told: Vec<_> = told.into_iter().filter(|word| word != "delta").collect();
    assert_eq!(told[..2], ["turn 1", "complete"]);
    let mut middle = told[2..5].to_vec();
    middle.sort();
    assert_eq!(middle, ["output 1: 4", "output 2: input_validation_error", "signal c1"]);
    assert_eq!(told[5..], ["output 0: null", "ended 1 with 3", "turn 2", "complete", "ended 2 with 0", "stopped"]);
}

#[test]
fn an_unplaced_result_is_an_event_that_is_read_back() {
    let results = vec![ToolResult::ok(&call("c1", "double", "1"), serde_json::json!(2))];
    let unplaced = LoopEvent::Unplaced { results, reason: "no call of that id is open".into() };
    let read: LoopEvent = serde_json::from_value(serde_json::to_value(&unplaced).unwrap()).unwrap();
    assert_eq!(read, unplaced);
}

#[tokio::test(start_paused = true)]
async fn the_last_event_is_the_end_and_the_stream_stays_over() {
    let model = ScriptedModel::default().then("hi");
    let mut run = agent(&model).start(request());
    let mut last = None;
    while let Some(event) = run.next().await {
        assert!(last.is_none(), "nothing after the end");
        last = matches!(event, LoopEvent::Ended { .. }).then_some(event);
    }
    assert!(run.next().await.is_none());
    let Some(LoopEvent::Ended { end, state }) = last else { panic!() };
    assert_eq!(run.state(), *state);
    let outcome = run.finish().await;
    assert_eq!((outcome.end, outcome.state), (end, *state), "what the last event said");
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_ahead_of_the_reader() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&ran);
    let tool = Tool::new("count").handler(move |(), _cx| {
        let counting = Arc::clone(&counting);
        async move { counting.fetch_add(1, Ordering::SeqCst) }
    });
    let model = ScriptedModel::default().then([call("c1", "count", "{}")]).then("done");
    let mut run = TurnLoop::new(model.clone(), Toolkit::from_iter([tool.unwrap()])).start(request());
    assert!(model.requests().is_empty(), "nothing happens before the first poll");
    assert!(matches!(run.next().await, Some(LoopEvent::TurnStarted { number: 1, .. })));
    assert!(model.requests().is_empty());
    while !matches!(run.next().await, Some(LoopEvent::Delta(Delta::TurnComplete(_)))) {}
    assert_eq!(ran.load(Ordering::SeqCst), 0, "the tool waits until the turn was read");
    assert!(matches!(run.next().await, Some(LoopEvent::Tool(_))));
    assert_eq!((ran.load(Ordering::SeqCst), model.requests().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_run_leaves_nothing_running() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dropped);
    let tool = Tool::new("hold").handler(move |(), cx: haft_executor::Cx| {
        let held = Dropped(Arc::clone(&count));
        async move {
            let _held = held;
            let _ = cx.emit("holding").await;
            std::future::pending::<()>().await;
        }
    });
    let model = ScriptedModel::default().then([call("c1", "hold", "{}")]);
    let mut run = TurnLoop::new(model, Toolkit::from_iter([tool.unwrap()])).start(request());
    while !matches!(run.next().await, Some(LoopEvent::Tool(ToolEvent::Progress { .. }))) {}
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    drop(run);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn runs_can_be_sent_to_other_tasks() {
    fn sendable<T: Send + 'static>() {}
    fn shared<T: Send + Sync + Clone + 'static>() {}
    sendable::<LoopRun>();
    sendable::<LoopEvent>();
    sendable::<LoopOutcome>();
    shared::<TurnLoop>();
    shared::<LoopState>();
}

#[tokio::test(start_paused = true)]
async fn runs_of_one_loop_are_independent() {
    let model = ScriptedModel::new(["one", "two", "three"]);
    let agent = agent(&model);
    let runs = (0..3).map(|_| tokio::spawn(agent.start(request()).finish()));
    let outcomes = futures_util::future::join_all(runs).await;
    let mut texts: Vec<_> = outcomes.into_iter().map(|outcome| outcome.unwrap().state.text()).collect();
    texts.sort();
    assert_eq!(texts, ["one", "three", "two"]);
}

#[tokio::test(start_paused = true)]
async fn events_are_read_as_they_were_written() {
    let model = ScriptedModel::default()
        .then(ScriptedTurn::failed(ModelError::RateLimited { message: "slow".into(), retry_after: None }))
        .then(ScriptedTurn::calls([call("c1", "note", "1"), call("c2", "double", "2")]).usage(Usage::new(1, 2)))
        .then([call("c3", "ask", "\"who?\"")]);
    let broken = TurnRequest::new("any", vec![call("c0", "gone", "{}").into(), Item::user("go")]);
    let agent = agent(&model).repair("lost").backoff(haft_executor::Backoff::constant(Duration::ZERO));
    let run = agent.start(broken);
    let mut seen: Vec<LoopEvent> = run.collect().await;
    let failed =
        LoopEnd::Failed(LoopError::Model { model: ModelInfo::new("a"), source: Arc::new(ModelError::IncompleteTurn) });
    let state = Box::new(LoopState::new(request()));
    for end in [
        LoopEnd::Stopped,
        LoopEnd::MaxTurns { turns: 3 },
        LoopEnd::Budget(Spent::Tokens),
        LoopEnd::RepeatedCalls,
        LoopEnd::Cancelled,
        failed,
    ] {
        seen.push(LoopEvent::Ended { end, state: state.clone() });
    }
    let kinds: std::collections::BTreeSet<_> = seen
        .iter()
        .map(|event| {
            let written = serde_json::to_value(event).unwrap();
            assert_eq!(written["v"], 1);
            assert_eq!(&serde_json::from_value::<LoopEvent>(written.clone()).unwrap(), event);
            assert_eq!(&serde_json::from_str::<LoopEvent>(&written.to_string()).unwrap(), event);
            written["type"].as_str().unwrap().to_owned()
        })
        .collect();
    let all = ["delta", "ended", "repaired", "retrying", "signal", "tool", "turn_ended", "turn_started"];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn the_form_of_events_is_fixed() {
    let result = ToolResult::ok(&call("c1", "double", "1"), json!(2));
    let table = [
        (
            LoopEvent::TurnStarted { number: 2, model: None, tools: Vec::new(), generation: None },
            json!({"v": 1, "type": "turn_started", "number": 2}),
        ),
        (
            LoopEvent::TurnStarted {
                number: 2,
                model: Some(ModelInfo::new("a").model("b")),
                tools: vec!["read".to_owned()],
                generation: Some(7),
            },
            json!({"v": 1, "type": "turn_started", "number": 2, "model": {"provider": "a", "model": "b"},
                "tools": ["read"], "generation": 7}),
        ),
        (
            LoopEvent::HistoryRewritten { items_before: 9, items: 2 },
            json!({"v": 1, "type": "history_rewritten", "items_before": 9, "items": 2}),
        ),
        (
            LoopEvent::CallsResumed { calls: vec![ToolCall::new("c1", "pay", "5")] },
            json!({"v": 1, "type": "calls_resumed", "calls": [ToolCall::new("c1", "pay", "5")]}),
        ),
        (
            LoopEvent::ToolLeftOut { tool: "mail".to_owned(), reason: "no service".to_owned() },
            json!({"v": 1, "type": "tool_left_out", "tool": "mail", "reason": "no service"}),
        ),
        (
            LoopEvent::AnswerRejected { issues: Issue::new("/a", "maximum", "must be at most 1").into(), re_asks: 1 },
            json!({"v": 1, "type": "answer_rejected", "re_asks": 1,
                "issues": [{"pointer": "/a", "keyword": "maximum", "message": "must be at most 1"}]}),
        ),
        (
            LoopEvent::Delta(Delta::text("a")),
            json!({"v": 1, "type": "delta", "delta": {"type": "text_delta", "text": "a"}}),
        ),
        (
            LoopEvent::Tool(ToolEvent::Output { index: 1, result: result.clone() }),
            json!({"v": 1, "type": "tool", "event": ToolEvent::Output { index: 1, result }}),
        ),
        (
            LoopEvent::Retrying {
                attempts: 1,
                kind: "timed_out".into(),
                message: "no".into(),
                wait: Duration::from_millis(1500),
            },
            json!({"v": 1, "type": "retrying", "attempts": 1, "kind": "timed_out", "message": "no", "wait_ms": 1500}),
        ),
    ];
    for (event, written) in table {
        assert_eq!(serde_json::to_value(&event).unwrap(), written);
        assert_eq!(serde_json::from_value::<LoopEvent>(written).unwrap(), event);
    }
    assert_eq!(serde_json::to_value(LoopEnd::Budget(Spent::Time)).unwrap(), json!({"type": "budget", "spent": "time"}));
    let failed = LoopEnd::Failed(LoopError::EmptyTurn { finish: Finish::Length });
    assert_eq!(
        serde_json::to_value(failed).unwrap(),
        json!({"type": "failed", "kind": "empty_turn", "message": "the model's turn is empty; its finish reason is `length`"})
    );
}

#[test]
fn invalid_events_are_rejected() {
    for (written, words) in [
        (json!({"v": 2, "type": "turn_started", "number": 1}), "newer version"),
        (json!({"v": 1}), "missing field `type`"),
        (json!({"v": 1, "type": "turn_started", "number": "one"}), "invalid type"),
        (json!({"type": "ended", "end": {"type": "gone"}, "state": {}}), "unknown variant"),
        (json!([]), "missing field"),
    ] {
        let error = serde_json::from_value::<LoopEvent>(written.clone()).unwrap_err().to_string();
        assert!(error.contains(words), "{written}: {error}");
    }
}

#[test]
fn an_event_of_an_unknown_type_is_written_back_unchanged() {
    let nested = json!({"v": 1, "type": "tool", "event": {"v": 3, "type": "paused", "index": 1, "until": "noon"}});
    let event: LoopEvent = serde_json::from_value(nested.clone()).unwrap();
    assert!(matches!(&event, LoopEvent::Tool(ToolEvent::Unknown(unknown)) if unknown.index() == Some(1)), "{event:?}");
    assert_eq!(serde_json::to_value(&event).unwrap(), nested);

    for written in
        [json!({"v": 1, "type": "turn_begun"}), json!({"b": [1.5, null], "type": "compacted", "v": 9, "a": {}})]
    {
        let event: LoopEvent = serde_json::from_value(written.clone()).unwrap();
        let LoopEvent::Unknown(unknown) = &event else { panic!("{event:?}") };
        assert_eq!(unknown.event_type(), written["type"]);
        assert_eq!((unknown.index(), unknown.call_id()), (None, None));
        assert_eq!(serde_json::to_string(&event).unwrap(), written.to_string());
    }
}

/// A variant that is added must be in the table that is read and in this match.
#[test]
fn every_event_type_is_read() {
    let known: Vec<&str> = LoopEvent::VARIANTS.iter().map(|(tag, _)| *tag).collect();
    let decided = [
        "repaired",
        "history_rewritten",
        "tool_left_out",
        "calls_resumed",
        "turn_started",
        "delta",
        "retrying",
        "tool",
        "verdict_rejected",
        "provider_approval",
        "unplaced",
        "signal",
        "turn_ended",
        "answer_rejected",
        "ended",
    ];
    assert_eq!(known, decided);
    let ends: Vec<&str> = LoopEnd::VARIANTS.iter().map(|(tag, _)| *tag).collect();
    assert_eq!(
        ends,
        [
            "stopped",
            "truncated",
            "waiting",
            "max_turns",
            "budget",
            "calls_failed",
            "repeated_calls",
            "cancelled",
            "failed"
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_event_of_an_unknown_type_is_read_and_written_unchanged(
        members in proptest::collection::btree_map("[a-z_]{1,6}", "\\PC{0,8}", 0..6), name in "x_[a-z]{0,8}", v in 0_u64..5,
    ) {
        let mut written: serde_json::Map<_, _> = members.into_iter().map(|(key, text)| (key, json!({"a": [text]}))).collect();
        written.insert("v".to_owned(), v.into());
        written.insert("type".to_owned(), name.into());
        let written = serde_json::Value::Object(written);
        let event: LoopEvent = serde_json::from_value(written.clone()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(matches!(event, LoopEvent::Unknown(_)));
        prop_assert_eq!(serde_json::to_string(&event).unwrap_or_default(), written.to_string());
    }
}
