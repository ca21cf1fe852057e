//! What happens while a loop runs.
//!
//! Events are values: they serialise and carry a version, so that a person in another process can watch. Between the
//! start and the end of a turn every call of it has exactly one output. The last event, always and only once, is how the
//! loop ended, with its state.

use std::time::Duration;

use haft_core::history::Change;
use haft_core::{ApprovalResponse, Delta, FormatVersion, ToolEvent, ToolResult, Turn};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::end::LoopEnd;
use super::reading;
use super::signal::Signal;
use super::state::LoopState;

/// Something that happened in a loop. Told apart by `type`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoopEvent {
    /// The history was repaired, before anything of it ran or the model was asked.
    Repaired {
        /// What was changed.
        changes: Vec<Change>,
    },
    /// The model is asked.
    TurnStarted {
        /// The number of the turn, from one.
        number: u32,
    },
    /// The answer grows. [`Delta::TurnComplete`] has the turn as it goes into the history: a call whose id was taken
    /// has another one.
    Delta(Delta),
    /// The model gave no answer and is asked again. The deltas since the turn started are void.
    Retrying {
        /// How many attempts there were.
        attempts: u32,
        /// The kind of the error; see [`ModelError::kind`](crate::ModelError::kind).
        kind: String,
        /// The error in words.
        message: String,
        /// How long is waited first.
        wait: Duration,
    },
    /// Something happened to a call. Its index is its place among the calls of the turn.
    Tool(ToolEvent),
    /// A verdict of the history was not used, and was taken out of it: its call waits for another one, or has ended.
    VerdictRefused {
        /// The verdict.
        response: Box<ApprovalResponse>,
        /// Why.
        reason: String,
    },
    /// Results of calls that the history has no place for, as it holds another answer already. They are not in it, and
    /// the model will not read them.
    Unplaced {
        /// The results.
        results: Vec<ToolResult>,
        /// Why.
        reason: String,
    },
    /// The model sent a signal to the loop.
    Signal(Box<Signal>),
    /// All calls of the turn have their results, and it is decided what comes next.
    TurnEnded {
        /// The number of the turn, from one.
        number: u32,
        /// The turn.
        turn: Box<Turn>,
        /// The results of its calls, in the order of the calls, signals included.
        results: Vec<ToolResult>,
    },
    /// The loop ended. Always the last event.
    Ended {
        /// How.
        end: LoopEnd,
        /// Where it stands.
        state: Box<LoopState>,
    },
}

/// An event as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Written<'a> {
    Repaired { changes: &'a [Change] },
    TurnStarted { number: u32 },
    Delta { delta: &'a Delta },
    Retrying { attempts: u32, kind: &'a str, message: &'a str, wait_ms: u64 },
    Tool { event: &'a ToolEvent },
    VerdictRefused { response: &'a ApprovalResponse, reason: &'a str },
    Unplaced { results: &'a [ToolResult], reason: &'a str },
    Signal { signal: &'a Signal },
    TurnEnded { number: u32, turn: &'a Turn, results: &'a [ToolResult] },
    Ended { end: &'a LoopEnd, state: &'a LoopState },
}

impl Serialize for LoopEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Versioned<'a> {
            v: FormatVersion,
            #[serde(flatten)]
            event: Written<'a>,
        }
        let event = match self {
            Self::Repaired { changes } => Written::Repaired { changes },
            Self::TurnStarted { number } => Written::TurnStarted { number: *number },
            Self::Delta(delta) => Written::Delta { delta },
            Self::Retrying { attempts, kind, message, wait } => {
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                Written::Retrying { attempts: *attempts, kind, message, wait_ms }
            }
            Self::Tool(event) => Written::Tool { event },
            Self::VerdictRefused { response, reason } => Written::VerdictRefused { response, reason },
            Self::Unplaced { results, reason } => Written::Unplaced { results, reason },
            Self::Signal(signal) => Written::Signal { signal },
            Self::TurnEnded { number, turn, results } => Written::TurnEnded { number: *number, turn, results },
            Self::Ended { end, state } => Written::Ended { end, state },
        };
        Versioned { v: FormatVersion::default(), event }.serialize(serializer)
    }
}

#[derive(Deserialize)]
struct Repaired {
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct TurnStarted {
    number: u32,
}

#[derive(Deserialize)]
struct Grown {
    delta: Delta,
}

#[derive(Deserialize)]
struct Retrying {
    attempts: u32,
    kind: String,
    message: String,
    wait_ms: u64,
}

#[derive(Deserialize)]
struct ToolDid {
    event: ToolEvent,
}

#[derive(Deserialize)]
struct VerdictRefused {
    response: Box<ApprovalResponse>,
    reason: String,
}

#[derive(Deserialize)]
struct Unplaced {
    results: Vec<ToolResult>,
    reason: String,
}

#[derive(Deserialize)]
struct Signalled {
    signal: Box<Signal>,
}

#[derive(Deserialize)]
struct TurnEnded {
    number: u32,
    turn: Box<Turn>,
    results: Vec<ToolResult>,
}

#[derive(Deserialize)]
struct Ended {
    end: LoopEnd,
    state: Box<LoopState>,
}

impl<'de> Deserialize<'de> for LoopEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let event = Value::deserialize(deserializer)?;
        if let Some(version) = event.get("v") {
            FormatVersion::deserialize(version).map_err(D::Error::custom)?;
        }
        match reading::tag::<D::Error>(&event)? {
            "repaired" => reading::body(event).map(|Repaired { changes }| Self::Repaired { changes }),
            "turn_started" => reading::body(event).map(|TurnStarted { number }| Self::TurnStarted { number }),
            "delta" => reading::body(event).map(|Grown { delta }| Self::Delta(delta)),
            "retrying" => reading::body(event).map(|Retrying { attempts, kind, message, wait_ms }| Self::Retrying {
                attempts,
                kind,
                message,
                wait: Duration::from_millis(wait_ms),
            }),
            "tool" => reading::body(event).map(|ToolDid { event }| Self::Tool(event)),
            "verdict_refused" => reading::body(event)
                .map(|VerdictRefused { response, reason }| Self::VerdictRefused { response, reason }),
            "unplaced" => reading::body(event).map(|Unplaced { results, reason }| Self::Unplaced { results, reason }),
            "signal" => reading::body(event).map(|Signalled { signal }| Self::Signal(signal)),
            "turn_ended" => reading::body(event).map(|TurnEnded { number, turn, results }| Self::TurnEnded {
                number,
                turn,
                results,
            }),
            "ended" => reading::body(event).map(|Ended { end, state }| Self::Ended { end, state }),
            other => Err(D::Error::unknown_variant(
                other,
                &[
                    "repaired",
                    "turn_started",
                    "delta",
                    "retrying",
                    "tool",
                    "verdict_refused",
                    "unplaced",
                    "signal",
                    "turn_ended",
                    "ended",
                ],
            )),
        }
    }
}
