//! A second model in the place of one that is unavailable.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{Delta, Item, TurnRequest, Usage};
use haft_model::{Expect, Fallback, LanguageModel, ModelError, ScriptedModel, ScriptedTurn};

fn request() -> TurnRequest {
    TurnRequest::new("first-model", vec![Item::user("hi")])
}

fn limited(seconds: Option<u64>) -> ModelError {
    ModelError::RateLimited { message: "slow".into(), retry_after: seconds.map(Duration::from_secs) }
}

fn down() -> ModelError {
    ModelError::Unavailable { message: "down".into(), retry_after: None, source: None }
}

#[tokio::test]
async fn the_second_model_is_asked_if_the_first_is_unavailable_and_for_nothing_else() {
    let message = || "no".into();
    let table = [
        (down(), true),
        (ModelError::TimedOut { after: Duration::from_secs(1) }, true),
        (ModelError::IncompleteTurn, true),
        (ModelError::QuotaExceeded { message: message() }, true),
        (limited(None), true),
        (limited(Some(11)), true),
        (limited(Some(10)), false),
        (ModelError::InvalidRequest { message: message(), param: None }, false),
        (ModelError::ContextTooLong { message: message() }, false),
        (ModelError::ContentFiltered { message: message() }, false),
        (ModelError::Authentication { message: message() }, false),
        (ModelError::UnknownModel { message: message() }, false),
        (ModelError::Unsupported { capability: "tools".to_owned() }, false),
        (ModelError::Unreadable { message: message(), source: None }, false),
    ];
    for (error, switches) in table {
        let shown = format!("{error:?}");
        let switched = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&switched);
        let second = ScriptedModel::new(["second"]);
        let model = Fallback::new(ScriptedModel::new([error]), second.clone())
            .on_switch(move |switch| log.lock().unwrap().push(format!("{:?}", switch.error)));
        let turn = model.stream_turn(&request()).into_turn().await;
        match (switches, turn) {
            (true, Ok(turn)) => assert_eq!(turn.text(), "second"),
            (false, Err(error)) => assert_eq!(format!("{error:?}"), shown, "the error is that of the first"),
            (_, turn) => panic!("{shown}: {turn:?}"),
        }
        let expected = if switches { vec![shown] } else { Vec::new() };
        assert_eq!((&*switched.lock().unwrap(), second.requests().len()), (&expected, expected.len()));
    }
    let patient = Fallback::new(ScriptedModel::new([limited(Some(11))]), ScriptedModel::new(["second"]));
    let turn = patient.patience(Duration::from_secs(11)).stream_turn(&request()).into_turn().await;
    assert_eq!(turn.unwrap_err().kind(), "rate_limited");
}

#[tokio::test]
async fn nothing_is_switched_after_content_was_streamed() {
    let first = || ScriptedModel::default().then(ScriptedTurn::text("Hel").then_failed(down()));
    let second = ScriptedModel::new(["second"]);
    let mut stream = Fallback::new(first(), second.clone()).stream_turn(&request());
    let mut deltas = Vec::new();
    let error = loop {
        match stream.next().await.unwrap() {
            Ok(delta) => deltas.push(delta),
            Err(error) => break error,
        }
    };
    assert_eq!((error.kind(), deltas.is_empty(), second.requests().len()), ("unavailable", false, 0));
}

/// A model that reports its usage and fails.
struct Counts;

impl LanguageModel for Counts {
    fn info(&self) -> haft_model::ModelInfo {
        haft_model::ModelInfo::new("counts")
    }

    fn stream_turn(&self, _: &TurnRequest) -> haft_model::TurnStream {
        haft_model::TurnStream::of([Ok(Delta::UsageUpdate(Usage::new(7, 0))), Err(down())])
    }
}

#[tokio::test]
async fn a_count_of_tokens_is_no_content() {
    let turn = Fallback::new(Counts, ScriptedModel::new(["second"])).stream_turn(&request()).into_turn().await;
    assert_eq!(turn.unwrap().text(), "second");
}

#[tokio::test]
async fn fallbacks_nest_and_the_last_error_is_returned() {
    let failing = || ScriptedModel::default().then(down()).then(limited(None));
    let model = Fallback::new(failing(), Fallback::new(failing(), ScriptedModel::new(["third"])));
    assert_eq!(model.info(), failing().info());
    assert_eq!(model.stream_turn(&request()).into_turn().await.unwrap().text(), "third");
    // The third has nothing more to say.
    assert_eq!(model.stream_turn(&request()).into_turn().await.unwrap_err().kind(), "off_script");
}

#[tokio::test]
async fn a_second_model_without_a_name_gets_that_of_the_request() {
    let second = ScriptedModel::default().then(ScriptedTurn::text("second").expect(Expect::new().items(1)));
    let model = Fallback::new(ScriptedModel::new([down()]), second.clone());
    model.stream_turn(&request()).into_turn().await.unwrap();
    assert_eq!(second.requests()[0].model, "first-model");
}
