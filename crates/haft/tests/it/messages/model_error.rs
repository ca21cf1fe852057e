//! Errors of models, scripts and recordings.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use haft::conversation::{ContentPart, Finish, Message, Role, ToolChoice, Turn};
use haft::model::{
    Cassette, CassetteError, ExchangeFault, Expect, ModelError, ProviderMessage, ScriptError, ScriptedTurn,
};
use serde_json::{Value, json};

use super::*;

fn request(text: &str) -> TurnRequest {
    TurnRequest::new("m", vec![Item::user(text)])
}

pub(super) fn models(messages: &mut Messages) {
    messages.section("Errors of models");
    let message = || "quota exceeded".to_owned();
    let (after, retry_after) = (Duration::from_secs(30), None);
    for error in [
        ModelError::RateLimited { message: message().into(), retry_after },
        ModelError::Unavailable { message: message().into(), retry_after, source: None },
        ModelError::TimedOut { after },
        ModelError::InvalidRequest { message: message().into(), param: Some("tools".to_owned()) },
        ModelError::ContextTooLong { message: message().into() },
        ModelError::ContentFiltered { message: message().into() },
        ModelError::Authentication { message: message().into() },
        ModelError::QuotaExceeded { message: message().into() },
        ModelError::UnknownModel { message: message().into() },
        ModelError::Unsupported { capability: "images".to_owned() },
        ModelError::IncompleteTurn,
        ModelError::Unreadable { message: message().into(), source: None },
        ModelError::Cancelled,
        ModelError::OffScript { message: message() },
    ] {
        messages.add(error.kind(), &error);
    }
    let known = ProviderMessage::new("quota exceeded").provider("openai").status(429).request_id("req_1");
    messages.add("a known response", ModelError::RateLimited { message: known, retry_after });
}

/// A type whose schema is invalid.
#[derive(Debug, serde::Deserialize, JsonSchema)]
struct Broken {
    #[schemars(regex(pattern = "("))]
    _text: String,
}

pub(super) async fn objects(messages: &mut Messages) {
    messages.section("Requests for a value");
    let refusal = Message::new(Role::Assistant, vec![ContentPart::refusal("I don't count.")]);
    let failing = ModelError::Authentication { message: "the key is revoked".into() };
    let calls = ["a", "b", "c", "d"].map(|name| Item::from(ToolCall::new(name, name, "")));
    for turn in [
        ScriptedTurn::failed(failing),
        Turn::new(vec![refusal.into()], Finish::Stop).into(),
        Turn::new(vec![Item::assistant("1")], Finish::Length).into(),
        Turn::new(calls.into(), Finish::ToolCalls).into(),
        ScriptedTurn::text("300"),
    ] {
        let model = ScriptedModel::new([turn]);
        let error = model.object::<u8>(request("How many?")).re_asks(0).await.unwrap_err();
        messages.add(error.kind(), &error);
    }
    let error = ScriptedModel::default().object::<Broken>(request("How many?")).await.unwrap_err();
    messages.add(error.kind(), &error);
}

/// The message that a model reads after an invalid answer.
pub(super) async fn corrections(messages: &mut Messages) {
    messages.section("Answers that are not the required value");
    for (situation, answer) in [("an invalid value", "300"), ("prose", "It is three."), ("nothing", "")] {
        let first = Turn::new(vec![Item::assistant(answer)], Finish::Stop);
        let model = ScriptedModel::new([first.into(), ScriptedTurn::text("3")]);
        model.object::<u8>(request("How many?")).await.unwrap();
        let Some(Item::Message(message)) = model.requests()[1].history.last().cloned() else { panic!() };
        messages.add(situation, message.content.iter().filter_map(ContentPart::as_text).collect::<String>());
    }
}

/// Sends requests to a scripted turn and returns the fault of the script.
async fn fault(turn: ScriptedTurn, request: TurnRequest) -> String {
    let model = ScriptedModel::default().then(turn);
    let _ = model.stream_turn(&request).into_turn().await;
    model.finish().unwrap_err().to_string()
}

pub(super) async fn scripts(messages: &mut Messages) {
    messages.section("Scripted models");
    let expecting = |expect: Expect| ScriptedTurn::text("hello").expect(expect);
    let offered = || request("hi").tools(&Toolkit::<()>::from_iter([approval::pay()]));
    let expect = Expect::new;
    for (situation, expect) in [
        ("another model", expect().model("big")),
        ("other instructions", expect().instructions("be brief")),
        ("a tool is not offered", expect().tools(["search"])),
        ("a tool is offered", expect().without_tools(["pay"])),
        ("another tool choice", expect().tool_choice(ToolChoice::Required)),
        ("another number of items", expect().items(3)),
        ("another last item", expect().last(json!({"role": "user", "content": "bye"}))),
        ("several faults", expect().model("big").items(3)),
    ] {
        messages.add(situation, fault(expecting(expect), offered()).await);
    }
    let checked = ScriptedTurn::text("hello").check(|_: &TurnRequest| Err("the user is not greeted"));
    messages.add("a check fails", fault(checked, request("hi")).await);
    let model = ScriptedModel::new(["one"]);
    for _ in 0..2 {
        let _ = model.stream_turn(&request("hi")).into_turn().await;
    }
    messages.add("a request after the end", model.finish().unwrap_err());
    messages.add("turns that were never requested", ScriptedModel::new(["one", "two"]).finish().unwrap_err());
}

pub(super) fn script_files(messages: &mut Messages) {
    messages.section("Scripts as files");
    let missing = || ErrorKind::NotFound.into();
    messages.add("can't be read", ScriptError::Unreadable { path: "script.json".into(), source: missing() });
    let script = |turn: Value| ScriptedModel::from_json(&json!({"turns": [turn]}).to_string()).unwrap_err();
    messages.add("not JSON", ScriptedModel::from_json("turns:").unwrap_err());
    messages.add("an unknown key", script(json!({"txt": "hello"})));
    messages.add("an empty turn", script(json!({})));
    messages.add("a complete turn beside text", script(json!({"text": "a", "turn": {"items": [], "finish": "stop"}})));
    messages.add("two ends", script(json!({"error": {"kind": "cancelled"}, "then": "pending"})));
    messages.add("an unknown error", script(json!({"error": {"kind": "tired"}})));
    let call = json!({"call_id": "c1", "name": "pay", "argumnts": {"cents": 5}});
    messages.add("an unknown key of a call", script(json!({"calls": [call]})));
}

/// Replaces the folder of a recording, which differs from machine to machine.
fn without_folder(message: impl Display, path: &Path) -> String {
    message.to_string().replace(&path.parent().unwrap().display().to_string(), "recordings")
}

async fn replayed(cassette: &Cassette, text: &str) -> String {
    let error = cassette.stream_turn(&request(text)).into_turn().await.unwrap_err();
    without_folder(error, cassette.path())
}

pub(super) async fn cassettes(messages: &mut Messages) {
    messages.section("Recordings");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("messages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("hello.jsonl");
    let mut add = |situation: &str, message: &dyn Display| messages.add(situation, without_folder(message, &path));
    // The texts of the operating system differ.
    let source = || ErrorKind::NotFound.into();
    add("can't be read", &CassetteError::Unreadable { path: path.clone(), source: source() });
    add("can't be written", &CassetteError::Unwritable { path: path.clone(), source: source() });
    std::fs::write(&path, "hello\n").unwrap();
    add("not a recording", &Cassette::replay(&path).unwrap_err());

    let cassette = Cassette::record(&path, ScriptedModel::new(["one", "two"])).unwrap();
    for text in ["a", "b"] {
        cassette.stream_turn(&request(text)).into_turn().await.unwrap();
    }
    let mut open = cassette.stream_turn(&request("c"));
    let _ = futures_util::FutureExt::now_or_never(open.next());
    add("a stream is still open", &cassette.finish().unwrap_err());
    drop((open, cassette));

    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().take(3).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    let replay = || Cassette::replay(&path).unwrap();
    let cassette = replay();
    add("another request", &replayed(&cassette, "z").await);
    replayed_to_end(&cassette).await;
    add("more requests than exchanges", &replayed(&cassette, "c").await);
    add("CassetteFault", &cassette.finish().unwrap_err());
    add("exchanges that were never requested", &replay().finish().unwrap_err());
    add("any order: no such request", &replayed(&replay().in_any_order(), "z").await);
    std::fs::write(&path, [lines[0], lines[2]].join("\n")).unwrap();
    add("an exchange is missing", &replayed(&replay(), "a").await);
    std::fs::write(&path, [lines[0], lines[1], lines[1]].join("\n")).unwrap();
    add("an exchange twice", &Cassette::replay(&path).unwrap_err());
    std::fs::write(&path, [lines[0], &lines[1][..40]].join("\n")).unwrap();
    add("a line is cut off", &Cassette::replay(&path).unwrap_err());
    std::fs::remove_dir_all(&folder).unwrap();

    let source = Arc::new(std::io::Error::other("disk full"));
    messages.add("an exchange can't be written", ExchangeFault::NotWritten { exchange: 2, source });
}

async fn replayed_to_end(cassette: &Cassette) {
    cassette.stream_turn(&request("b")).into_turn().await.unwrap();
}
