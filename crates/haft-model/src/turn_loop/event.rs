//! What happens while a loop runs.
//!
//! Events are values: they serialise and carry a version, so that a person in another process can watch. AfterTurn the
//! start and the end of a turn every call of it has exactly one output. The last event, always and only once, is how the
//! loop ended, with its state.

use std::time::Duration;

use haft_core::history::Change;
use haft_core::tagged::{self, ReadVariant, TaggedEnum, UnknownTag, Versioning};
use haft_core::{ApprovalResponse, Delta, ToolEvent, ToolResult, Turn, UnknownEvent};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::end::LoopEnd;
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
    /// An event of a type that this version does not know, kept whole. No loop emits one.
    Unknown(Box<UnknownEvent>),
}

/// An event as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum LoopEventForm<'a> {
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
        let event = match self {
            Self::Repaired { changes } => LoopEventForm::Repaired { changes },
            Self::TurnStarted { number } => LoopEventForm::TurnStarted { number: *number },
            Self::Delta(delta) => LoopEventForm::Delta { delta },
            Self::Retrying { attempts, kind, message, wait } => {
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                LoopEventForm::Retrying { attempts: *attempts, kind, message, wait_ms }
            }
            Self::Tool(event) => LoopEventForm::Tool { event },
            Self::VerdictRefused { response, reason } => LoopEventForm::VerdictRefused { response, reason },
            Self::Unplaced { results, reason } => LoopEventForm::Unplaced { results, reason },
            Self::Signal(signal) => LoopEventForm::Signal { signal },
            Self::TurnEnded { number, turn, results } => LoopEventForm::TurnEnded { number: *number, turn, results },
            Self::Ended { end, state } => LoopEventForm::Ended { end, state },
            Self::Unknown(event) => return event.serialize(serializer),
        };
        tagged::serialize_versioned(&event, serializer)
    }
}

impl TaggedEnum for LoopEvent {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("repaired", |members| Ok(Self::Repaired { changes: members.take("changes")? })),
        ("turn_started", |members| Ok(Self::TurnStarted { number: members.take("number")? })),
        ("delta", |members| members.take("delta").map(Self::Delta)),
        ("retrying", |members| {
            let wait = Duration::from_millis(members.take("wait_ms")?);
            let (kind, message) = (members.take("kind")?, members.take("message")?);
            Ok(Self::Retrying { attempts: members.take("attempts")?, kind, message, wait })
        }),
        ("tool", |members| members.take("event").map(Self::Tool)),
        ("verdict_refused", |members| {
            Ok(Self::VerdictRefused { response: members.take("response")?, reason: members.take("reason")? })
        }),
        ("unplaced", |members| {
            Ok(Self::Unplaced { results: members.take("results")?, reason: members.take("reason")? })
        }),
        ("signal", |members| members.take("signal").map(Self::Signal)),
        ("turn_ended", |members| {
            Ok(Self::TurnEnded {
                number: members.take("number")?,
                turn: members.take("turn")?,
                results: members.take("results")?,
            })
        }),
        ("ended", |members| Ok(Self::Ended { end: members.take("end")?, state: members.take("state")? })),
    ];
    const VERSION: Versioning = Versioning::Checked;
    const UNKNOWN: UnknownTag<Self> = UnknownTag::Kept(|object| Self::Unknown(Box::new(object.into())));
}

impl<'de> Deserialize<'de> for LoopEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}
