//! Limits of repeated calls and of turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_model::ScriptedModel;

use super::*;

fn counted() -> (Toolkit, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let poll = Tool::dynamic("poll").handler(move |_: serde_json::Value, _cx| {
        count.fetch_add(1, Ordering::SeqCst);
        async { "not yet" }
    });
    (Toolkit::from_iter([poll.unwrap()]), runs)
}

#[tokio::test(start_paused = true)]
async fn a_call_beyond_the_limit_is_not_run() {
    let (kit, runs) = counted();
    let same = [r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, r#" {"a": 1, "b": 2}"#];
    let model = ScriptedModel::default()
        .then([call("c1", "poll", same[0]), call("c2", "poll", same[1])])
        .then([call("c3", "poll", same[2]), call("c4", "poll", r#"{"a":2,"b":2}"#)])
        .then("enough");
    let outcome = finish(&TurnLoop::new(model, kit).repeated_calls(2), request()).await;
    assert_eq!((outcome.end, runs.load(Ordering::SeqCst)), (LoopEnd::Stopped, 3));
    assert_eq!(told(outcome.state.history())[7..9], ["output c3: repeated_call", "output c4: not yet"]);
    assert_eq!(outcome.state.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_only_such_calls_ends_the_loop() {
    let (kit, runs) = counted();
    let model = (0..9).fold(ScriptedModel::default(), |model, n| model.then([call(&format!("c{n}"), "poll", "{}")]));
    let agent = TurnLoop::new(model, kit);
    let told = words(&events(agent.start(request())).await);
    assert_eq!(told[told.len() - 3..], ["output 0: repeated_call", "ended 6 with 1", "repeatedcalls"]);
    assert_eq!(runs.load(Ordering::SeqCst), 5, "five times unless said otherwise");
}

#[tokio::test(start_paused = true)]
async fn numbers_are_compared_by_value_however_large() {
    let (kit, runs) = counted();
    let larger = (7..10).map(|n| call(&format!("c{n}"), "poll", &format!("1844674407370955161{n}")));
    let model = ScriptedModel::default()
        .then(larger.collect::<Vec<_>>())
        .then([call("d1", "poll", "1"), call("d2", "poll", "1.0")])
        .then("done");
    let outcome = finish(&TurnLoop::new(model, kit).repeated_calls(1), request()).await;
    assert_eq!((outcome.end, runs.load(Ordering::SeqCst)), (LoopEnd::Stopped, 4));
    assert_eq!(told(outcome.state.history())[9..11], ["output d1: not yet", "output d2: repeated_call"]);
}

#[tokio::test(start_paused = true)]
async fn a_state_stores_arguments_once_and_no_counts_without_a_limit() {
    let (kit, _) = counted();
    let model = || {
        let long = format!("\"{}\"", "x".repeat(100_000));
        ScriptedModel::default().then([call("c1", "poll", &long)]).then("done")
    };
    let seen =
        async |agent: TurnLoop| serde_json::to_value(finish(&agent, request()).await.state).unwrap()["seen"].clone();
    let counted = seen(TurnLoop::new(model(), kit.clone())).await;
    assert!(counted["poll"].is_object() && counted.to_string().len() < 200, "{counted}");
    assert_eq!(seen(TurnLoop::new(model(), kit).repeated_calls(0)).await, serde_json::json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_state_with_calls_in_another_form_is_read_and_they_match_nothing() {
    let (kit, runs) = counted();
    let mut written = serde_json::to_value(LoopState::new(request())).unwrap();
    written["seen"] = serde_json::json!({"poll": {"{}": 9}});
    let state: LoopState = serde_json::from_value(written).unwrap();
    let model = ScriptedModel::default().then([call("c1", "poll", "{}")]).then("done");
    assert_eq!(finish(&TurnLoop::new(model, kit), state).await.end, LoopEnd::Stopped);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn calls_are_counted_through_a_stop_and_zero_is_no_limit() {
    let (kit, runs) = counted();
    let model = (0..9).fold(ScriptedModel::default(), |model, n| model.then([call(&format!("c{n}"), "poll", "{}")]));
    let agent = TurnLoop::new(model.clone(), kit.clone()).repeated_calls(3).max_turns(2);
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::MaxTurns { turns: 2 });
    let outcome = finish(&agent.clone().max_turns(9), stored(&outcome.state)).await;
    assert_eq!((outcome.end, outcome.state.turns(), runs.load(Ordering::SeqCst)), (LoopEnd::RepeatedCalls, 4, 3));

    let unlimited = TurnLoop::new(model, kit).repeated_calls(0).max_turns(5);
    let outcome = finish(&unlimited, request()).await;
    assert_eq!((outcome.end, runs.load(Ordering::SeqCst)), (LoopEnd::MaxTurns { turns: 5 }, 8));
}

#[tokio::test(start_paused = true)]
async fn turns_are_counted_through_a_stop_and_reset_by_a_follow_up() {
    let model = ScriptedModel::default()
        .then([call("c1", "double", "1")])
        .then([call("c2", "double", "2")])
        .then("two")
        .then("three");
    let agent = agent(&model).max_turns(1);
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::MaxTurns { turns: 1 });
    let again = finish(&agent, stored(&outcome.state)).await;
    assert_eq!(
        (again.end, again.state),
        (LoopEnd::MaxTurns { turns: 1 }, outcome.state.clone()),
        "the model was not asked"
    );
    assert_eq!(model.requests().len(), 1);

    let outcome = finish(&agent.clone().max_turns(9), outcome.state).await;
    assert_eq!((outcome.end, outcome.state.turns()), (LoopEnd::Stopped, 3));
    let outcome = finish(&agent, outcome.state.follow_up(Item::user("and now?"))).await;
    assert_eq!((outcome.end, outcome.state.turns(), outcome.state.calls()), (LoopEnd::Stopped, 1, 0));
    assert_eq!(outcome.state.text(), "three");
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_zero_turns_allows_none() {
    let model = ScriptedModel::default();
    let outcome = finish(&agent(&model).max_turns(0), request()).await;
    assert_eq!(outcome.end, LoopEnd::MaxTurns { turns: 0 });
}
