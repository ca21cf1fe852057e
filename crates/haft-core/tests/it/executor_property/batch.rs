//! What can be drawn: calls, and how their run goes.

use std::ops::Range;
use std::time::Duration;

use haft_core::{FailureKind, ToolCall};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

/// The longest that a handler may take.
pub(super) const TIMEOUT: Duration = Duration::from_millis(60);

/// How long whoever is asked thinks about it.
pub(super) const THINKING: Duration = Duration::from_millis(4);

/// A batch of calls and everything about its run.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) asked: Vec<Asked>,
    /// At most so many handlers at a time; zero means all.
    pub(super) concurrency: usize,
    /// How many shown values may wait.
    pub(super) room: usize,
    pub(super) is_spawned: bool,
    /// How long the reader waits after each event.
    pub(super) pause: Duration,
    pub(super) ending: Ending,
}

/// How a run ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    ByItself,
    Deadline(Duration),
    Cancelled(Duration),
    Raised(Duration),
    /// When so many events were read.
    Dropped(usize),
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The tool, by what it may run beside.
    pub(super) tool: &'static str,
    pub(super) does: Does,
    /// It has the id of the first call.
    has_first_id: bool,
}

/// What its handler does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Does {
    Nothing,
    Sleep(u64),
    Emit {
        count: u64,
        gap: u64,
    },
    Panic,
    PanicLater(u64),
    Fail,
    Hang,
    /// Nothing: the arguments are bad.
    Refuse,
}

pub(super) fn batches() -> impl Strategy<Value = Batch> {
    let millis = |range: Range<u64>| range.prop_map(Duration::from_millis);
    let ending = prop_oneof![
        4 => Just(Ending::ByItself),
        1 => millis(0..80).prop_map(Ending::Deadline),
        1 => millis(0..80).prop_map(Ending::Cancelled),
        1 => millis(0..80).prop_map(Ending::Raised),
        2 => (1_usize..60).prop_map(Ending::Dropped),
    ];
    let pause = prop_oneof![3 => Just(Duration::ZERO), 1 => millis(1..8)];
    (vec(asked(), 0..=40), 0_usize..6, 1_usize..4, any::<bool>(), pause, ending).prop_map(
        |(asked, concurrency, room, is_spawned, pause, ending)| Batch {
            asked,
            concurrency,
            room,
            is_spawned,
            pause,
            ending,
        },
    )
}

fn asked() -> impl Strategy<Value = Asked> {
    let tool = prop_oneof![
        6 => Just("shared"),
        2 => Just("exclusive"),
        2 => Just("key_a"),
        2 => Just("key_a_too"),
        2 => Just("key_b"),
        3 => Just("pair"),
        3 => Just("stream"),
        2 => Just("gated"),
        1 => Just("forbidden"),
        2 => Just("slow_permit"),
        1 => Just("unknown"),
    ];
    let does = prop_oneof![
        4 => Just(Does::Nothing),
        4 => (0_u64..20).prop_map(Does::Sleep),
        4 => (1_u64..6, 0_u64..4).prop_map(|(count, gap)| Does::Emit { count, gap }),
        1 => Just(Does::Panic),
        1 => (0_u64..10).prop_map(Does::PanicLater),
        1 => Just(Does::Fail),
        1 => Just(Does::Hang),
        1 => Just(Does::Refuse),
    ];
    (tool, does, prop::bool::weighted(0.03)).prop_map(|(tool, does, has_first_id)| Asked { tool, does, has_first_id })
}

impl Batch {
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let id = |index: usize, asked: &Asked| format!("c{}", if asked.has_first_id { 0 } else { index });
        self.asked
            .iter()
            .enumerate()
            .map(|(index, asked)| ToolCall::new(id(index, asked), asked.tool, asked.does.arguments()))
            .collect()
    }

    pub(super) fn is_dropped(&self) -> bool {
        matches!(self.ending, Ending::Dropped(_))
    }

    /// Whether every call may come to its end.
    pub(super) fn is_undisturbed(&self) -> bool {
        matches!(self.ending, Ending::ByItself) && self.pause.is_zero()
    }

    /// If all calls ran one after the other, each as long as it may, and the reader paused after every event.
    pub(super) fn longest(&self) -> Duration {
        let calls = u32::try_from(self.asked.len()).unwrap();
        let events = calls * 10;
        (TIMEOUT + THINKING) * (calls + 1) + self.pause * events
    }
}

impl Asked {
    /// The kind of failure that a call comes to when nothing disturbs it; none when it succeeds.
    pub(super) fn fate(&self) -> Option<FailureKind> {
        match (self.tool, self.does) {
            ("unknown", _) => Some(FailureKind::UnknownTool),
            (_, Does::Refuse) => Some(FailureKind::InputValidationError),
            ("forbidden", _) => Some(FailureKind::Denied),
            (_, Does::Nothing | Does::Sleep(_) | Does::Emit { .. }) => None,
            (_, Does::Panic | Does::PanicLater(_)) => Some(FailureKind::ExecutionError),
            (_, Does::Fail) => Some(FailureKind::ToolFailed),
            (_, Does::Hang) => Some(FailureKind::TimedOut),
        }
    }
}

impl Does {
    fn arguments(self) -> String {
        let value = match self {
            Self::Nothing => json!({"does": "nothing"}),
            Self::Sleep(ms) => json!({"does": "sleep", "ms": ms}),
            Self::Emit { count, gap } => json!({"does": "emit", "count": count, "gap": gap}),
            Self::Panic => json!({"does": "panic"}),
            Self::PanicLater(ms) => json!({"does": "panic_later", "ms": ms}),
            Self::Fail => json!({"does": "fail"}),
            Self::Hang => json!({"does": "hang"}),
            Self::Refuse => json!({"does": "something else"}),
        };
        value.to_string()
    }
}
