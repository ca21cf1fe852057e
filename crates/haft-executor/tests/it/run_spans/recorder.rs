//! A subscriber that records everything.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;

/// A subscriber that can be disabled.
#[derive(Clone, Default)]
pub(super) struct Recorder {
    seen: Arc<Mutex<Seen>>,
    deaf_to: Option<&'static str>,
}

/// Everything that was recorded.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) spans: Vec<SpanRecord>,
    pub(super) events: Vec<EventRecord>,
    /// The events that are metrics.
    pub(super) metrics: Vec<EventRecord>,
    /// The spans that are entered now, the innermost last. Everything runs on one thread.
    inside: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct SpanRecord {
    pub(super) id: u64,
    pub(super) name: &'static str,
    pub(super) target: &'static str,
    pub(super) level: Level,
    metadata: &'static Metadata<'static>,
    pub(super) parent: Option<u64>,
    pub(super) fields: Fields,
    at_start: Fields,
    pub(super) entered: usize,
    /// The threads it was entered on.
    pub(super) threads: HashSet<ThreadId>,
    pub(super) left: usize,
    pub(super) is_closed: bool,
    handles: usize,
}

#[derive(Clone, Debug)]
pub(super) struct EventRecord {
    pub(super) fields: Fields,
    pub(super) inside: Option<u64>,
}

pub(super) type Fields = BTreeMap<&'static str, String>;

impl Recorder {
    pub(super) fn deaf_to(target: &'static str) -> Self {
        Self { deaf_to: Some(target), ..Self::default() }
    }

    /// Records everything while the future runs.
    pub(super) async fn watch<T>(future: impl Future<Output = T>) -> Seen {
        Self::default().watching(future).await
    }

    pub(super) async fn watching<T>(&self, future: impl Future<Output = T>) -> Seen {
        let guard = tracing::subscriber::set_default(self.clone());
        future.await;
        drop(guard);
        self.seen.lock().unwrap().clone()
    }

    /// Returns which spans are closed, in the order they were opened.
    pub(super) fn closed(&self) -> Vec<bool> {
        self.seen.lock().unwrap().spans.iter().map(|span| span.is_closed).collect()
    }

    fn span<T>(&self, id: &Id, change: impl FnOnce(&mut SpanRecord) -> T) -> T {
        let mut seen = self.seen.lock().unwrap();
        change(seen.spans.iter_mut().find(|span| span.id == id.into_u64()).unwrap())
    }
}

impl Seen {
    pub(super) fn span(&self, id: u64) -> &SpanRecord {
        self.spans.iter().find(|span| span.id == id).unwrap()
    }
}

impl SpanRecord {
    pub(super) fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }

    /// Returns the value of a field when the span was created, which is when samplers decide.
    pub(super) fn at_start(&self, field: &str) -> Option<&str> {
        self.at_start.get(field).map(String::as_str)
    }
}

impl EventRecord {
    pub(super) fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.deaf_to != Some(metadata.target())
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = Fields::new();
        attributes.record(&mut Noting(&mut fields));
        let mut seen = self.seen.lock().unwrap();
        let id = u64::try_from(seen.spans.len()).unwrap() + 1;
        let parent = match attributes.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if attributes.is_contextual() => seen.inside.last().copied(),
            None => None,
        };
        let metadata = attributes.metadata();
        seen.spans.push(SpanRecord {
            id,
            name: metadata.name(),
            target: metadata.target(),
            level: *metadata.level(),
            metadata,
            parent,
            at_start: fields.clone(),
            fields,
            entered: 0,
            threads: HashSet::new(),
            left: 0,
            is_closed: false,
            handles: 1,
        });
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        self.span(id, |span| values.record(&mut Noting(&mut span.fields)));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Noting(&mut fields));
        let mut seen = self.seen.lock().unwrap();
        let inside = seen.inside.last().copied();
        let is_metric = event.metadata().target() == "haft::metrics";
        let events = if is_metric { &mut seen.metrics } else { &mut seen.events };
        events.push(EventRecord { fields, inside });
    }

    fn enter(&self, id: &Id) {
        self.span(id, |span| {
            span.entered += 1;
            span.threads.insert(std::thread::current().id());
        });
        self.seen.lock().unwrap().inside.push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        self.span(id, |span| span.left += 1);
        let mut seen = self.seen.lock().unwrap();
        let at = seen.inside.iter().rposition(|inside| *inside == id.into_u64()).unwrap();
        seen.inside.remove(at);
    }

    fn current_span(&self) -> Current {
        let seen = self.seen.lock().unwrap();
        match seen.inside.last() {
            Some(&id) => Current::new(Id::from_u64(id), seen.span(id).metadata),
            None => Current::none(),
        }
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.span(id, |span| span.handles += 1);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.span(&id, |span| {
            span.handles -= 1;
            span.is_closed = span.handles == 0;
            span.is_closed
        })
    }
}

/// A visitor that keeps every field as text.
struct Noting<'a>(&'a mut Fields);

impl Visit for Noting<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
