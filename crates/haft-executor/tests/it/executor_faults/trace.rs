//! Faults while a tracing subscriber is active.

use std::error::Error;
use std::fmt;

use haft_core::{FailureKind, ToolCall};
use haft_executor::{Tool, Toolkit};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::case::SECRET;

/// A subscriber that formats every field, as a log does.
struct Log;

struct Writer;

impl Visit for Writer {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        drop(format!("{value:?}"));
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Writer);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Writer);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Writer);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// An error whose `Display` fails.
#[derive(Debug)]
struct Mute;

impl Error for Mute {}

impl fmt::Display for Mute {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("{SECRET}");
    }
}

#[tokio::test]
async fn an_error_whose_display_fails_affects_only_its_own_call() {
    let _listening = tracing::subscriber::set_default(Log);
    let mute = Tool::new("mute").try_handler_opaque(|(), _| async { Err::<(), _>(Mute) }).unwrap();
    let sound = Tool::new("sound").handler(|(), _| async {}).unwrap();
    let kit: Toolkit = [mute, sound].into_iter().collect();
    let calls = ["sound", "mute", "sound"].into_iter().enumerate();
    let results = kit.run(calls.map(|(n, name)| ToolCall::new(format!("c{n}"), name, "{}"))).collect_results().await;
    assert_eq!(results[1].failure().unwrap().kind, FailureKind::ExecutionError);
    assert!(results[0].is_ok() && results[2].is_ok());
}
