//! The decide function.

use std::sync::{Arc, Mutex};

use haft_core::{Delta, ToolChoice, Usage};
use haft_model::{LanguageModel, LoopError, ModelInfo, ScriptedModel, ScriptedTurn, TurnStream};

use super::*;

#[tokio::test(start_paused = true)]
async fn it_reads_the_turn_its_results_and_the_totals() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let model = ScriptedModel::default()
        .then(ScriptedTurn::calls([call("c1", "double", "1"), call("c2", "note", "2")]).usage(Usage::new(5, 1)))
        .then(ScriptedTurn::text("done").usage(Usage::new(7, 1)));
    let agent = agent(&model).decide(move |after| {
        let results: Vec<_> = after.results().iter().map(|result| result.call_id.to_string()).collect();
        let signals: Vec<_> = after.signals().iter().map(|signal| signal.name().to_owned()).collect();
        let totals = (after.number(), after.usage().total_tokens, after.calls(), after.history().len());
        notes.lock().unwrap().push((after.turn().text(), results, signals, totals));
        async { after.as_usual() }
    });
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], (String::new(), vec!["c1".into()], vec!["note".into()], (1, 6, 2, 5)));
    assert_eq!(seen[1], ("done".into(), vec![], vec![], (2, 14, 2, 6)));
}

#[tokio::test(start_paused = true)]
async fn it_changes_the_next_request() {
    let model = ScriptedModel::default().then([call("c1", "double", "1")]).then("done");
    let agent = agent(&model).decide(|mut after| async move {
        if after.number() == 1 {
            let request = after.request_mut();
            request.model = "larger".to_owned();
            request.tool_choice = ToolChoice::None;
            request.instructions = Some("be brief".to_owned());
            request.temperature = Some(0.5);
            after.push(Item::user("hurry"));
        }
        after.as_usual()
    });
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    let asked = &model.requests()[1];
    assert_eq!((asked.model.as_str(), asked.instructions.as_deref()), ("larger", Some("be brief")));
    assert_eq!((&asked.tool_choice, asked.temperature), (&ToolChoice::None, Some(0.5)));
    assert_eq!(told(&asked.history), ["user", "call c1", "output c1: 2", "user"]);
    assert_eq!(outcome.state.request().model, "larger", "and every one after it");
}

#[tokio::test(start_paused = true)]
async fn it_may_stop_before_the_model_is_done_and_continue_after() {
    let model = ScriptedModel::default().then([call("c1", "double", "1")]).then("never");
    let outcome = finish(&agent(&model).decide(|after| async { after.stop() }), request()).await;
    assert_eq!((outcome.end, outcome.state.turns()), (LoopEnd::Stopped, 1));
    assert_eq!(told(outcome.state.history()).last().unwrap(), "output c1: 2");

    let model = ScriptedModel::new(["one", "two", "three"]);
    let agent =
        agent(&model).decide(|after| async move { if after.number() < 3 { after.next() } else { after.stop() } });
    assert_eq!(finish(&agent, request()).await.state.text(), "onetwothree");
}

#[tokio::test(start_paused = true)]
async fn other_tools_are_used_from_the_next_turn_on() {
    let triple = Tool::new("double").handler(|n: i64, _cx| async move { n * 3 }).unwrap();
    let other = Toolkit::from_iter([triple]);
    let model = ScriptedModel::default()
        .then([call("c1", "double", "1")])
        .then([call("c2", "double", "1"), call("c3", "add", "[1,1]")])
        .then([call("c4", "double", "2")])
        .then("done");
    let agent = agent(&model).decide(move |mut after| {
        let other = other.clone();
        async move {
            if after.number() == 1 {
                after.set_tools(other);
            }
            after.as_usual()
        }
    });
    let state = finish(&agent, request()).await.state;
    let outputs: Vec<_> = told(state.history()).into_iter().filter(|item| item.starts_with("output")).collect();
    assert_eq!(outputs, ["output c1: 2", "output c2: 3", "output c3: unknown_tool", "output c4: 6"]);
    let offered: Vec<_> = model.requests().iter().map(|request| request.tools.len()).collect();
    assert_eq!(offered, [5, 1, 1, 1], "a call runs the definition it was shown");
}

#[tokio::test(start_paused = true)]
async fn another_model_answers_from_the_next_turn_on() {
    let (first, second) = (ScriptedModel::new(["one"]), ScriptedModel::new(["two", "three"]));
    let taking_over = second.clone();
    let agent = agent(&first).decide(move |mut after| {
        let second = taking_over.clone();
        async move {
            if after.number() == 1 {
                after.set_model(second);
            }
            if after.number() < 3 { after.next() } else { after.stop() }
        }
    });
    assert_eq!(finish(&agent, request()).await.state.text(), "onetwothree");
    assert_eq!((first.requests().len(), second.requests().len()), (1, 2));
    // A new run begins with the model of the loop, whose script is over.
    let error = finish(&agent, request()).await.end;
    assert_eq!(error.error().map(LoopError::kind), Some("model"));
    assert_eq!(first.requests().len(), 2);
}

/// A model that answers and panics when it is dropped.
struct Bomb;

impl LanguageModel for Bomb {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("test")
    }

    fn stream_turn(&self, _: &TurnRequest) -> TurnStream {
        TurnStream::of([Ok(Delta::complete(Turn::new(vec![Item::assistant("boom")], Finish::Stop)))])
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_when_it_is_dropped_has_no_effect() {
    let replaced = agent(&ScriptedModel::new(["a"])).decide(|mut after| async move {
        match after.number() {
            1 => after.set_model(Bomb),
            2 => after.set_model(ScriptedModel::new(["z"])),
            _ => return after.stop(),
        }
        after.next()
    });
    let outcome = finish(&replaced, request()).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "aboomz"));

    let last = agent(&ScriptedModel::new(["a"])).decide(|mut after| async move {
        after.set_model(Bomb);
        after.stop()
    });
    assert_eq!(finish(&last, request()).await.end, LoopEnd::Stopped);
    let failing = agent(&ScriptedModel::new(["a"])).decide(|mut after| async move {
        after.set_model(Bomb);
        after.fail("no")
    });
    assert_eq!(ended(&finish(&failing, request()).await.end), "failed: decide");
}

#[tokio::test(start_paused = true)]
async fn it_may_rewrite_the_history() {
    let model = ScriptedModel::default().then([call("c1", "double", "1"), call("c2", "note", "1")]).then("done");
    let agent = agent(&model).decide(|mut after| async move {
        if after.number() == 1 {
            after.request_mut().history = vec![Item::user("in short: 1 doubled is 2")].into();
            after.signals_mut()[0].answer("unread");
        }
        after.as_usual()
    });
    let outcome = finish(&agent, request()).await;
    assert_eq!(
        (outcome.end, told(outcome.state.history())),
        (LoopEnd::Stopped, vec!["user".into(), "assistant".into()])
    );
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_it_ends_the_loop_with_a_consistent_state() {
    let at_once = |_: haft_model::AfterTurn| -> std::future::Ready<haft_model::Flow> { panic!("at once") };
    let later = |after: haft_model::AfterTurn| async move {
        tokio::task::yield_now().await;
        assert_ne!(after.number(), 1, "later");
        after.stop()
    };
    let model = || ScriptedModel::default().then([call("c1", "double", "1"), call("c2", "note", "1")]).then("done");
    for (broken, words) in [(agent(&model()).decide(at_once), "at once"), (agent(&model()).decide(later), "later")] {
        let outcome = finish(&broken, request()).await;
        let LoopEnd::Failed(LoopError::DecidePanicked { message }) = &outcome.end else { panic!("{:?}", outcome.end) };
        assert!(message.contains(words), "{message}");
        assert_eq!(told(outcome.state.history())[3..], ["output c1: 2", "output c2: null"]);

        let outcome = finish(&agent(&ScriptedModel::default().then("done")), stored(&outcome.state)).await;
        assert_eq!((outcome.end, outcome.state.turns()), (LoopEnd::Stopped, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_in_it_ends_the_loop_and_the_turn_is_decided_again() {
    let model = ScriptedModel::default().then("hello").then("never");
    let failing = agent(&model).decide(|mut after| async move {
        after.push(Item::user("never said"));
        after.fail(std::io::Error::other("the disk is full"))
    });
    let outcome = finish(&failing, request()).await;
    let LoopEnd::Failed(error) = &outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!(error.to_string(), "the decide function failed: the disk is full");
    assert_eq!(told(outcome.state.history()), ["user", "assistant"]);

    let outcome = finish(&agent(&model), stored(&outcome.state)).await;
    assert_eq!(
        (outcome.end, outcome.state.turns()),
        (LoopEnd::Stopped, 1),
        "the turn is over, and the model is not asked"
    );
    assert_eq!(model.requests().len(), 1);
}
