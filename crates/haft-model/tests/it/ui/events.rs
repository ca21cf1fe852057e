//! Our own form: what is in it, and in which order.

use haft_core::{ContentPart, MediaData, Message, ProviderCall, ReasoningForm, Role};
use haft_model::ui;
use serde_json::json;

use super::*;

async fn shown(model: ScriptedModel) -> Vec<String> {
    words(&data(&body(UiStream::events(agent(model).retries(3).start(request()))).await))
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_shown_piece_by_piece() {
    let model = ScriptedModel::default().then(ScriptedTurn::text("Hello!").reasoning("Greet."));
    let seen = shown(model).await;
    let text: Vec<_> = seen.iter().filter_map(|line| line.strip_prefix("text_delta 1.1 ")).collect();
    assert!(text.len() > 1 && text.concat() == "Hello!", "{seen:?}");
    let frame = seen.iter().filter(|line| !line.contains("_delta"));
    let expected = ["started", "step_started 1", "part_ended 1.0", "part_ended 1.1", "step_ended 1", "ended stopped"];
    assert_eq!(frame.collect::<Vec<_>>(), expected);
    assert!(seen[2].starts_with("reasoning_delta 1.0 "));
}

#[tokio::test(start_paused = true)]
async fn calls_are_shown_with_what_they_emit_and_return() {
    let calls = [call("c1", "count", "10"), call("c2", "fail", " "), call("c3", "missing", "{")];
    let seen = shown(ScriptedModel::default().then(calls).then("done")).await;
    let about = |call: &str| -> Vec<String> {
        let lines = seen.iter().filter(|line| line.contains(call) && !line.starts_with("arguments_delta"));
        lines.map(|line| line.replace(&format!(" {call}"), "")).collect()
    };
    let progress = r#"progress count {"done":1.0,"total":2.0,"message":"half"}"#;
    let count = ["call_started count", "called count 10", progress, "preliminary count 5", "output count 10"];
    assert_eq!(about("c1"), count);
    assert_eq!(about("c2"), ["call_started fail", "called fail {}", "call_failed fail tool_failed no luck"]);
    let missing = about("c3");
    assert_eq!(missing[..2], ["call_started missing", "called missing {"], "what is not JSON is text");
    assert!(missing[2].starts_with("call_failed missing unknown_tool there is no tool"), "{missing:?}");
}

#[tokio::test(start_paused = true)]
async fn approvals_are_shown_with_what_is_to_be_approved() {
    let model = ScriptedModel::default().then([call("c1", "pay", "5"), call("c2", "ask", "\"why?\"")]).then("done");
    let agent = agent(model);
    let (events, mut state) = recorded(agent.start(request())).await;
    let seen = data(&bodies(&events).await.0);
    let asked = seen.iter().find(|event| event["type"] == "approval_requested").unwrap();
    let pending = state.approvals().remove(0);
    let expected = json!({
        "type": "approval_requested", "request_id": pending.request_id, "call_id": "c1", "tool": "pay", "arguments": 5,
        "digest": pending.digest,
    });
    assert_eq!(asked, &expected, "and nothing else");
    let last = words(&seen);
    assert_eq!(last[last.len() - 2..], ["answer_requested c2 ask why?", "ended waiting"]);

    agent
        .verdict(&mut state, pending.deny("too much").decided("ana@example", haft_core::Timestamp::from_unix_millis(1)))
        .unwrap();
    agent.answer(&mut state, "c2", "because").unwrap();
    let (events, _) = recorded(agent.start(state)).await;
    let seen = words(&data(&bodies(&events).await.0));
    let resumed = [
        "started".to_owned(),
        "output c2 ask because".to_owned(),
        "called c1 pay 5".to_owned(),
        format!("approval_resolved {} c1 denied too much", pending.request_id),
        "call_failed c1 pay denied too much".to_owned(),
        "step_ended 1".to_owned(),
        "step_started 2".to_owned(),
    ];
    assert_eq!(seen[..7], resumed);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_failed_is_void() {
    let down = || ModelError::Unavailable { message: "down".into(), retry_after: None, source: None };
    let model = ScriptedModel::default()
        .then(ScriptedTurn::failed(down()))
        .then(ScriptedTurn::text("Hel").call(call("c1", "count", "1")).then_failed(down()))
        .then("Hello!");
    let seen = shown(model).await;
    let resets: Vec<_> =
        seen.iter().enumerate().filter(|(_, line)| *line == "step_reset 1").map(|(at, _)| at).collect();
    assert_eq!(resets.len(), 1, "nothing was shown of the first attempt: {seen:?}");
    let texts = seen[resets[0]..].iter().filter_map(|line| line.strip_prefix("text_delta 1.0 "));
    assert_eq!(texts.collect::<String>(), "Hello!");
}

/// Deltas are for display: the turn is what counts.
#[tokio::test(start_paused = true)]
async fn a_turn_that_differs_from_its_deltas_replaces_them() {
    let text = |text: &str| Delta::text(text);
    let turns = [
        (ScriptedTurn::text("Hello!").deltas([]), false),
        (ScriptedTurn::text("Hello!").deltas([text("Hello!")]), false),
        (ScriptedTurn::text("Hello!").deltas([text("Hel")]), true),
        (ScriptedTurn::text("Hello!").deltas([text("Bye."), text("Hello!")]), true),
        (ScriptedTurn::text("Hello!").reasoning("Hm.").deltas([text("Hello!")]), true),
        (ScriptedTurn::text("Hello!").deltas([Delta::ToolCallStart { call_id: "x".into(), name: "pay".into() }]), true),
    ];
    for (turn, is_reset) in turns {
        let seen = shown(ScriptedModel::default().then(turn)).await;
        let from = seen.iter().position(|line| line == "step_reset 1");
        assert_eq!(from.is_some(), is_reset, "{seen:?}");
        let rest = &seen[from.unwrap_or_default()..];
        let texts = rest.iter().filter(|line| line.starts_with("text_delta"));
        assert_eq!(texts.filter_map(|line| line.splitn(3, ' ').nth(2)).collect::<String>(), "Hello!", "{seen:?}");
    }
}

/// A call whose id is taken gets another one when its turn is complete.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_renamed_is_shown_under_its_new_name_only() {
    let model = ScriptedModel::default().then([call("c1", "count", "2")]).then([call("c1", "count", "4")]).then("done");
    let seen = shown(model).await;
    let reset = seen.iter().position(|line| line == "step_reset 2").unwrap();
    let outputs: Vec<_> = seen.iter().filter(|line| line.starts_with("output ")).collect();
    assert_eq!(outputs, ["output c1 count 2", "output c1_2 count 4"]);
    assert!(seen[reset..].contains(&"call_started c1_2 count".to_owned()), "{seen:?}");
    assert!(!seen[reset..].iter().any(|line| line.contains(" c1 ")), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn sources_files_and_what_the_provider_did_are_shown() {
    let cited = Citation::url("https://a.example").title("A");
    let image = ContentPart::image_bytes("image/png", [1, 2]);
    let hidden = ContentPart::image("image/png", MediaData::FileId("file-1".to_owned()));
    let search = ProviderCall::new("vendor", "search", json!({"query": "x", "secret": "s"})).call_id("p1");
    let items =
        vec![search.into(), Message::new(Role::Assistant, vec![ContentPart::text("See."), image, hidden]).into()];
    let deltas = [
        Delta::ProviderCallStart { call_id: "p1".into(), name: "search".to_owned() },
        Delta::ProviderCallArgsDelta { call_id: "p1".into(), arguments: "{\"query\": \"x\"}".to_owned() },
        Delta::ProviderCallOutput { call_id: "p1".into(), output: json!({"hits": ["s"]}).into(), is_error: false },
        Delta::ReasoningDelta { text: "Hm.".to_owned(), form: ReasoningForm::Summary, part: 0 },
        Delta::TextDelta { text: "See.".to_owned(), part: 1 },
        Delta::CitationDelta { citation: cited, part: 1 },
    ];
    let mut events: Vec<LoopEvent> = deltas.into_iter().map(LoopEvent::Delta).collect();
    events.push(LoopEvent::Delta(Delta::complete(Turn::new(items, Finish::Stop))));
    let seen = words(&data(&bodies(&events).await.0));
    let expected = [
        "started",
        "call_started p1 search true",
        r#"arguments_delta p1 {"query": "x"}"#,
        r#"called p1 search {"query":"x"} true"#,
        "output p1 search null true",
        "reasoning_delta 0.0 Hm.",
        "text_delta 0.1 See.",
        "source https://a.example A",
        "part_ended 0.0",
        "part_ended 0.1",
        "media image/png data:image/png;base64,AQI=",
        "failed interrupted The answer was interrupted. Try again.",
    ];
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn every_end_has_its_name_and_an_error_a_harmless_text() {
    let down = ModelError::Unavailable { message: "10.0.0.7 refused".into(), retry_after: None, source: None };
    let key = ModelError::Authentication { message: "no such key".into() };
    let long = ModelError::ContextTooLong { message: "4711 tokens".into() };
    for (turn, end) in [
        (ScriptedTurn::text("cut").finish(Finish::Length), "ended truncated"),
        (ScriptedTurn::failed(down), "failed model The service is busy. Try again in a moment."),
        (ScriptedTurn::failed(key), "failed model Something went wrong. Try again later."),
        (ScriptedTurn::failed(long), "failed model The conversation is too long. Start a new one."),
    ] {
        let run = agent(ScriptedModel::default().then(turn)).retries(0).start(request());
        assert_eq!(words(&data(&body(UiStream::events(run)).await)).last().unwrap(), end);
    }
    let run = agent(ScriptedModel::default().then([call("c1", "count", "1")])).max_turns(1).start(request());
    assert_eq!(words(&data(&body(UiStream::events(run)).await)).last().unwrap(), "ended max_turns");
    let run = agent(ScriptedModel::default().then(ScriptedTurn::pending())).start(request());
    run.cancel();
    assert_eq!(words(&data(&body(UiStream::events(run)).await)), ["started", "ended cancelled"]);

    let run = agent(ScriptedModel::default()).start(request());
    let worded = UiStream::events(run).error_text(|error| format!("report {}", error.kind()));
    assert_eq!(words(&data(&body(worded).await)).last().unwrap(), "failed model report model");
}

#[tokio::test(start_paused = true)]
async fn a_filter_changes_and_removes_events_but_not_the_frame() {
    let model = ScriptedModel::default().then([call("c1", "count", "10")]).then("done");
    let stream = UiStream::events(agent(model).start(request())).filter(|event| match event {
        UiEvent::Called { call_id, tool, by_provider, .. } => {
            Some(UiEvent::Called { call_id, tool, arguments: json!("hidden").into(), by_provider })
        }
        _ => None,
    });
    let seen = words(&data(&body(stream).await));
    let frame =
        ["started", "step_started 1", "called c1 count hidden", "step_ended 1", "step_started 2", "step_ended 2"];
    assert_eq!(seen[..6], frame);
    assert_eq!(seen[6..], ["ended stopped"]);
}

/// A page that is loaded again shows what it showed before.
#[tokio::test(start_paused = true)]
async fn a_history_shows_what_the_stream_showed() {
    let turn = ScriptedTurn::text("Let me see.").reasoning("Hm.");
    let calls = [call("c1", "count", "10"), call("c2", "fail", ""), call("c3", "pay", "5")];
    let turn = calls.into_iter().fold(turn, ScriptedTurn::call);
    let agent = agent(ScriptedModel::default().then(turn));
    let (events, state) = recorded(agent.start(request())).await;
    let lasting = |line: &String| {
        let passing = ["call_started", "arguments_delta", "progress", "preliminary", "started", "ended", "step_ended"];
        !passing.iter().any(|word| line.starts_with(word)) && !line.contains("_delta")
    };
    let mut live: Vec<_> = words(&data(&bodies(&events).await.0)).into_iter().filter(lasting).collect();
    let stored: LoopState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    let written: Vec<_> = ui::history(&stored).iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    let mut loaded: Vec<_> = words(&written).into_iter().filter(lasting).collect();
    assert_eq!(loaded.remove(0), "user_message go");
    live.sort();
    loaded.sort();
    assert_eq!(live, loaded);
    let last = words(&written);
    assert!(last.last().unwrap().starts_with("approval_requested approval_"), "{last:?}");
}

/// The judge of the other form is npm's `ai`, in `parts`.
#[tokio::test(start_paused = true)]
async fn the_stream_of_the_ai_sdk_has_the_same_in_its_chunks() {
    let model = ScriptedModel::default()
        .then(ScriptedTurn::text("Hi").deltas([Delta::text("Hi")]).call(call("c1", "count", "10")))
        .then(ScriptedTurn::text("Bye").deltas([Delta::text("Bye")]));
    let text = body(UiStream::ai_sdk(agent(model).start(request())).message_id("m7")).await;
    let chunks: Vec<_> = text.split_terminator("\n\n").map(|chunk| chunk.strip_prefix("data: ").unwrap()).collect();
    let expected = [
        r#"{"type":"start","messageId":"m7"}"#,
        r#"{"type":"start-step"}"#,
        r#"{"type":"text-start","id":"1.0"}"#,
        r#"{"type":"text-delta","id":"1.0","delta":"Hi"}"#,
        r#"{"type":"reset-step"}"#,
        r#"{"type":"text-start","id":"1.0"}"#,
        r#"{"type":"text-delta","id":"1.0","delta":"Hi"}"#,
        r#"{"type":"tool-input-start","toolCallId":"c1","toolName":"count"}"#,
        r#"{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"10"}"#,
        r#"{"type":"text-end","id":"1.0"}"#,
        r#"{"type":"tool-input-available","toolCallId":"c1","toolName":"count","input":10}"#,
        r#"{"type":"data-tool-progress","id":"c1","data":{"toolName":"count","progress":{"done":1.0,"total":2.0,"message":"half"}},"transient":true}"#,
        r#"{"type":"tool-output-available","toolCallId":"c1","output":5,"preliminary":true}"#,
        r#"{"type":"tool-output-available","toolCallId":"c1","output":10}"#,
        r#"{"type":"finish-step"}"#,
        r#"{"type":"start-step"}"#,
        r#"{"type":"text-start","id":"2.0"}"#,
        r#"{"type":"text-delta","id":"2.0","delta":"Bye"}"#,
        r#"{"type":"text-end","id":"2.0"}"#,
        r#"{"type":"finish-step"}"#,
        r#"{"type":"finish","finishReason":"stop"}"#,
        "[DONE]",
    ];
    assert_eq!(chunks, expected);
}

/// Instructions are for the model alone.
#[test]
fn a_history_contains_no_instructions() {
    let history = vec![Item::system("Be brief."), Item::user("Hi."), Item::assistant("Hello!")];
    let state = LoopState::new(TurnRequest::new("any", history).instructions("Never say Bye."));
    let shown = serde_json::to_string(&ui::history(&state)).unwrap();
    assert!(!shown.contains("brief") && !shown.contains("Never"), "{shown}");
}
