//! The streams that a browser reads.

mod events;
mod heartbeat;
mod leak;
mod parts;
mod post;

use futures_util::stream;
use haft_core::{Citation, Delta, Finish, Item, ToolCall, Turn, TurnRequest};
use haft_executor::{ApprovalPolicy, Cx, RunOptions, Suspend, Tool, Toolkit};
use haft_model::ui::{UiEvent, UiStream};
use haft_model::{LoopEvent, LoopRun, LoopState, ModelError, ScriptedModel, ScriptedTurn, TurnLoop};
use serde_json::Value;

/// A kit of tools that do what streams must show: `count` reports progress and a preliminary value, `fail` fails, `pay`
/// requires approval, `ask` is an interaction.
fn kit() -> Toolkit {
    let count = Tool::new("count").success::<u32>().handler(|to: u32, cx: Cx| async move {
        let _ = cx.progress(1.0, 2.0, "half").await;
        let _ = cx.preliminary(&(to / 2)).await;
        to
    });
    let fail = Tool::new("fail").try_handler(|(), _cx| async { Err::<(), _>("no luck") });
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents });
    let ask = Tool::interaction("ask").params::<String>().success::<String>().define();
    [count, fail, pay, ask].into_iter().map(Result::unwrap).collect()
}

fn agent(model: ScriptedModel) -> TurnLoop {
    TurnLoop::new(model, kit()).options(RunOptions::new().approvals(Suspend))
}

fn request() -> TurnRequest {
    TurnRequest::new("any", vec![Item::user("go")])
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// Reads a stream to its end.
async fn body<S: futures_core::Stream<Item = LoopEvent> + Unpin>(mut stream: UiStream<S>) -> String {
    let mut body = String::new();
    while let Some(text) = stream.next().await {
        body.push_str(&text);
    }
    body
}

/// Runs a loop, and returns its events and its last state.
async fn recorded(mut run: LoopRun) -> (Vec<LoopEvent>, LoopState) {
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    (events, run.state())
}

/// Returns both forms of a run that was recorded.
async fn bodies(events: &[LoopEvent]) -> (String, String) {
    let own = body(UiStream::events(stream::iter(events.to_vec()))).await;
    (own, body(UiStream::ai_sdk(stream::iter(events.to_vec()))).await)
}

/// Returns the events of a body of our own form, without version and frame.
fn data(body: &str) -> Vec<Value> {
    let blocks = body.split_terminator("\n\n").filter(|block| !block.starts_with(':'));
    let read = |block: &str| {
        let data = block.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        let mut value: Value = serde_json::from_str(data).unwrap();
        let name = block.lines().find_map(|line| line.strip_prefix("event: ")).unwrap();
        assert_eq!(name, format!("v1.{}", value["type"].as_str().unwrap()));
        assert_eq!(value.as_object_mut().unwrap().shift_remove("v"), Some(1.into()));
        value
    };
    blocks.map(read).collect()
}

/// Describes each event in a few words.
fn words(events: &[Value]) -> Vec<String> {
    let each = events.iter().map(|event| {
        let mut members = event.as_object().unwrap().clone();
        let name = members.shift_remove("type").unwrap();
        let values = members.values().map(|value| match value.as_str() {
            Some(text) => text.to_owned(),
            None => value.to_string(),
        });
        std::iter::once(name.as_str().unwrap().to_owned()).chain(values).collect::<Vec<_>>().join(" ")
    });
    each.collect()
}
