//! A subscriber that keeps every span, field and event, at every level and target, as text.

use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[derive(Clone, Default)]
pub(crate) struct TextRecorder {
    lines: Arc<Mutex<Vec<String>>>,
    spans: Arc<AtomicU64>,
}

impl TextRecorder {
    /// Returns what was recorded, one line for each span, record and event.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    fn keep(&self, metadata: Option<&Metadata<'_>>, record: impl FnOnce(&mut LineVisitor)) {
        let mut line = LineVisitor(String::new());
        if let Some(metadata) = metadata {
            write!(line.0, "{} {} {}", metadata.level(), metadata.target(), metadata.name()).unwrap();
        }
        record(&mut line);
        self.lines.lock().unwrap().push(line.0);
    }
}

impl Subscriber for TextRecorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        self.keep(Some(attributes.metadata()), |line| attributes.record(line));
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.keep(None, |line| values.record(line));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.keep(Some(event.metadata()), |line| event.record(line));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct LineVisitor(String);

impl Visit for LineVisitor {
    fn record_str(&mut self, field: &Field, value: &str) {
        write!(self.0, " {}={value}", field.name()).unwrap();
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}
