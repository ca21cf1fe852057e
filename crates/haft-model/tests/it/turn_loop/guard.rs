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

/// A model that makes the same call in each of these many turns.
fn stuck(turns: usize) -> ScriptedModel {
    (0..turns).fold(ScriptedModel::default(), |model, n| model.then([call(&format!("c{n}"), "poll", "{}")]))
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_only_such_calls_ends_the_loop_once_the_model_was_told() {
    let (kit, runs) = counted();
    let agent = TurnLoop::new(stuck(15), kit);
    let told = words(&events(agent.start(request())).await);
    let end = [
        "output 0: repeated_call",
        "ended 11 with 1",
        "turn 12",
        "complete",
        "output 0: repeated_call",
        "ended 12 with 1",
        "repeatedcalls",
    ];
    let told = told.iter().map(String::as_str).filter(|word| *word != "delta");
    let told: Vec<_> = told.skip_while(|word| *word != "output 0: repeated_call").collect();
    assert_eq!(told, end);
    assert_eq!(runs.load(Ordering::SeqCst), 10, "ten times unless said otherwise");
}

#[tokio::test(start_paused = true)]
async fn the_model_reads_that_it_repeats_itself_and_may_go_on() {
    let (kit, runs) = counted();
    let model = stuck(3).then("I see, it is not ready.");
    let outcome = finish(&TurnLoop::new(model.clone(), kit).repeated_calls(2), request()).await;
    assert_eq!((outcome.end, runs.load(Ordering::SeqCst)), (LoopEnd::Stopped, 2));
    let Some(Item::ToolOutput(output)) = model.requests()[3].history.last().cloned() else { panic!("no output") };
    let text = output.output.to_string();
    assert!(text.contains("2 times in a row") && text.contains("once more ends the run"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn equal_calls_with_others_between_are_not_counted() {
    let (kit, runs) = counted();
    // An agent that runs its tests after each of twenty edits.
    let model = (0..20).fold(ScriptedModel::default(), |model, n| {
        let edit = call(&format!("e{n}"), "poll", &format!("{{\"edit\":{n}}}"));
        model.then([edit]).then([call(&format!("t{n}"), "poll", r#"{"run":"tests"}"#)])
    });
    let agent = TurnLoop::new(model.then("all pass"), kit.clone()).max_turns(50);
    let outcome = finish(&agent, request()).await;
    assert_eq!((outcome.end, runs.load(Ordering::SeqCst)), (LoopEnd::Stopped, 40));

    // Also after the model was told: another call begins a new row.
    let model = stuck(3).then([call("d1", "poll", "1")]).then([call("d2", "poll", "{}")]).then("done");
    let outcome = finish(&TurnLoop::new(model, kit).repeated_calls(2), request()).await;
    assert_eq!((outcome.end, runs.load(Ordering::SeqCst)), (LoopEnd::Stopped, 44));
}

#[tokio::test(start_paused = true)]
async fn a_rejected_call_neither_counts_nor_interrupts_a_row() {
    let (kit, runs) = counted();
    let model = ScriptedModel::default()
        .then([call("c1", "poll", "{}")])
        // The second call has the id of the first, so it is rejected.
        .then([call("c2", "poll", "{}"), call("c2", "poll", "1")])
        .then([call("c3", "poll", "{}")])
        .then("done");
    let outcome = finish(&TurnLoop::new(model, kit).repeated_calls(2), request()).await;
    assert_eq!((outcome.end, runs.load(Ordering::SeqCst)), (LoopEnd::Stopped, 2));
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
    let model = stuck(10);
    let agent = TurnLoop::new(model.clone(), kit.clone()).repeated_calls(3).max_turns(2);
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::MaxTurns { turns: 2 });
    let outcome = finish(&agent.clone().max_turns(9), stored(&outcome.state)).await;
    assert_eq!((outcome.end, outcome.state.turns(), runs.load(Ordering::SeqCst)), (LoopEnd::RepeatedCalls, 5, 3));

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
