//! The generated cases: calls, and the course of their run.
//!
//! Handlers take an even number of milliseconds and timeouts are odd, so that it is always certain which comes first.

use std::ops::Range;
use std::time::Duration;

use haft_core::{FailureKind, ToolCall};
use haft_executor::OnOverflow;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

/// The timeout of a handler.
pub(super) const TIMEOUT: Duration = Duration::from_millis(60);

/// The time that an approver takes.
pub(super) const THINKING: Duration = Duration::from_millis(4);

/// The output cap where there is one. The failures of calls are shorter.
pub(super) const MOST_BYTES: usize = 4096;

/// A batch of calls and the settings of its run.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) asked: Vec<Asked>,
    /// The concurrency limit of the run; zero means none.
    pub(super) concurrency: usize,
    /// The size of the emit buffer.
    pub(super) room: usize,
    pub(super) is_spawned: bool,
    /// True if all tools are behind a middleware that passes every call on.
    pub(super) is_wrapped: bool,
    /// The idle timeout of the tool `watched`.
    pub(super) silence: Duration,
    /// The timeout of the run for each call.
    pub(super) call_timeout: Option<Duration>,
    pub(super) call_silence: Option<Duration>,
    pub(super) cap: Option<Cap>,
    /// The pause of the reader after each event.
    pub(super) pause: Duration,
    pub(super) ending: Ending,
}

/// A cap of [`MOST_BYTES`] on every output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cap {
    pub(super) owner: Owner,
    pub(super) rule: OnOverflow,
}

/// The owner of a limit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    Tool,
    Run,
}

/// The way in which a run ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    ByItself,
    Deadline(Duration),
    Cancelled(Duration),
    Raised(Duration),
    /// After this many events.
    Dropped(usize),
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The tool, named by its concurrency class.
    pub(super) tool: &'static str,
    pub(super) does: Does,
    /// True if it has the id of the first call.
    has_first_id: bool,
    /// True if the provider has executed it.
    is_provider_executed: bool,
}

/// The action of its handler.
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
    Give {
        bytes: usize,
    },
    /// No action: the arguments are invalid.
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
    let run = (0_usize..6, 1_usize..4, any::<bool>(), any::<bool>(), pause, ending);
    let odd = |range: Range<u64>| range.prop_map(|half| Duration::from_millis(2 * half + 1));
    let seldom = prop::option::weighted(0.25, odd(1..20));
    (vec(asked(), 0..=40), run, (odd(1..10), seldom.clone(), seldom), cap()).prop_map(
        |(asked, run, (silence, call_timeout, call_silence), cap)| {
            let (concurrency, room, is_spawned, is_wrapped, pause, ending) = run;
            Batch {
                asked,
                concurrency,
                room,
                is_spawned,
                is_wrapped,
                silence,
                call_timeout,
                call_silence,
                cap,
                pause,
                ending,
            }
        },
    )
}

fn cap() -> impl Strategy<Value = Option<Cap>> {
    let owner = prop_oneof![Just(Owner::Tool), Just(Owner::Run)];
    let rule = prop_oneof![Just(OnOverflow::Fail), Just(OnOverflow::Truncate)];
    prop::option::of((owner, rule).prop_map(|(owner, rule)| Cap { owner, rule }))
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
        3 => Just("watched"),
        2 => Just("blocking"),
        1 => prop_oneof![Just("signal"), Just("interaction"), Just("remote")],
        1 => Just("unknown"),
    ];
    let does = prop_oneof![
        4 => Just(Does::Nothing),
        4 => (0_u64..10).prop_map(|half| Does::Sleep(2 * half)),
        4 => (1_u64..6, 0_u64..3).prop_map(|(count, half)| Does::Emit { count, gap: 2 * half }),
        1 => Just(Does::Panic),
        1 => (0_u64..5).prop_map(|half| Does::PanicLater(2 * half)),
        1 => Just(Does::Fail),
        1 => Just(Does::Hang),
        1 => Just(Does::Refuse),
        1 => prop_oneof![Just(16), Just(2 * MOST_BYTES)].prop_map(|bytes| Does::Give { bytes }),
    ];
    (tool, does, prop::bool::weighted(0.03), prop::bool::weighted(0.04)).prop_map(
        |(tool, does, has_first_id, is_provider_executed)| Asked { tool, does, has_first_id, is_provider_executed },
    )
}

impl Batch {
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let id = |index: usize, asked: &Asked| format!("c{}", if asked.has_first_id { 0 } else { index });
        self.asked
            .iter()
            .enumerate()
            .map(|(index, asked)| {
                let call = ToolCall::new(id(index, asked), asked.tool, asked.does.arguments());
                if asked.is_provider_executed { call.executed_by_provider() } else { call }
            })
            .collect()
    }

    pub(super) fn is_dropped(&self) -> bool {
        matches!(self.ending, Ending::Dropped(_))
    }

    /// Returns whether every call can complete.
    pub(super) fn is_undisturbed(&self) -> bool {
        matches!(self.ending, Ending::ByItself) && self.pause.is_zero()
    }

    /// Returns the kind of failure that a call ends with when nothing disturbs it; none when it succeeds.
    pub(super) fn fate(&self, index: usize) -> Option<FailureKind> {
        let asked = &self.asked[index];
        match asked.tool {
            _ if asked.has_first_id && index > 0 => Some(FailureKind::DuplicateCallId),
            "unknown" => Some(FailureKind::UnknownTool),
            "remote" => Some(FailureKind::NonLocalTool),
            _ if asked.is_provider_executed => Some(FailureKind::NonLocalTool),
            _ if matches!(asked.does, Does::Refuse) => Some(FailureKind::InputValidationError),
            "signal" | "interaction" => Some(FailureKind::NonLocalTool),
            "forbidden" => Some(FailureKind::Denied),
            _ if self.is_too_slow(asked) => Some(FailureKind::TimedOut),
            _ => self.outcome(asked.done()),
        }
    }

    /// Returns the number of values that a call emits when nothing disturbs it and it succeeds.
    pub(super) fn shown(&self, index: usize) -> u64 {
        let asked = &self.asked[index];
        let emitted = match asked.done() {
            Does::Emit { count, .. } => count,
            _ => 0,
        };
        emitted + u64::from(asked.tool == "stream")
    }

    fn is_too_slow(&self, asked: &Asked) -> bool {
        let (takes, silence) = match asked.done() {
            Does::Hang => return true,
            Does::Sleep(ms) | Does::PanicLater(ms) => (ms, ms),
            Does::Emit { count, gap } => (count * gap, gap),
            _ => (0, 0),
        };
        let watched = (asked.tool == "watched").then_some(self.silence);
        let is_beyond = |ms: u64, limit: Option<Duration>| limit.is_some_and(|limit| Duration::from_millis(ms) > limit);
        is_beyond(takes, self.call_timeout) || is_beyond(silence, self.call_silence) || is_beyond(silence, watched)
    }

    fn outcome(&self, done: Does) -> Option<FailureKind> {
        let fails_beyond_cap = self.cap.is_some_and(|cap| cap.rule == OnOverflow::Fail);
        match done {
            Does::Panic | Does::PanicLater(_) => Some(FailureKind::ExecutionError),
            Does::Fail => Some(FailureKind::ToolFailed),
            Does::Give { bytes } if bytes > MOST_BYTES && fails_beyond_cap => Some(FailureKind::OutputTooLarge),
            _ => None,
        }
    }

    /// Returns the time if all calls ran one after the other, each as long as it may, and the reader paused after
    /// every event.
    pub(super) fn longest(&self) -> Duration {
        let calls = u32::try_from(self.asked.len()).unwrap();
        let events = calls * 10;
        (TIMEOUT + THINKING) * (calls + 1) + self.pause * events
    }
}

impl Asked {
    /// Returns the actual action of its handler: a blocking one does not wait.
    fn done(&self) -> Does {
        match self.does {
            Does::Sleep(_) | Does::Emit { .. } | Does::Hang if self.tool == "blocking" => Does::Nothing,
            Does::PanicLater(_) if self.tool == "blocking" => Does::Panic,
            does => does,
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
            Self::Give { bytes } => json!({"does": "give", "bytes": bytes}),
            Self::Refuse => json!({"does": "something else"}),
        };
        value.to_string()
    }
}
