//! The turn loop: calls that it rejects, its errors and its states.

use std::sync::Arc;

use haft::approval::{SuspendedError, Verdict};
use haft::conversation::{ContentPart, Finish, Message, Role, ToolCallOutput, ToolChoice, Turn};
use haft::model::{
    AfterTurn, BeforeRequest, Budget, LoopEnd, LoopError, LoopOutcome, LoopState, ModelError, ModelInfo, Spent,
    StateError,
};
use haft::schema::{Schema, Validation, Validator};
use haft::tool::Cancellation;
use haft::toolkit::ToolSource;
use serde_json::{Value, json};

use super::*;

/// `double` runs, `pay` requires approval, `note` is a signal, `ask` an interaction, `wait` never ends.
fn kit() -> Toolkit {
    let tools = [
        Tool::new("double").handler(|n: i64, _cx| async move { n * 2 }),
        Tool::new("wait").handler(|(), _cx| std::future::pending::<()>()),
        Tool::signal("note").params::<u8>().define(),
        Tool::interaction("ask").params::<String>().success::<String>().define(),
        Ok(approval::pay()),
    ];
    tools.into_iter().map(Result::unwrap).collect()
}

fn request() -> TurnRequest {
    TurnRequest::new("any", vec![Item::user("go")])
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// A loop whose model makes these calls and is then done.
fn calling(calls: impl IntoIterator<Item = ToolCall>) -> TurnLoop {
    let calls: Vec<ToolCall> = calls.into_iter().collect();
    TurnLoop::new(ScriptedModel::default().then(calls).then("done"), kit())
}

async fn finish(agent: &TurnLoop, state: impl Into<LoopState>) -> LoopOutcome {
    agent.start(state).finish().await
}

/// Returns the failure that the model reads about the call with this id. Of several it is the last.
fn output(outcome: &LoopOutcome, id: &str) -> ToolFailure {
    let text = outcome.state.history().iter().rev().find_map(|item| match item {
        Item::ToolOutput(output) if output.call_id == id => Some(output.output.to_string()),
        _ => None,
    });
    let value: Value = serde_json::from_str(&text.unwrap_or_else(|| panic!("{outcome:?}"))).unwrap();
    let word = |key: &str| value["error"][key].as_str().unwrap().to_owned();
    ToolFailure::new(word("kind"), word("message"))
}

pub(super) async fn rejected_calls(messages: &mut Messages) {
    messages.section("Calls that the turn loop rejects");
    let double = || call("c1", "double", "2");
    for (situation, choice) in [
        ("the tool choice forbids calls", ToolChoice::None),
        ("the tool choice is another tool", ToolChoice::tool("note")),
        ("the tool choice is one of others", ToolChoice::may_call(["note", "ask"])),
    ] {
        let outcome = finish(&calling([double(), call("c2", "note", "1")]), request().tool_choice(choice)).await;
        messages.failure(situation, &output(&outcome, "c1"));
    }
    let same = ["c1", "c2", "c3"].map(|id| call(id, "double", "2"));
    let outcome = finish(&calling(same.clone()).repeated_calls(2), request()).await;
    messages.failure("the same call again and again", &output(&outcome, "c3"));
    let outcome = finish(&calling(same[..2].to_vec()).repeated_calls(1), request()).await;
    messages.failure("the same call again", &output(&outcome, "c2"));
    for (situation, most) in [("the budget of calls is spent", 2), ("the budget of one call is spent", 1)] {
        let agent =
            calling(["c1", "c2", "c3"].map(|id| call(id, "double", &id[1..]))).budget(Budget::new().calls(most));
        messages.failure(situation, &output(&finish(&agent, request()).await, "c3"));
    }
    let outcome = finish(&calling([double(), call("c1", "double", "3")]), request()).await;
    let duplicates = outcome.state.history().iter().filter_map(|item| match item {
        Item::ToolOutput(output) if output.is_error => Some(output.call_id.as_str()),
        _ => None,
    });
    let duplicates: Vec<&str> = duplicates.collect();
    messages.failure("two calls with one id", &output(&outcome, duplicates[0]));
}

pub(super) async fn ended_calls(messages: &mut Messages) {
    messages.section("Calls that the turn loop ends");
    let turn = Turn::new(vec![call("c1", "double", "2").into()], Finish::Length);
    let agent = TurnLoop::new(ScriptedModel::default().then(turn).then("done"), kit());
    messages.failure("the turn was cut off", &output(&finish(&agent, request()).await, "c1"));

    let flag = Cancellation::new();
    let agent = calling([call("c1", "wait", ""), call("c2", "ask", "\"who?\"")]).cancellation(flag.clone());
    let mut running = agent.start(request());
    while let Some(event) = futures_util::FutureExt::now_or_never(running.next()) {
        assert!(event.is_some());
    }
    flag.cancel();
    let outcome = running.finish().await;
    messages.failure("the loop is cancelled while a call runs", &output(&outcome, "c1"));
    messages.failure("the loop is cancelled while an interaction is open", &output(&outcome, "c2"));

    let outcome = finish(&calling([call("c1", "ask", "\"who?\"")]), request()).await;
    let mut state = outcome.state;
    state.close("c1", "").unwrap();
    messages.failure("an interaction is closed", &output(&finish(&calling([]), state).await, "c1"));

    let deep = (0..300).fold(json!(1), |value, _| json!([value]));
    let agent = calling([call("c1", "note", "1")]).decide(move |mut after: AfterTurn| {
        let deep = deep.clone();
        after.signals_mut().iter_mut().for_each(|signal| signal.answer(deep.clone()));
        async move { after.as_usual() }
    });
    messages.failure("a signal is answered too deeply", &output(&finish(&agent, request()).await, "c1"));

    let panicking = Validation::With(Validator::new(|_| panic!("secret")));
    let fragile = Tool::signal("fragile").params_schema(Schema::json_with(json!({}), panicking).unwrap()).define();
    let model = ScriptedModel::default().then([call("c1", "fragile", "1")]).then("done");
    let agent = TurnLoop::new(model, Toolkit::from_iter([fragile.unwrap()]));
    messages.failure("the validator of a signal panics", &output(&finish(&agent, request()).await, "c1"));
    let agent = calling([]).repair("the user moved on");
    let abandoned = TurnRequest::new("any", vec![call("c1", "double", "2").into(), Item::user("never mind")]);
    messages.failure("the interaction is gone", &gone_interaction().await);
    messages.failure("the history is repaired", &output(&finish(&agent, abandoned).await, "c1"));
}

/// Returns the output of an answered interaction whose tool is gone.
async fn gone_interaction() -> ToolFailure {
    let mut state = finish(&calling([call("c1", "ask", "\"who?\"")]), request()).await.state;
    state.answer("c1", "Ada").unwrap();
    let gone = TurnLoop::new(ScriptedModel::new(["done"]), Toolkit::new());
    output(&finish(&gone, state).await, "c1")
}

/// Runs a loop to its error.
async fn error(agent: &TurnLoop, state: impl Into<LoopState>) -> LoopError {
    match finish(agent, state).await.end {
        LoopEnd::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn errors(messages: &mut Messages) {
    messages.section("Errors of the turn loop");
    let failing = ModelError::Authentication { message: "the key is revoked".into() };
    let script = ScriptedModel::default().then(haft::model::ScriptedTurn::failed(failing));
    messages.add("model", error(&TurnLoop::new(script, kit()), request()).await);
    messages.add("model_panicked", error(&TurnLoop::new(Panicking, kit()), request()).await);
    let source = kit().mapped(|_| panic!("index out of bounds"));
    messages.add("source_panicked", error(&TurnLoop::new(ScriptedModel::new(["words"]), source), request()).await);
    let needy = Tool::new("needy").depends_on::<String>().handler(|(), _cx| async {}).unwrap();
    let tools: Toolkit = Toolkit::from_iter([needy, Tool::new("later").define().unwrap()]);
    messages.add("not_runnable", error(&TurnLoop::new(ScriptedModel::new(["words"]), tools), request()).await);
    let items = vec![
        Item::from(call("c1", "double", "1")),
        Item::user("well?"),
        call("c2", "double", "1").into(),
        ToolCallOutput::new("c9", "2").into(),
        Item::user("well?"),
    ];
    messages.add("unreconciled", error(&calling([]), TurnRequest::new("any", items)).await);
    let words = || TurnLoop::new(ScriptedModel::new(["words"; 5]), kit());
    messages.add("tool_choice", error(&words(), request().tool_choice(ToolChoice::Required)).await);
    let empty = Turn::new(Vec::new(), Finish::Stop);
    messages.add("empty_turn", error(&TurnLoop::new(ScriptedModel::new([empty]), kit()), request()).await);
    let failing = words().decide(|after: AfterTurn| async move { after.fail("the reviewer is missing") });
    messages.add("decide", error(&failing, request()).await);
    let panicking = words().decide(|_: AfterTurn| async move { panic!("index out of bounds") });
    messages.add("decide_panicked", error(&panicking, request()).await);
    let failing = words().prepare(|_: BeforeRequest| async { Err("the archive is full".into()) });
    messages.add("prepare", error(&failing, request()).await);
    let panicking = words().prepare(|_: BeforeRequest| async { panic!("index out of bounds") });
    messages.add("prepare_panicked", error(&panicking, request()).await);
    let breaking = words().prepare(|mut request: BeforeRequest| async move {
        request.history_mut().push(call("c1", "double", "1").into());
        Ok(request)
    });
    messages.add("prepared_history", error(&breaking, request()).await);

    let numbers = |model: ScriptedModel| TurnLoop::new(model, kit()).finish_as::<u8>().unwrap().turn_loop().clone();
    messages.add("answer_invalid", error(&numbers(ScriptedModel::new(["300", "many"])), request()).await);
    let refusal = Message::new(Role::Assistant, vec![ContentPart::refusal("I don't count.")]);
    let refused = Turn::new(vec![refusal.into()], Finish::Stop);
    messages.add("answer_refused", error(&numbers(ScriptedModel::new([refused])), request()).await);
    let cut_off = Turn::new(vec![Item::assistant("1")], Finish::Length);
    messages.add("answer_cut_off", error(&numbers(ScriptedModel::new([cut_off])), request()).await);

    let waiting = || async { finish(&calling([call("c1", "ask", "\"who?\"")]), request()).await.state };
    let mut state = waiting().await;
    state.request_mut().history = vec![Item::user("go")].into();
    messages.add("state", error(&calling([]), state).await);
    let mut state = waiting().await;
    state.answer("c1", 5).unwrap();
    messages.add("answer", error(&calling([]), state.clone()).await);
    let call_id = "c1".into();
    messages.add("suspended", LoopError::Suspended(SuspendedError::Lost { index: 0, call_id }));
    let stored = serde_json::to_value(LoopError::Model {
        model: ModelInfo::new("vendor").model("m"),
        source: Arc::new(ModelError::Cancelled),
    })
    .unwrap();
    messages.add("recorded", serde_json::from_value::<LoopError>(stored).unwrap());
    for spent in [Spent::Tokens, Spent::Calls, Spent::Time] {
        messages.add(&format!("Spent::{spent:?}"), spent);
    }
}

/// A model that panics.
struct Panicking;

impl LanguageModel for Panicking {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("panicking")
    }

    fn stream_turn(&self, _: &TurnRequest) -> haft::model::TurnStream {
        panic!("index out of bounds")
    }
}

pub(super) async fn model_turns(messages: &mut Messages) {
    messages.section("Turns that a model must not make");
    let double = call("c1", "double", "2");
    let asked = ApprovalRequest::new("q1", &double);
    let known = json!({"type": "message", "role": "user", "content": []});
    let mut hosted = ApprovalRequest::new("q2", &call("mcp_1", "search", "{}"));
    hosted.provider_data.insert("vendor".to_owned(), json!({"id": "q2"}));
    let twice = Turn::new(vec![hosted.clone().into(), hosted.into()], Finish::Stop);
    let twice = error(&TurnLoop::new(ScriptedModel::new([twice]), kit()), request()).await;
    messages.add("an approval request with the id of an earlier one", twice);
    for (situation, item) in [
        ("a message of the user", Message::new(Role::User, vec![ContentPart::text("yes")]).into()),
        ("the output of a call that runs here", ToolCallOutput::new("c1", "4").into()),
        ("the output of a call that it did not make", ToolCallOutput::new("c9", "4").into()),
        ("an approval request", asked.clone().into()),
        ("a verdict", Item::from(asked.approve())),
        ("a known item, given as unknown", Item::Unknown(known)),
    ] {
        let turn = Turn::new(vec![double.clone().into(), item], Finish::ToolCalls);
        messages.add(situation, error(&TurnLoop::new(ScriptedModel::new([turn]), kit()), request()).await);
    }
}

pub(super) async fn states(messages: &mut Messages) {
    messages.section("States of the turn loop");
    let agent =
        calling([call("c1", "ask", "\"who?\""), call("c2", "pay", "5")]).options(RunOptions::new().approvals(Suspend));
    let state = finish(&agent, request()).await.state;
    let asked = state.approvals().remove(0);
    // The ids of requests are random.
    let shown = |error: StateError| error.to_string().replace(asked.request_id.as_str(), "q1");
    let verdict = |response: Verdict| shown(agent.verdict(&mut state.clone(), response).unwrap_err());
    messages.add("UnknownInteraction", state.clone().answer("c9", "Ana").unwrap_err());
    messages.add("Answer", agent.answer(&mut state.clone(), "c1", 5).unwrap_err());
    let elsewhere = TurnLoop::new(ScriptedModel::default(), Toolkit::new());
    messages.add("UnknownTool", elsewhere.answer(&mut state.clone(), "c1", "Ana").unwrap_err());
    let (tool, answered) = ("ask".to_owned(), "choose".to_owned());
    messages.add("OtherTool", StateError::OtherTool { call_id: "c1".into(), tool, answered });
    messages.add("UnknownApproval", verdict(ApprovalRequest::new("q9", &call("c2", "pay", "5")).approve()));
    messages.add("OtherDigest", verdict(asked.approve().digest("sha256:other")));
    messages.add("Verdict", verdict(asked.edit(json!("five"))));
    let mut decided = state.clone();
    agent.verdict(&mut decided, asked.approve()).unwrap();
    messages.add("AlreadyDecided", shown(agent.verdict(&mut decided, asked.approve()).unwrap_err()));
    let call_id = || "c1".into();
    let request_id = || "q1".into();
    for (situation, error) in [
        ("MissingCall", StateError::MissingCall { call_id: call_id() }),
        ("MissingTurnCall", StateError::MissingTurnCall { call_id: call_id() }),
        ("MissingAskedCall", StateError::MissingAskedCall { request_id: request_id(), call_id: call_id() }),
        ("AnsweredCall", StateError::AnsweredCall { call_id: call_id() }),
        ("DuplicateInteraction", StateError::DuplicateInteraction { call_id: call_id() }),
        ("OtherCall", StateError::OtherCall { call_id: call_id(), at: 3 }),
        ("ForeignInteraction", StateError::ForeignInteraction { call_id: call_id() }),
        ("EmptyTurn", StateError::EmptyTurn),
        ("DoneWhileOpen", StateError::DoneWhileOpen),
    ] {
        messages.add(situation, error);
    }
}
