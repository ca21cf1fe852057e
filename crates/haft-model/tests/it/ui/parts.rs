//! The AI SDK reads our streams.

use std::sync::Mutex;

use haft_core::{ContentPart, MediaData, Message, Role};
use haft_model::ui;
use haft_parts::{ChatView, UseChat};
use serde_json::json;

use super::*;

/// Starting Node takes longer than the tests that use it.
static USE_CHAT: Mutex<Option<UseChat>> = Mutex::new(None);

fn with_use_chat<T>(read: impl FnOnce(&mut UseChat) -> T) -> T {
    let mut chat = USE_CHAT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    read(chat.get_or_insert_with(UseChat::start))
}

async fn read(events: &[LoopEvent]) -> ChatView {
    let (_, text) = bodies(events).await;
    with_use_chat(|chat| chat.read(&text))
}

/// Returns the parts of calls in a message, with the members that a page reads.
fn calls(message: &Value) -> Vec<Value> {
    let parts = message["parts"].as_array().unwrap().iter();
    let calls = parts.filter(|part| part["type"].as_str().unwrap().starts_with("tool-"));
    let read = |part: &Value| {
        let mut read = json!({"tool": part["type"], "call": part["toolCallId"], "state": part["state"]});
        for member in ["input", "output", "errorText"] {
            if let Some(value) = part.get(member) {
                read[member] = value.clone();
            }
        }
        read
    };
    calls.map(read).collect()
}

fn is_clean(view: &ChatView) {
    assert_eq!((view.errors.as_slice(), view.fault.as_deref()), (&[][..], None), "{view:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_reasoning_and_calls_becomes_a_message() {
    let turn = ScriptedTurn::text("Let me count.").reasoning("Counting helps.");
    let turn = [call("c1", "count", "10"), call("c2", "fail", "")].into_iter().fold(turn, ScriptedTurn::call);
    let (events, _) = recorded(agent(ScriptedModel::default().then(turn).then("It is 10.")).start(request())).await;
    let view = read(&events).await;
    is_clean(&view);
    let types: Vec<_> = view.parts().iter().map(|part| part["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["step-start", "reasoning", "text", "tool-count", "tool-fail", "step-start", "text"]);
    assert_eq!(view.text(), "Let me count.It is 10.");
    assert!(view.parts().iter().all(|part| part.get("state").is_none_or(|state| state != "streaming")));
    let expected = [
        json!({"tool": "tool-count", "call": "c1", "state": "output-available", "input": 10, "output": 10}),
        json!({"tool": "tool-fail", "call": "c2", "state": "output-error", "input": {}, "errorText": "no luck"}),
    ];
    assert_eq!(calls(view.last()), expected);
    let progress = json!({"type": "data-tool-progress", "id": "c1", "transient": true,
        "data": {"toolName": "count", "progress": {"done": 1, "total": 2, "message": "half"}}});
    assert_eq!(view.data, [progress]);
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_asked_for_and_its_outcome_continues_the_message() {
    for (approve, state, outcome) in [(true, "output-available", json!(5)), (false, "output-denied", json!(null))] {
        let model = ScriptedModel::default().then([call("c1", "pay", "5")]).then("All right.");
        let agent = agent(model);
        let (events, mut stored) = recorded(agent.start(request())).await;
        let view = read(&events).await;
        is_clean(&view);
        let pending = stored.approvals().remove(0);
        let part = &view.parts()[1];
        assert_eq!((part["state"].as_str(), &part["input"]), (Some("approval-requested"), &json!(5)));
        assert_eq!(part["approval"]["id"], pending.request_id.as_str());
        assert_eq!(part["approval"]["descriptor"]["digest"], pending.digest);

        let verdict = if approve { pending.approve() } else { pending.deny("too much") };
        agent.verdict(&mut stored, verdict).unwrap();
        let (events, _) = recorded(agent.start(stored)).await;
        let (_, text) = bodies(&events).await;
        // The page that asked has the verdict; a page that reads the stream without the message has nothing.
        let mut asked = view.last().clone();
        asked["parts"][1]["state"] = "approval-responded".into();
        asked["parts"][1]["approval"]["approved"] = approve.into();
        let views = with_use_chat(|chat| [chat.read_on(&asked, &text), chat.read(&text)]);
        for view in &views {
            is_clean(view);
            assert_eq!(view.text(), "All right.");
            let calls = calls(view.last());
            assert_eq!((calls.len(), calls[0]["state"].as_str()), (1, Some(state)), "{view:?}");
            assert_eq!(calls[0]["output"], outcome);
        }
        assert_eq!(views[0].last()["id"], asked["id"]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_approver_in_the_process_leaves_a_valid_message() {
    let decide = |request: haft_core::ApprovalRequest, _: Cx| async move {
        match request.arguments.as_str() {
            "1" => request.approve(),
            "2" => request.deny("too much"),
            "3" => request.edit(json!(33)),
            _ => request.answer(json!(44)),
        }
    };
    let made = ["1", "2", "3", "4"].map(|cents| call(&format!("c{cents}"), "pay", cents));
    let model = ScriptedModel::default().then(made).then("done");
    let agent = TurnLoop::new(model, kit()).options(RunOptions::new().approvals(decide));
    let (events, _) = recorded(agent.start(request())).await;
    let view = read(&events).await;
    is_clean(&view);
    let ends: Vec<_> = calls(view.last()).iter().map(|call| (call["state"].clone(), call["output"].clone())).collect();
    let available = |value: u32| (json!("output-available"), json!(value));
    assert_eq!(ends, [available(1), (json!("output-denied"), json!(null)), available(33), available(44)]);
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_of_a_failed_attempt_is_removed() {
    let down = || ModelError::Unavailable { message: "down".into(), retry_after: None, source: None };
    let model = ScriptedModel::default()
        .then([call("c0", "count", "2")])
        .then(ScriptedTurn::text("Hel").reasoning("Hm.").call(call("c1", "pay", "5")).then_failed(down()))
        .then("Hello!");
    let (events, _) = recorded(agent(model).start(request())).await;
    let view = read(&events).await;
    is_clean(&view);
    let types: Vec<_> = view.parts().iter().map(|part| part["type"].as_str().unwrap()).collect();
    assert_eq!((types, view.text()), (vec!["step-start", "tool-count", "step-start", "text"], "Hello!".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_renamed_appears_once() {
    let model = ScriptedModel::default().then([call("c1", "count", "2")]).then([call("c1", "count", "4")]).then("done");
    let (events, _) = recorded(agent(model).start(request())).await;
    let view = read(&events).await;
    is_clean(&view);
    let ids: Vec<_> = calls(view.last()).iter().map(|call| (call["call"].clone(), call["output"].clone())).collect();
    assert_eq!(ids, [(json!("c1"), json!(2)), (json!("c1_2"), json!(4))]);
}

#[tokio::test(start_paused = true)]
async fn an_interaction_waits_in_the_page_and_is_answered_there() {
    let model = ScriptedModel::default().then([call("c1", "ask", "\"why?\"")]).then("done");
    let (events, _) = recorded(agent(model).start(request())).await;
    let view = read(&events).await;
    is_clean(&view);
    let expected = json!({"tool": "tool-ask", "call": "c1", "state": "input-available", "input": "why?"});
    assert_eq!(calls(view.last()), [expected]);
}

#[tokio::test(start_paused = true)]
async fn numbers_and_texts_arrive_as_they_are() {
    let odd = "a\u{2028}b \"q\" </script> 😀 \\n \n\n data: x";
    let model = ScriptedModel::default().then([call("c1", "count", "7.0")]).then(odd);
    let (events, _) = recorded(agent(model).start(request())).await;
    let view = read(&events).await;
    is_clean(&view);
    assert_eq!((view.text(), &calls(view.last())[0]["output"]), (odd.to_owned(), &json!(7)));
}

#[tokio::test(start_paused = true)]
async fn every_end_is_one_that_the_sdk_understands() {
    let key = ModelError::Authentication { message: "no such key".into() };
    let turns = [
        (ScriptedTurn::text("cut").finish(Finish::Length), None, json!(null)),
        (ScriptedTurn::failed(key), Some("Something went wrong"), json!(null)),
        (ScriptedTurn::calls([call("c1", "count", "1")]), None, json!({"end": "max_turns"})),
    ];
    for (turn, error, metadata) in turns {
        let run = agent(ScriptedModel::default().then(turn)).max_turns(1).start(request());
        let view = read(&recorded(run).await.0).await;
        assert_eq!(view.errors.len(), usize::from(error.is_some()), "{view:?}");
        assert!(view.errors.first().is_none_or(|seen| seen.contains(error.unwrap())), "{view:?}");
        assert_eq!(view.messages.last().map(|it| it["metadata"].clone()).unwrap_or_default(), metadata, "{view:?}");
    }
    let run = agent(ScriptedModel::default().then(ScriptedTurn::pending())).start(request());
    run.cancel();
    assert!(read(&recorded(run).await.0).await.errors.is_empty());
}

/// A page is loaded with the conversation so far, and the AI SDK accepts it.
#[tokio::test(start_paused = true)]
async fn a_stored_conversation_is_valid_messages() {
    let turn = ScriptedTurn::text("Let me see.").reasoning("Hm.");
    let calls = [call("c1", "count", "10"), call("c2", "fail", ""), call("c3", "pay", "5"), call("c4", "ask", "\"?\"")];
    let turn = calls.into_iter().fold(turn, ScriptedTurn::call);
    let picture = ContentPart::image_bytes("image/png", [1, 2]);
    let file = ContentPart::image("image/png", MediaData::FileId("f".to_owned()));
    let asked = Message::new(Role::User, vec![ContentPart::text("What is it?"), picture, file]);
    let request = TurnRequest::new("any", vec![Item::user("Hi."), Item::assistant("Hello!"), asked.into()]);
    let (events, state) = recorded(agent(ScriptedModel::default().then(turn)).start(request)).await;
    let messages = ui::ai_sdk_messages(&state);
    let view = with_use_chat(|chat| chat.open("http://localhost:9/", "42", &messages, &json!({})));
    is_clean(&view);
    let roles: Vec<_> = view.messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    let part_types = |message: &Value| -> Vec<String> {
        message["parts"].as_array().unwrap().iter().map(|part| part["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(part_types(&view.messages[2]), ["file", "text"]);

    // The same as the page showed while it arrived.
    let live = read(&events).await;
    let strip = |message: &Value| {
        let mut parts = message["parts"].clone();
        for part in parts.as_array_mut().unwrap() {
            part.as_object_mut().unwrap().retain(|name, value| name != "id" && !value.is_null());
        }
        parts
    };
    assert_eq!(strip(live.last()), strip(view.last()));
}
