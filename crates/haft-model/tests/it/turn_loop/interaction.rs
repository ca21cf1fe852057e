//! Interactions: calls that are answered later, from outside.

use haft_core::{CallId, ProviderCall, history};
use haft_model::{LoopError, ScriptedModel, StateError};
use serde_json::json;

use super::*;

fn provider_call(id: &str) -> Item {
    ProviderCall::new("openai", "search", json!({})).call_id(id).into()
}

fn asking() -> ScriptedModel {
    ScriptedModel::default()
        .then([
            call("c1", "ask", "\"name?\""),
            call("c2", "double", "1"),
            call("c3", "ask", "\"age?\""),
            call("c4", "ask", "7"),
        ])
        .then("done")
}

#[tokio::test(start_paused = true)]
async fn the_loop_waits_and_everything_else_is_done() {
    let model = asking();
    let outcome = finish(&agent(&model), request()).await;
    let LoopEnd::Waiting { interactions, approvals } = &outcome.end else { panic!("{:?}", outcome.end) };
    let open: Vec<_> =
        interactions.iter().map(|open| (open.call_id().as_str(), open.decode::<String>().unwrap())).collect();
    assert_eq!(open, [("c1", "name?".to_owned()), ("c3", "age?".to_owned())]);
    assert!(approvals.is_empty());
    assert_eq!(told(outcome.state.history())[5..], ["output c2: 2", "output c4: input_validation_error"]);

    let again = finish(&agent(&model), stored(&outcome.state)).await;
    assert_eq!((&again.end, &again.state), (&outcome.end, &outcome.state), "it goes on waiting");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_reaches_a_call_that_had_the_id_of_one_the_provider_runs() {
    for remote in [call("c1", "search", "{}").executed_by_provider().into(), provider_call("c1")] {
        let turn = Turn::new(vec![remote, call("c1", "ask", "\"?\"").into()], Finish::ToolCalls);
        let model = ScriptedModel::default().then(turn).then("done");
        let mut state = stored(&finish(&agent(&model), request()).await.state);
        assert_eq!(state.interactions()[0].call_id(), "c1_2");
        state.answer("c1_2", "yes").unwrap();
        let outcome = finish(&agent(&model), state).await;
        assert_eq!(outcome.end, LoopEnd::Stopped);
        assert_eq!(told(outcome.state.history())[2..], ["call c1_2", "output c1_2: yes", "assistant"]);
    }
}

#[tokio::test(start_paused = true)]
async fn answers_are_added_after_their_calls() {
    let model = asking();
    let mut state = stored(&finish(&agent(&model), request()).await.state);
    state.answer("c3", json!("forty")).unwrap();
    let outcome = finish(&agent(&model), stored(&state)).await;
    assert_eq!(ended(&outcome.end), "waiting for 1 and 0");
    let mut state = stored(&outcome.state);
    assert_eq!(
        state.answer("c3", "again").unwrap_err(),
        StateError::UnknownInteraction { call_id: CallId::from("c3") }
    );
    state.close("c1", "they left").unwrap();
    let seen = events(agent(&model).start(stored(&state))).await;
    assert_eq!(words(&seen)[..3], ["output 0: cancelled", "ended 1 with 4", "turn 2"]);
    let Some(LoopEvent::Ended { end: LoopEnd::Stopped, state }) = seen.last() else { panic!() };
    assert_eq!(
        told(state.history())[5..],
        ["output c1: cancelled", "output c2: 2", "output c3: forty", "output c4: input_validation_error", "assistant"]
    );
    assert!(history::is_reconciled(&model.requests()[1].history));
}

#[tokio::test(start_paused = true)]
async fn an_invalid_answer_can_be_replaced() {
    let model = ScriptedModel::default().then([call("c1", "ask", "\"name?\"")]).then("hello Ada");
    let mut state = finish(&agent(&model), request()).await.state;
    state.answer("c1", json!({"first": "Ada"})).unwrap();
    let outcome = finish(&agent(&model), stored(&state)).await;
    assert!(matches!(&outcome.end, LoopEnd::Failed(LoopError::Answer { call_id, .. }) if *call_id == "c1"));
    let mut state = stored(&outcome.state);
    state.answer("c1", "Ada").unwrap();
    let outcome = finish(&agent(&model), stored(&state)).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "hello Ada"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_for_a_missing_tool_is_not_recorded_and_closing_needs_no_tool() {
    let model = ScriptedModel::default().then([call("c1", "ask", "\"name?\"")]).then("hello").then("hello");
    let mut state = finish(&agent(&model), request()).await.state;
    let without = TurnLoop::new(model.clone(), kit().filter(|tool| tool.name() != "ask"));
    state.answer("c1", "Ada").unwrap();
    let outcome = finish(&without, stored(&state)).await;
    assert_eq!((outcome.end, told(outcome.state.history())[2].as_str()), (LoopEnd::Stopped, "output c1: unknown_tool"));
    assert_eq!(outcome.state.interactions().len(), 0);
    state.close("c1", "").unwrap();
    assert_eq!(finish(&without, state).await.end, LoopEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_a_success_schema_accepts_any_answer() {
    let pick = Tool::interaction("pick").define().unwrap();
    let model = ScriptedModel::default().then([call("c1", "pick", "{}")]).then("ok");
    let agent = TurnLoop::new(model, Toolkit::from_iter([pick]));
    let mut state = finish(&agent, request()).await.state;
    state.answer("c1", json!([1, 2])).unwrap();
    assert_eq!(told(finish(&agent, state).await.state.history())[2], "output c1: [1,2]");
}

#[tokio::test(start_paused = true)]
async fn signals_of_a_turn_that_waits_are_answered_with_it() {
    let model = ScriptedModel::default().then([call("c1", "note", "4"), call("c2", "ask", "\"?\"")]).then("done");
    let agent = agent(&model).decide(|mut after| async move {
        let answers: Vec<_> = after.results().iter().map(haft_core::ToolResult::to_model_text).collect();
        for signal in after.signals_mut() {
            signal.answer(format!("with {}", answers.join(",")));
        }
        after.as_usual()
    });
    let outcome = finish(&agent, request()).await;
    assert_eq!(ended(&outcome.end), "waiting for 1 and 0");
    let mut state = stored(&outcome.state);
    state.answer("c2", "yes").unwrap();
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(told(outcome.state.history())[3..5], ["output c1: with yes", "output c2: yes"]);
    assert_eq!(outcome.end, LoopEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn messages_that_were_added_meanwhile_follow_the_answer() {
    let model = ScriptedModel::default().then([call("c1", "ask", "\"name?\"")]).then("hello");
    let mut state = finish(&agent(&model), request()).await.state.follow_up(Item::user("are you there?"));
    assert_eq!(ended(&finish(&agent(&model), stored(&state)).await.end), "waiting for 1 and 0");
    state.answer("c1", "Ada").unwrap();
    let outcome = finish(&agent(&model), state).await;
    assert_eq!(told(outcome.state.history()), ["user", "call c1", "output c1: Ada", "user", "assistant"]);
}

#[tokio::test(start_paused = true)]
async fn of_two_interactions_with_one_id_the_first_waits_and_can_be_stored() {
    let model = ScriptedModel::default().then([call("c1", "ask", "\"a\""), call("c1", "ask", "\"b\"")]).then("done");
    let outcome = finish(&agent(&model), request()).await;
    let mut state = stored(&outcome.state);
    assert_eq!(state, outcome.state);
    state.answer("c1", "yes").unwrap();
    let outcome = finish(&agent(&model), state).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    let outputs: Vec<_> = told(outcome.state.history()).into_iter().filter(|item| item.starts_with("output")).collect();
    assert!(outputs[0].ends_with(": yes") && outputs[1].ends_with(": duplicate_call_id"), "{outputs:?}");
}

#[derive(serde::Serialize)]
struct Person {
    name: String,
    age: i32,
}

/// A loop that asks for a person, and its state when it waits.
async fn asking_who() -> (TurnLoop, LoopState) {
    let schema = json!({"type": "object", "required": ["name", "age"],
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}}});
    let who = Tool::interaction("who").success_json(schema).define().unwrap();
    let model = ScriptedModel::default().then([call("c1", "who", "")]).then("done");
    let agent = TurnLoop::new(model, Toolkit::from_iter([who]));
    let state = finish(&agent, request()).await.state;
    (agent, stored(&state))
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_checked_when_it_is_added() {
    let (agent, mut state) = asking_who().await;
    let before = state.clone();
    let wrong = agent.answer(&mut state, "c1", json!({"name": 5, "age": -1})).unwrap_err();
    let StateError::Answer { call_id, issues } = &wrong else { panic!("{wrong:?}") };
    assert_eq!((call_id.as_str(), issues.iter().count()), ("c1", 2), "{wrong}");
    assert_eq!(state, before);
    assert!(state.interactions()[0].is_open());

    agent.answer(&mut state, "c1", Person { name: "Ada".to_owned(), age: 36 }).unwrap();
    let rejected = agent.answer(&mut state, "c1", Person { name: "Ada".to_owned(), age: -36 });
    assert!(matches!(rejected, Err(StateError::Answer { .. })), "the valid answer stays");
    let outcome = finish(&agent, stored(&state)).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    assert_eq!(told(outcome.state.history())[2], r#"output c1: {"name":"Ada","age":36}"#);
    let gone = agent.answer(&mut outcome.state.clone(), "c1", 1).unwrap_err();
    assert_eq!(gone, StateError::UnknownInteraction { call_id: CallId::from("c1") });
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_can_not_be_checked_is_rejected() {
    struct Unwritable;

    impl serde::Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no form"))
        }
    }

    struct Panicking;

    impl serde::Serialize for Panicking {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("no form")
        }
    }

    let (agent, mut state) = asking_who().await;
    let before = state.clone();
    for rejected in [agent.answer(&mut state, "c1", Unwritable), agent.answer(&mut state, "c1", Panicking)] {
        let Err(StateError::Answer { issues, .. }) = rejected else { panic!("{rejected:?}") };
        assert!(issues.to_string().contains("no form"), "{issues}");
    }
    let other = TurnLoop::new(ScriptedModel::new(["done"]), kit());
    let gone = other.answer(&mut state, "c1", json!({"name": "Ada", "age": 36})).unwrap_err();
    assert_eq!(gone, StateError::UnknownTool { call_id: "c1".into(), tool: "who".to_owned() });
    let gone = other.answer(&mut state, "c9", 1).unwrap_err();
    assert_eq!(gone, StateError::UnknownInteraction { call_id: "c9".into() });
    assert_eq!(state, before);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_checked_against_the_type_of_its_tool() {
    struct Ask;

    impl haft_executor::ToolType for Ask {
        const NAME: &'static str = "ask";
        type Params = String;
        type Success = String;
        type Failure = haft_executor::NoFailure;
        type Services = ();
    }

    let model = ScriptedModel::default().then([call("c1", "ask", "\"name?\"")]).then("done");
    let mut state = finish(&agent(&model), request()).await.state;
    agent(&model).answer_as::<Ask>(&mut state, "c1", "Ada".to_owned()).unwrap();
    let missing = agent(&model).answer_as::<Ask>(&mut state, "c9", "Ada".to_owned()).unwrap_err();
    assert_eq!(missing, StateError::UnknownInteraction { call_id: "c9".into() });
    let outcome = finish(&agent(&model), state).await;
    assert_eq!(told(outcome.state.history())[2], "output c1: Ada");

    let (agent, mut state) = asking_who().await;
    let other = agent.answer_as::<Ask>(&mut state, "c1", "Ada".to_owned()).unwrap_err();
    let (tool, answered) = ("who".to_owned(), "ask".to_owned());
    assert_eq!(other, StateError::OtherTool { call_id: "c1".into(), tool, answered });
}
