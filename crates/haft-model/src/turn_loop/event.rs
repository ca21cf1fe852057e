//! A turn loop's events.
//!
//! Events are values: they serialise and carry a version, so that another process can observe the loop. Between the
//! start and the end of a turn each of its calls has exactly one output. The last event is always [`LoopEvent::Ended`],
//! with the state.
//!
//! An event with an unknown type is kept and written back unchanged. It must never be acted on.

use std::time::Duration;

use haft_core::history::Change;
use haft_core::tagged::{self, ReadVariant, TaggedEnum, UnknownTag, Versioning};
use haft_core::{Delta, ToolCall, ToolEvent, ToolResult, Turn, UnknownEvent, Verdict};
use haft_schema::Issues;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::end::LoopEnd;
use super::signal::Signal;
use super::state::LoopState;
use crate::model_info::ModelInfo;

/// A turn loop's event, tagged by `type`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoopEvent {
    /// The history was repaired, before any call in it ran and before the model was asked.
    Repaired {
        /// The changes.
        changes: Vec<Change>,
    },
    /// A [`TurnLoop::prepare`](crate::TurnLoop::prepare) hook rewrote the history, and the state now has the new one.
    HistoryRewritten {
        /// The item count before.
        items_before: usize,
        /// The item count now.
        items: usize,
    },
    /// A tool is not offered to the model, because it can't run or because its source left it out. Emitted once, when
    /// the tools of a turn are determined, and again if the tool was usable meanwhile. The loop goes on without it.
    ToolLeftOut {
        /// The tool's name.
        tool: String,
        /// The reason.
        reason: String,
    },
    /// Calls that waited for a verdict are about to be resumed. Emitted before any of them runs, so that a
    /// [checkpoint](crate::LoopRun::checkpoint) can be stored first.
    CallsResumed {
        /// The calls.
        calls: Vec<ToolCall>,
    },
    /// A turn is requested from the model.
    TurnStarted {
        /// The turn's number, from one.
        number: u32,
        /// The model that is asked; unset in events from versions that did not store it.
        model: Option<ModelInfo>,
        /// The tools that the model is offered, by name, in order.
        tools: Vec<String>,
        /// The tool source's generation; unset in events from versions that did not store it.
        generation: Option<u64>,
    },
    /// A delta from the model's answer. [`Delta::TurnComplete`] has the turn as it is added to the history: a call whose id was
    /// taken has a new id.
    Delta(Delta),
    /// The request failed and is retried. Discard the deltas since the turn began.
    Retrying {
        /// The attempt count so far.
        attempts: u32,
        /// The error's kind; see [`ModelError::kind`](crate::ModelError::kind).
        kind: String,
        /// The error's message.
        message: String,
        /// The wait before the retry.
        wait: Duration,
    },
    /// A call's event. Its index is the call's place in the turn.
    Tool(ToolEvent),
    /// A verdict in the history was rejected and removed: its call waits for another one, or has ended.
    VerdictRejected {
        /// The verdict.
        response: Box<Verdict>,
        /// The reason.
        reason: String,
    },
    /// A verdict on the provider's approval request, for a call that it executes. The next request to the model
    /// contains it. A request that expired is denied.
    ProviderApproval {
        /// The verdict.
        response: Box<Verdict>,
    },
    /// Results that can't be added to the history, as it has another output for the call already. They are not in it,
    /// and the model will not read them.
    Unplaced {
        /// The results.
        results: Vec<ToolResult>,
        /// The reason.
        reason: String,
    },
    /// The model called a signal.
    Signal(Box<Signal>),
    /// The turn ended: all its calls have results, and the next step is decided.
    TurnEnded {
        /// The turn's number, from one.
        number: u32,
        /// The turn.
        turn: Box<Turn>,
        /// The calls' results, in order, signals included.
        results: Vec<ToolResult>,
    },
    /// The final answer does not fit the type that the loop ends with, and the model is asked for a corrected one; see
    /// [`TurnLoop::finish_as`](crate::TurnLoop::finish_as).
    AnswerRejected {
        /// The answer's issues.
        issues: Issues,
        /// The correction requests so far, this one included.
        re_asks: u32,
    },
    /// The loop ended. Always the last event.
    Ended {
        /// The reason.
        end: LoopEnd,
        /// The state.
        state: Box<LoopState>,
    },
    /// An event whose type this version does not know, kept whole. No loop emits one.
    Unknown(Box<UnknownEvent>),
}

/// An event as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum LoopEventForm<'a> {
    Repaired {
        changes: &'a [Change],
    },
    HistoryRewritten {
        items_before: usize,
        items: usize,
    },
    ToolLeftOut {
        tool: &'a str,
        reason: &'a str,
    },
    CallsResumed {
        calls: &'a [ToolCall],
    },
    TurnStarted {
        number: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<&'a ModelInfo>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        tools: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        generation: Option<u64>,
    },
    Delta {
        delta: &'a Delta,
    },
    Retrying {
        attempts: u32,
        kind: &'a str,
        message: &'a str,
        wait_ms: u64,
    },
    Tool {
        event: &'a ToolEvent,
    },
    VerdictRejected {
        response: &'a Verdict,
        reason: &'a str,
    },
    ProviderApproval {
        response: &'a Verdict,
    },
    Unplaced {
        results: &'a [ToolResult],
        reason: &'a str,
    },
    Signal {
        signal: &'a Signal,
    },
    TurnEnded {
        number: u32,
        turn: &'a Turn,
        results: &'a [ToolResult],
    },
    AnswerRejected {
        issues: &'a Issues,
        re_asks: u32,
    },
    Ended {
        end: &'a LoopEnd,
        state: &'a LoopState,
    },
}

impl Serialize for LoopEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = match self {
            Self::Repaired { changes } => LoopEventForm::Repaired { changes },
            Self::HistoryRewritten { items_before, items } => {
                LoopEventForm::HistoryRewritten { items_before: *items_before, items: *items }
            }
            Self::ToolLeftOut { tool, reason } => LoopEventForm::ToolLeftOut { tool, reason },
            Self::CallsResumed { calls } => LoopEventForm::CallsResumed { calls },
            Self::TurnStarted { number, model, tools, generation } => {
                let (model, generation) = (model.as_ref(), *generation);
                LoopEventForm::TurnStarted { number: *number, model, tools, generation }
            }
            Self::Delta(delta) => LoopEventForm::Delta { delta },
            Self::Retrying { attempts, kind, message, wait } => {
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                LoopEventForm::Retrying { attempts: *attempts, kind, message, wait_ms }
            }
            Self::Tool(event) => LoopEventForm::Tool { event },
            Self::VerdictRejected { response, reason } => LoopEventForm::VerdictRejected { response, reason },
            Self::ProviderApproval { response } => LoopEventForm::ProviderApproval { response },
            Self::Unplaced { results, reason } => LoopEventForm::Unplaced { results, reason },
            Self::Signal(signal) => LoopEventForm::Signal { signal },
            Self::TurnEnded { number, turn, results } => LoopEventForm::TurnEnded { number: *number, turn, results },
            Self::AnswerRejected { issues, re_asks } => LoopEventForm::AnswerRejected { issues, re_asks: *re_asks },
            Self::Ended { end, state } => LoopEventForm::Ended { end, state },
            Self::Unknown(event) => return event.serialize(serializer),
        };
        tagged::serialize_versioned(&event, serializer)
    }
}

impl TaggedEnum for LoopEvent {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("repaired", |members| Ok(Self::Repaired { changes: members.take("changes")? })),
        ("history_rewritten", |members| {
            Ok(Self::HistoryRewritten { items_before: members.take("items_before")?, items: members.take("items")? })
        }),
        ("tool_left_out", |members| {
            Ok(Self::ToolLeftOut { tool: members.take("tool")?, reason: members.take("reason")? })
        }),
        ("calls_resumed", |members| Ok(Self::CallsResumed { calls: members.take("calls")? })),
        ("turn_started", |members| {
            let (number, model) = (members.take("number")?, members.take_or_default("model")?);
            let (tools, generation) = (members.take_or_default("tools")?, members.take_or_default("generation")?);
            Ok(Self::TurnStarted { number, model, tools, generation })
        }),
        ("delta", |members| members.take("delta").map(Self::Delta)),
        ("retrying", |members| {
            let wait = Duration::from_millis(members.take("wait_ms")?);
            let (kind, message) = (members.take("kind")?, members.take("message")?);
            Ok(Self::Retrying { attempts: members.take("attempts")?, kind, message, wait })
        }),
        ("tool", |members| members.take("event").map(Self::Tool)),
        ("verdict_rejected", |members| {
            Ok(Self::VerdictRejected { response: members.take("response")?, reason: members.take("reason")? })
        }),
        ("provider_approval", |members| Ok(Self::ProviderApproval { response: members.take("response")? })),
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
        ("answer_rejected", |members| {
            Ok(Self::AnswerRejected { issues: members.take("issues")?, re_asks: members.take("re_asks")? })
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
