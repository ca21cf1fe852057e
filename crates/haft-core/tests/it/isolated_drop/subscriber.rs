//! Tracing subscribers are user code too: one that panics loses no result.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use haft_core::{
    ApprovalPolicy, ApprovalRequest, Cx, Outcome, RunOptions, Tool, ToolCall, ToolFailure, ToolResult, Toolkit, Trace,
};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_core::span::Current;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Enabled,
    NewSpan,
    Enter,
    Exit,
    Record,
    Event,
    CloneSpan,
    Close,
    Current,
    Everywhere,
}

const PLACES: [Place; 10] = [
    Place::Enabled,
    Place::NewSpan,
    Place::Enter,
    Place::Exit,
    Place::Record,
    Place::Event,
    Place::CloneSpan,
    Place::Close,
    Place::Current,
    Place::Everywhere,
];

/// A subscriber that panics in one method, or in all.
struct Broken {
    place: Place,
    ids: AtomicU64,
    metadata: Mutex<Option<&'static Metadata<'static>>>,
    /// The spans that are entered.
    inside: Mutex<Vec<Id>>,
    panics: Arc<AtomicUsize>,
}

impl Broken {
    fn at(&self, place: Place) {
        if self.place == place || self.place == Place::Everywhere {
            self.panics.fetch_add(1, Ordering::SeqCst);
            panic!("{place:?}");
        }
    }
}

impl Subscriber for Broken {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_ours = metadata.target().starts_with("haft");
        if is_ours {
            self.at(Place::Enabled);
        }
        is_ours
    }

    fn register_callsite(&self, _: &'static Metadata<'static>) -> tracing_core::Interest {
        tracing_core::Interest::sometimes()
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.at(Place::NewSpan);
        *self.metadata.lock().unwrap() = Some(span.metadata());
        Id::from_u64(self.ids.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        self.at(Place::Record);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.at(Place::Event);
    }

    fn enter(&self, id: &Id) {
        self.at(Place::Enter);
        self.inside.lock().unwrap().push(id.clone());
    }

    fn exit(&self, _: &Id) {
        self.inside.lock().unwrap().pop();
        self.at(Place::Exit);
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.at(Place::CloneSpan);
        id.clone()
    }

    fn try_close(&self, _: Id) -> bool {
        self.at(Place::Close);
        true
    }

    fn current_span(&self) -> Current {
        self.at(Place::Current);
        let inside = self.inside.lock().unwrap().last().cloned();
        inside
            .zip(*self.metadata.lock().unwrap())
            .map_or_else(Current::none, |(id, metadata)| Current::new(id, metadata))
    }
}

fn kit() -> Toolkit {
    let waits = |n: u32, _: Cx| async move {
        tokio::task::yield_now().await;
        n
    };
    let fails = |_: u32, _: Cx| async { Err::<(), _>("no") };
    let panics = |_: u32, _: Cx| async { panic!("the handler") };
    let tools = [
        Tool::new("plain").run(|n: u32, _: Cx| async move { n }).unwrap(),
        Tool::new("waits").run(waits).unwrap(),
        Tool::new("asks").needs_approval(ApprovalPolicy::always()).run(|n: u32, _: Cx| async move { n }).unwrap(),
        Tool::new("blocks").run_blocking(|n: u32, _: Cx| n).unwrap(),
        Tool::new("fails").try_run_opaque(fails).unwrap(),
        Tool::new("panics").run::<_, (), _, _>(panics).unwrap(),
    ];
    Toolkit::from_iter(tools).wrap(Trace::new().with_content())
}

const NAMES: [&str; 7] = ["plain", "waits", "asks", "blocks", "fails", "panics", "missing"];

fn expected(result: &ToolResult) {
    let is_ok = !["fails", "panics", "missing"].contains(&result.tool.as_str());
    assert_eq!(result.is_ok(), is_ok, "{result:?}");
    if let (Outcome::Ok(output), true) = (&result.outcome, is_ok) {
        assert_eq!(output.value.as_str(), "7");
    }
}

fn calls() -> impl Iterator<Item = ToolCall> {
    NAMES.into_iter().map(|name| ToolCall::new(name, name, "7"))
}

fn options() -> RunOptions {
    RunOptions::new().approvals(|request: ApprovalRequest, _: Cx| async move { request.approve() })
}

/// Runs a future under such a subscriber, which must have panicked at least once.
async fn listening(place: Place, work: impl Future<Output = ()>) {
    let panics = Arc::<AtomicUsize>::default();
    let (ids, metadata, inside) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
    let broken = Broken { place, ids, metadata, inside, panics: Arc::clone(&panics) };
    let listening = tracing::subscriber::set_default(broken);
    work.await;
    drop(listening);
    assert!(panics.load(Ordering::SeqCst) > 0, "{place:?}");
}

#[tokio::test]
async fn a_subscriber_that_panics_loses_no_result_of_a_run() {
    for place in PLACES {
        for options in [options(), options().spawned()] {
            listening(place, async {
                let results = kit().run(calls()).with(options).collect_results().await;
                assert_eq!(results.len(), NAMES.len());
                results.iter().for_each(expected);
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_subscriber_that_panics_loses_no_result_of_a_single_call() {
    for place in PLACES {
        listening(place, async {
            let (kit, options) = (kit(), options());
            for call in calls() {
                expected(&kit.run_call_with(&call, &options).await);
                if call.name != "asks" {
                    expected(&kit.run_call(&call).await);
                }
            }
        })
        .await;
    }
}

#[tokio::test]
async fn a_subscriber_that_panics_does_not_affect_the_drop_of_a_run() {
    for place in PLACES {
        listening(place, async {
            drop(kit().run(calls()));
            let mut run = kit().run(calls()).with(options());
            assert!(run.next().await.is_some());
            drop(run);
        })
        .await;
    }
}

/// An error whose `Display` fails.
#[derive(Debug)]
struct Mute;

impl std::error::Error for Mute {}

impl std::fmt::Display for Mute {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("mute");
    }
}

#[tokio::test]
async fn an_approver_whose_error_has_no_display_denies_only_its_own_call() {
    let records = Arc::<AtomicUsize>::default();
    let written = Arc::clone(&records);
    let options = RunOptions::new()
        .approvals(|_: ApprovalRequest, _: Cx| async { Err::<haft_core::ApprovalResponse, _>(Mute) })
        .audit(move |_| {
            written.fetch_add(1, Ordering::SeqCst);
        });
    let results = kit().run(calls()).with(options).collect_results().await;
    assert_eq!(results[2].failure().map(|failure: &ToolFailure| failure.kind.as_str()), Some("denied"));
    assert!(results[0].is_ok() && results[1].is_ok());
    assert_eq!(records.load(Ordering::SeqCst), 1);
}
