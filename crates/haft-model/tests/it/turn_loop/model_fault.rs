//! Models that fail, disconnect, stay pending or panic.

use std::time::Duration;

use haft_executor::Backoff;
use haft_model::{LanguageModel, LoopError, ModelError, ModelInfo, ScriptedModel, ScriptedTurn, TurnStream};
use tokio::time::Instant;

use super::*;

fn busy(retry_after: Option<Duration>) -> ModelError {
    ModelError::RateLimited { message: "busy".into(), retry_after }
}

#[tokio::test(start_paused = true)]
async fn transient_errors_are_retried_after_the_requested_wait() {
    let model = ScriptedModel::default()
        .then(ScriptedTurn::text("hel").then_failed(busy(Some(Duration::from_secs(7)))))
        .then(ScriptedTurn::text("hel").incomplete())
        .then("hello");
    let started = Instant::now();
    let agent = agent(&model).backoff(Backoff::constant(Duration::from_secs(2)));
    let told = words(&events(agent.start(request())).await);
    let told: Vec<_> = told.into_iter().filter(|word| word != "delta").collect();
    assert_eq!(
        told,
        [
            "turn 1",
            "retry 1 after rate_limited",
            "retry 2 after incomplete_turn",
            "complete",
            "ended 1 with 0",
            "stopped"
        ]
    );
    assert_eq!(started.elapsed(), Duration::from_secs(9));
    model.finish().unwrap();
}

#[tokio::test(start_paused = true)]
async fn retries_are_limited_and_the_last_error_is_returned() {
    let model = ScriptedModel::new([(); 9].map(|()| ScriptedTurn::failed(busy(None))));
    for (retries, asked) in [(0, 1), (3, 5)] {
        let outcome = finish(&agent(&model).retries(retries), request()).await;
        let LoopEnd::Failed(LoopError::Model { source: error, .. }) = &outcome.end else { panic!("{:?}", outcome.end) };
        assert_eq!(error.kind(), "rate_limited");
        assert_eq!(model.requests().len(), asked);
        assert_eq!((outcome.state.history(), outcome.state.turns()), (&request().history[..], 0));
    }
}

#[tokio::test(start_paused = true)]
async fn permanent_errors_are_not_retried() {
    let model = ScriptedModel::default().then(ModelError::Authentication { message: "no".into() }).then("never");
    let outcome = finish(&agent(&model), request()).await;
    assert_eq!(ended(&outcome.end), "failed: model");
    assert!(outcome.end.error().unwrap().to_string().contains("credentials"));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn each_turn_has_its_own_retries() {
    let model =
        ScriptedModel::default().then(busy(None)).then([call("c1", "double", "1")]).then(busy(None)).then("done");
    let agent = agent(&model).retries(1).backoff(Backoff::constant(Duration::ZERO));
    assert_eq!(finish(&agent, request()).await.end, LoopEnd::Stopped);
}

/// A model that panics at a given point.
struct Panics(&'static str);

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("not dropped in peace");
    }
}

impl LanguageModel for Panics {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("test")
    }

    fn stream_turn(&self, _: &TurnRequest) -> TurnStream {
        let Self(place) = *self;
        assert_ne!(place, "opening", "no stream");
        let held = (place == "dropping").then_some(PanicsWhenDropped);
        TurnStream::new(futures_util::stream::poll_fn(move |_| {
            let _held = &held;
            assert_ne!(place, "polling", "no delta");
            let turn = Turn::new(vec![Item::assistant("fine")], Finish::Stop);
            std::task::Poll::Ready(Some(Ok(haft_core::Delta::complete(turn))))
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_model_ends_the_loop_with_a_consistent_state() {
    for place in ["opening", "polling"] {
        let outcome = finish(&TurnLoop::new(Panics(place), kit()), request()).await;
        assert_eq!(ended(&outcome.end), "failed: model_panicked");
        assert_eq!(outcome.state.history(), request().history, "the request came back");
        assert_eq!(outcome.state.request().model, "any");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_panics_when_it_is_dropped_does_not_lose_its_turn() {
    let outcome = finish(&TurnLoop::new(Panics("dropping"), kit()), request()).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "fine"));
}

#[tokio::test(start_paused = true)]
async fn waits_that_are_too_long_in_total_are_not_made() {
    let seconds = Duration::from_secs;
    let agent = |model: &ScriptedModel| agent(model).retries(9).backoff(Backoff::constant(seconds(2)));
    for (most, asked, waited) in [(0, 1, 0), (3, 2, 2), (4, 3, 4), (5, 3, 4)] {
        let model = ScriptedModel::new([(); 9].map(|()| ScriptedTurn::failed(busy(None))));
        let started = Instant::now();
        let outcome = finish(&agent(&model).max_retry_wait(seconds(most)), request()).await;
        assert_eq!(ended(&outcome.end), "failed: model");
        assert_eq!((model.requests().len(), started.elapsed()), (asked, seconds(waited)), "at most {most}");
    }
    // By default, a provider that asks for an hour is not waited for; its wait is in the error.
    let hour = seconds(3600);
    let model = ScriptedModel::new([ScriptedTurn::failed(busy(Some(hour)))]);
    let started = Instant::now();
    let outcome = finish(&agent(&model), request()).await;
    let LoopEnd::Failed(LoopError::Model { source: error, .. }) = &outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!((error.retry_after(), started.elapsed()), (Some(hour), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn each_turn_may_wait_as_long_as_any_other() {
    let two = Duration::from_secs(2);
    let model =
        ScriptedModel::default().then(busy(None)).then([call("c1", "double", "1")]).then(busy(None)).then("done");
    let agent = agent(&model).max_retry_wait(two).backoff(Backoff::constant(two));
    assert_eq!(finish(&agent, request()).await.end, LoopEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_loop_does_not_wait_for_a_retry() {
    let model = ScriptedModel::new([ScriptedTurn::failed(busy(Some(Duration::from_secs(60))))]);
    let mut run = agent(&model).start(request());
    while !matches!(run.next().await, Some(LoopEvent::Retrying { .. })) {}
    let started = Instant::now();
    run.cancel();
    assert_eq!(run.finish().await.end, LoopEnd::Cancelled);
    assert_eq!(started.elapsed(), Duration::ZERO);
}

/// A model that is always busy.
struct Busy;

impl LanguageModel for Busy {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("test")
    }

    fn stream_turn(&self, _: &TurnRequest) -> TurnStream {
        TurnStream::failed(busy(None))
    }
}

/// Returns the waits of each of these many concurrent runs.
async fn waits(agent: &TurnLoop, runs: usize) -> Vec<Vec<Duration>> {
    let run = async |_| {
        let events = events(agent.start(request())).await;
        let wait = |event| if let LoopEvent::Retrying { wait, .. } = event { Some(wait) } else { None };
        events.into_iter().filter_map(wait).collect()
    };
    futures_util::future::join_all((0..runs).map(run)).await
}

#[tokio::test(start_paused = true)]
async fn runs_that_fail_together_do_not_retry_together() {
    let different = |waits: &[Vec<Duration>]| waits.iter().collect::<std::collections::HashSet<_>>().len();
    let agent = TurnLoop::new(Busy, kit()).retries(1);
    assert_eq!(different(&waits(&agent, 200).await), 200);
    // Loops that share a setting, as those of a server that creates one per request.
    let backoff = Backoff::exponential(Duration::from_secs(1));
    let mut first_waits = Vec::new();
    for _ in 0..200 {
        first_waits.extend(waits(&agent.clone().backoff(backoff.clone()), 1).await);
        first_waits.extend(waits(&TurnLoop::new(Busy, kit()).retries(1).backoff(backoff.clone()), 1).await);
    }
    assert_eq!(different(&first_waits), 400);
}

/// The variable that names the file for the waits of a loop in another process.
const FILE: &str = "HAFT_TEST_WAITS";

#[tokio::test(start_paused = true)]
async fn separate_loops_draw_their_own_waits() {
    let mut first_waits = std::collections::BTreeSet::new();
    for _ in 0..200 {
        first_waits.extend(waits(&TurnLoop::new(Busy, kit()).retries(1), 1).await.remove(0));
    }
    assert!(first_waits.len() > 195, "{first_waits:?}");
    if let Some(file) = std::env::var_os(FILE) {
        let lines: Vec<_> = first_waits.iter().map(|wait| wait.as_nanos().to_string()).collect();
        std::fs::write(file, lines.join("\n")).unwrap();
    }
}

#[test]
fn processes_that_start_together_do_not_retry_together() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let waits = [0, 1].map(|number| {
        let file = folder.join(format!("waits-{}-{number}", std::process::id()));
        let test = "turn_loop::model_fault::separate_loops_draw_their_own_waits";
        let mut program = std::process::Command::new(std::env::current_exe().unwrap());
        let ran = program.args(["--exact", test]).env(FILE, &file).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(file).unwrap();
        text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    });
    assert!(waits.iter().all(|waits| waits.len() > 195), "{waits:?}");
    assert!(waits[0].intersection(&waits[1]).count() < 5, "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_seed_determines_the_waits_of_every_run() {
    let seeded = |seed| {
        let backoff = Backoff::exponential(Duration::from_secs(1)).seed(seed);
        TurnLoop::new(Busy, kit()).retries(3).backoff(backoff)
    };
    let first = waits(&seeded(7), 20).await;
    assert_eq!(waits(&seeded(7), 20).await, first);
    assert_ne!(waits(&seeded(8), 20).await, first);
    assert!(first[1..].iter().all(|waits| *waits != first[0]), "{first:?}");
}

#[tokio::test(start_paused = true)]
async fn a_provider_may_be_down_for_more_than_a_minute() {
    for _ in 0..50 {
        let started = Instant::now();
        let waits = waits(&TurnLoop::new(Busy, kit()), 1).await.remove(0);
        let planned = [1, 2, 4, 8, 16, 30, 30, 30, 30, 30].map(Duration::from_secs);
        assert_eq!(waits.len(), planned.len(), "ten retries");
        assert!(waits.iter().zip(planned).all(|(wait, most)| (most / 2..=most).contains(wait)), "{waits:?}");
        let elapsed = started.elapsed();
        assert!((Duration::from_secs(90)..=Duration::from_secs(181)).contains(&elapsed), "{elapsed:?}");
    }
    // A provider that asks for a minute each time is waited for up to five minutes.
    let model = ScriptedModel::new([(); 9].map(|()| ScriptedTurn::failed(busy(Some(Duration::from_secs(60))))));
    let backoff = Backoff::constant(Duration::from_secs(1));
    let started = Instant::now();
    let outcome = finish(&agent(&model).backoff(backoff), request()).await;
    assert_eq!((ended(&outcome.end).as_str(), started.elapsed()), ("failed: model", Duration::from_secs(300)));
}
