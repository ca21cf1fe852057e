//! A subscriber that panics. Also used by the tests of haft-middleware.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_core::span::Current;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// The method of the subscriber that panics.
pub(crate) enum PanickingMethod {
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

pub(crate) const PANICKING_METHODS: [PanickingMethod; 10] = [
    PanickingMethod::Enabled,
    PanickingMethod::NewSpan,
    PanickingMethod::Enter,
    PanickingMethod::Exit,
    PanickingMethod::Record,
    PanickingMethod::Event,
    PanickingMethod::CloneSpan,
    PanickingMethod::Close,
    PanickingMethod::Current,
    PanickingMethod::Everywhere,
];

/// Panics in one method, or wherever it can.
struct Broken {
    method: PanickingMethod,
    ids: AtomicU64,
    metadata: Mutex<Option<&'static Metadata<'static>>>,
    /// The spans that are entered.
    inside: Mutex<Vec<Id>>,
    panics: Arc<AtomicUsize>,
}

impl Broken {
    fn at(&self, method: PanickingMethod) {
        if self.method == method || self.method == PanickingMethod::Everywhere {
            self.panics.fetch_add(1, Ordering::SeqCst);
            panic!("{method:?}");
        }
    }
}

impl Subscriber for Broken {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_ours = metadata.target().starts_with("haft");
        if is_ours {
            self.at(PanickingMethod::Enabled);
        }
        is_ours
    }

    fn register_callsite(&self, _: &'static Metadata<'static>) -> tracing_core::Interest {
        tracing_core::Interest::sometimes()
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.at(PanickingMethod::NewSpan);
        *self.metadata.lock().unwrap() = Some(span.metadata());
        Id::from_u64(self.ids.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        self.at(PanickingMethod::Record);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.at(PanickingMethod::Event);
    }

    fn enter(&self, id: &Id) {
        self.at(PanickingMethod::Enter);
        self.inside.lock().unwrap().push(id.clone());
    }

    fn exit(&self, _: &Id) {
        self.inside.lock().unwrap().pop();
        self.at(PanickingMethod::Exit);
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.at(PanickingMethod::CloneSpan);
        id.clone()
    }

    fn try_close(&self, _: Id) -> bool {
        self.at(PanickingMethod::Close);
        true
    }

    fn current_span(&self) -> Current {
        self.at(PanickingMethod::Current);
        let inside = self.inside.lock().unwrap().last().cloned();
        inside
            .zip(*self.metadata.lock().unwrap())
            .map_or_else(Current::none, |(id, metadata)| Current::new(id, metadata))
    }
}

/// Runs a future while such a subscriber listens, which must have panicked at least once.
pub(crate) async fn listening(method: PanickingMethod, work: impl Future<Output = ()>) {
    let panics = Arc::<AtomicUsize>::default();
    let (ids, metadata, inside) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
    let broken = Broken { method, ids, metadata, inside, panics: Arc::clone(&panics) };
    let listening = tracing::subscriber::set_default(broken);
    work.await;
    drop(listening);
    assert!(panics.load(Ordering::SeqCst) > 0, "{method:?}");
}
