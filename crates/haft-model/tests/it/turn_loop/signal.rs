//! Signals.

use haft_model::ScriptedModel;
use serde_json::json;

use super::*;

#[tokio::test(start_paused = true)]
async fn signals_are_read_answered_and_closed() {
    let model = ScriptedModel::default()
        .then([call("c1", "note", "1"), call("c2", "double", "5"), call("c3", "note", "3"), call("c4", "note", "900")])
        .then("done");
    let agent = agent(&model).decide(|mut after| async move {
        for signal in after.signals_mut() {
            if signal.decode::<u8>().unwrap() == 3 {
                signal.answer(json!({"noted": signal.arguments}));
            }
        }
        after.as_usual()
    });
    let seen = events(agent.start(request())).await;
    let told_events: Vec<_> = words(&seen).into_iter().filter(|word| word != "delta").collect();
    assert!(told_events.contains(&"signal c1".to_owned()) && told_events.contains(&"signal c3".to_owned()));
    assert!(!told_events.contains(&"signal c4".to_owned()), "one with bad arguments is not surfaced");
    assert_eq!(told_events.iter().filter(|word| word.starts_with("output")).count(), 4, "one output for each");
    assert!(told_events.contains(&"ended 1 with 4".to_owned()));
    let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
    assert_eq!(
        told(state.history())[5..9],
        ["output c1: null", "output c2: 10", r#"output c3: {"noted":3}"#, "output c4: input_validation_error"]
    );
}

#[tokio::test(start_paused = true)]
async fn results_of_a_turn_are_in_the_order_of_its_calls() {
    let model = ScriptedModel::default().then([call("c1", "note", "1"), call("c2", "double", "5")]).then("done");
    let seen = events(agent(&model).start(request())).await;
    let results = seen.iter().find_map(|event| match event {
        LoopEvent::TurnEnded { results, .. } => Some(results),
        _ => None,
    });
    let ids: Vec<_> = results.unwrap().iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids, ["c1", "c2"]);
}

#[tokio::test(start_paused = true)]
async fn thousands_of_signals_in_one_turn_each_get_their_answer() {
    let ids: Vec<String> = (0..2000).map(|n| format!("c{n}")).collect();
    let calls =
        ids.iter().enumerate().map(|(n, id)| if n % 5 == 4 { call(id, "double", "1") } else { call(id, "note", "4") });
    let model = ScriptedModel::default().then(calls.collect::<Vec<_>>()).then("done");
    let agent = agent(&model).repeated_calls(0).decide(|mut after| async move {
        for signal in after.signals_mut() {
            signal.answer(signal.call_id().to_string());
        }
        after.as_usual()
    });
    let seen = events(agent.start(request())).await;
    let mut places: Vec<(usize, String)> = Vec::new();
    for event in &seen {
        match event {
            LoopEvent::Tool(ToolEvent::Output { index, result }) => places.push((*index, result.call_id.to_string())),
            LoopEvent::TurnEnded { number: 1, results, .. } => {
                assert!(results.iter().map(|result| result.call_id.as_str()).eq(ids.iter().map(String::as_str)));
            }
            _ => {}
        }
    }
    places.sort_unstable();
    assert!(places.into_iter().eq(ids.iter().cloned().enumerate()), "one output each, with the place of its call");
    let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
    let outputs = told(&state.history()[2001..4001]);
    let expected = ids.iter().enumerate().map(|(n, id)| format!("output {id}: {}", if n % 5 == 4 { "2" } else { id }));
    assert!(outputs.into_iter().eq(expected));
}

#[tokio::test(start_paused = true)]
async fn answers_reach_their_own_signals_in_any_order_of_the_list() {
    let model = ScriptedModel::default().then([call("c1", "note", "1"), call("c2", "note", "2")]).then("done");
    let agent = agent(&model).decide(|mut after| async move {
        if let [first, second] = after.signals_mut() {
            assert_eq!((first.call().arguments.as_str(), second.name()), ("1", "note"));
            second.answer("two");
            *first = second.clone();
        }
        after.as_usual()
    });
    let seen = events(agent.start(request())).await;
    let outputs: Vec<_> = words(&seen).into_iter().filter(|word| word.starts_with("output")).collect();
    assert_eq!(outputs, ["output 0: null", "output 1: two"]);
    let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
    assert_eq!(told(state.history())[3..5], ["output c1: null", "output c2: two"]);
}

#[tokio::test(start_paused = true)]
async fn a_validator_that_panics_fails_its_own_call_only() {
    let validator = haft_schema::Validator::new(|_: &serde_json::Value| panic!("broken check"));
    let schema = haft_schema::Schema::json_with(json!({}), haft_schema::Validation::With(validator)).unwrap();
    let fragile = Tool::signal("fragile").params_schema(schema).define().unwrap();
    let model = ScriptedModel::default().then([call("c1", "fragile", "1"), call("c2", "note", "1")]).then("done");
    let outcome = finish(&TurnLoop::new(model, kit().with(fragile).unwrap()), request()).await;
    assert_eq!(told(outcome.state.history())[3..5], ["output c1: execution_error", "output c2: null"]);
}
