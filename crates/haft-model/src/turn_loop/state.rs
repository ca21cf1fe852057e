//! The state of a loop, which can be stored.
//!
//! A state is plain data: it can be stored while the loop waits, and started in another process. It contains complete
//! turns only. The tools are not in it, as they are code: the application supplies them at the start. A stored state
//! that contradicts itself must be rejected when it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use haft_core::{
    ApprovalId, ApprovalRequest, Author, CallId, ContentPart, FormatVersion, Item, RunId, ToolResult, TurnRequest,
    Usage, Verdict,
};
use haft_executor::{VerdictFault, WaitingCall};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::conversation::LastingState;
use super::guard::CallRow;
use super::interaction::Interaction;
use super::json_string::{self, DeepValue};
use super::open_turn::OpenTurn;
use super::remote_approval::{CallSide, DecidedRequests, pending_requests};
use super::state_error::StateError;

/// The state of a loop: the conversation, the usage so far, and the calls that are open.
///
/// A state is a value, independent of its copies. Two loops that are started from one state both do the work that is
/// left in it, including approved calls; and a state that was stored before a crash repeats what was done since. Its
/// calls are made *at least once*: an application that stores states claims one before starting it (by a lock, or by a
/// version in the database), stores the next one as soon as it is available, and gives tools that must not run twice
/// the [idempotency key](haft_executor::Cx::idempotency_key) of the call to detect duplicates: a call that waited has the
/// same key whenever it is resumed. A verdict is used *at most once*: it is removed from the state before the
/// loop acts on it, and after a crash its approval request is pending again.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_model::LoopState;
///
/// let state = LoopState::new(TurnRequest::new("some-model", vec![Item::user("What time is it?")]));
/// let stored = serde_json::to_string(&state)?;
/// assert_eq!(serde_json::from_str::<LoopState>(&stored)?, state);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "StoredState")]
pub struct LoopState {
    v: FormatVersion,
    pub(super) request: TurnRequest,
    pub(super) turns: u32,
    /// The turns of sub-agents.
    pub(super) nested_turns: u32,
    pub(super) usage: Usage,
    pub(super) calls: u64,
    /// True if the last turn had calls beyond the budget.
    pub(super) lacks_calls: bool,
    pub(super) time_used: Duration,
    /// The equal calls in a row, written as `seen`.
    pub(super) row: CallRow,
    pub(super) phase: LoopPhase,
    /// The ids of the runs of calls that wait for a verdict: a call keeps its run id, and so its idempotency key, until
    /// it has its result.
    pub(super) run_ids: BTreeMap<CallId, RunId>,
    /// The calls that wait for answers to their questions, with the states that they go on with.
    pub(super) waits: BTreeMap<CallId, WaitingCall>,
    /// The requests of the provider whose verdicts were accepted and have not been sent yet.
    pub(super) accepted: BTreeSet<ApprovalId>,
    /// The failures of resumed calls that belong to no open turn, until no call waits any more.
    pub(super) failures: Vec<ToolResult>,
    /// The number of requests for a corrected final answer.
    pub(super) re_asks: u32,
    pub(super) conversation: LastingState,
}

/// The phase of a loop between two requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LoopPhase {
    /// The model can be asked.
    Ready,
    /// The last turn is not concluded yet.
    Open(Box<OpenTurn>),
    /// The model has finished, and nothing was added since.
    Done,
}

/// A state as it is written.
#[derive(Serialize)]
struct WrittenState<'a> {
    v: FormatVersion,
    request: DeepValue<'a, TurnRequest>,
    turns: u32,
    #[serde(skip_serializing_if = "is_zero")]
    nested_turns: u32,
    usage: Usage,
    calls: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lacks_calls: bool,
    time_used_ms: u64,
    seen: &'a CallRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<DeepValue<'a, OpenTurn>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    done: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    run_ids: &'a BTreeMap<CallId, RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<DeepValue<'a, Vec<&'a WaitingCall>>>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    accepted: &'a BTreeSet<ApprovalId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<DeepValue<'a, Vec<ToolResult>>>,
    #[serde(skip_serializing_if = "is_zero")]
    re_asks: u32,
    #[serde(skip_serializing_if = "LastingState::is_new")]
    conversation: &'a LastingState,
}

/// A state as it is read, before it is checked.
#[derive(Deserialize)]
struct StoredState {
    #[serde(default)]
    v: FormatVersion,
    #[serde(deserialize_with = "json_string::deserialize_deep")]
    request: TurnRequest,
    #[serde(default)]
    turns: u32,
    #[serde(default)]
    nested_turns: u32,
    #[serde(default)]
    usage: Usage,
    #[serde(default)]
    calls: u64,
    #[serde(default)]
    lacks_calls: bool,
    #[serde(default)]
    time_used_ms: u64,
    #[serde(default)]
    seen: CallRow,
    #[serde(default, deserialize_with = "json_string::deserialize_deep_option")]
    open: Option<OpenTurn>,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    run_ids: BTreeMap<CallId, RunId>,
    #[serde(default, deserialize_with = "json_string::deserialize_deep")]
    waiting: Vec<WaitingCall>,
    #[serde(default)]
    accepted: BTreeSet<ApprovalId>,
    #[serde(default, deserialize_with = "json_string::deserialize_deep")]
    failures: Vec<ToolResult>,
    #[serde(default)]
    re_asks: u32,
    #[serde(default)]
    conversation: LastingState,
}

/// Creating and continuing.
impl LoopState {
    /// Creates the initial state of a loop. The tools of the request are removed: each turn offers those of the loop.
    #[must_use]
    pub fn new(mut request: TurnRequest) -> Self {
        request.tools.clear();
        Self {
            v: FormatVersion::default(),
            request,
            turns: 0,
            nested_turns: 0,
            usage: Usage::default(),
            calls: 0,
            lacks_calls: false,
            time_used: Duration::ZERO,
            row: CallRow::default(),
            phase: LoopPhase::Ready,
            run_ids: BTreeMap::new(),
            waits: BTreeMap::new(),
            accepted: BTreeSet::new(),
            failures: Vec::new(),
            re_asks: 0,
            conversation: LastingState::default(),
        }
    }

    /// Answers an open interaction. (A pending approval request is answered with
    /// [`TurnLoop::verdict`](crate::TurnLoop::verdict), as a verdict is checked against the tools.)
    ///
    /// Prefer [`TurnLoop::answer`](crate::TurnLoop::answer) if the loop is available: it checks the answer at once.
    /// Here the value is validated by the tool's success schema when the state is started; until then another answer
    /// replaces this one. If the tool no longer exists then, the answer can't be validated: the call fails with
    /// `unknown_tool`, and the answer is the [metadata](ToolResult::metadata) `answer` of the result, which no model
    /// reads.
    pub fn answer(&mut self, call_id: impl Into<CallId>, value: impl Into<Value>) -> Result<(), StateError> {
        self.interaction(call_id.into()).map(|interaction| interaction.answer((&value.into()).into()))
    }

    /// Closes an open interaction without an answer: the model reads `cancelled` and the reason.
    pub fn close(&mut self, call_id: impl Into<CallId>, reason: impl Into<String>) -> Result<(), StateError> {
        self.interaction(call_id.into()).map(|interaction| interaction.close(reason.into()))
    }

    /// Adds a verdict on a pending approval request, if it passes `check`.
    pub(super) fn verdict(
        &mut self,
        response: Verdict,
        check: impl FnOnce(CallSide, &ApprovalRequest, &Verdict) -> Result<(), VerdictFault>,
    ) -> Result<(), StateError> {
        let request_id = response.request_id.clone();
        let history = &mut self.request.history;
        let Some(pending) = history.pending_request(&request_id) else {
            let pending = pending_requests(history, DecidedRequests::Excluded);
            let pending = pending.into_iter().map(|request| request.request_id).collect();
            return Err(StateError::UnknownApproval { request_id, pending });
        };
        if pending.digest != response.digest {
            return Err(StateError::OtherDigest { request_id });
        }
        let remote = history.open_remote_request(&request_id);
        if remote.is_none() && history.is_decided(&request_id) {
            return Err(StateError::AlreadyDecided { request_id });
        }
        let side = if remote.is_some() { CallSide::Provider } else { CallSide::Application };
        check(side, pending, &response).map_err(|fault| StateError::Verdict { request_id, fault })?;
        history.push(response.into());
        Ok(())
    }
}

/// Reading.
impl LoopState {
    /// Returns the next request. Its tools are empty: each turn offers those of the loop at that time, and
    /// [`LoopEvent::TurnStarted`](crate::LoopEvent::TurnStarted) names them.
    #[must_use]
    pub fn request(&self) -> &TurnRequest {
        &self.request
    }

    /// Returns the next request, to be changed. The model is asked again even if it had finished.
    pub fn request_mut(&mut self) -> &mut TurnRequest {
        if let LoopPhase::Done = self.phase {
            self.phase = LoopPhase::Ready;
        }
        &mut self.request
    }

    /// Returns the conversation so far.
    #[must_use]
    pub fn history(&self) -> &[Item] {
        &self.request.history
    }

    /// Returns the text of the model at the end of the conversation.
    #[must_use]
    pub fn text(&self) -> String {
        let is_by_model = |item: &&Item| match item.author() {
            Author::Model => !matches!(item, Item::ToolCall(_)),
            Author::Provider => true,
            Author::User
            | Author::Application
            | Author::Executor
            | Author::Gate
            | Author::Approver
            | Author::Unknown => false,
        };
        let trailing = self.history().iter().rev().take_while(is_by_model).count();
        let last = &self.history()[self.history().len() - trailing..];
        let parts =
            last.iter().flat_map(|item| if let Item::Message(message) = item { &*message.content } else { &[] });
        parts.filter_map(ContentPart::as_text).collect()
    }

    /// Reports whether the model has finished and nothing was added since. Such a state ends immediately when it is
    /// started.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.phase, LoopPhase::Done)
    }

    /// Returns the number of turns.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns the number of turns of [sub-agents](crate::TurnLoop::as_tool), at all depths. They do not count for
    /// [`max_turns`](crate::TurnLoop::max_turns).
    #[must_use]
    pub fn sub_agent_turns(&self) -> u32 {
        self.nested_turns
    }

    /// Returns the usage, including that of sub-agents, and of failed attempts as far as it is known.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the number of calls that were run, including those of sub-agents.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Returns the time for which the loop ran, in whole milliseconds.
    #[must_use]
    pub fn time_used(&self) -> Duration {
        self.time_used
    }

    /// Returns the pending approval requests without a verdict, in order: those of calls that wait here, and those of
    /// the provider for calls that it executes.
    #[must_use]
    pub fn approvals(&self) -> Vec<ApprovalRequest> {
        pending_requests(self.history(), DecidedRequests::Excluded)
    }

    /// Returns the interactions that are not finished yet, answered or not.
    #[must_use]
    pub fn interactions(&self) -> &[Interaction] {
        self.phase.open().map_or(&[], |open| &open.interactions)
    }

    pub(super) fn interaction(&mut self, call_id: CallId) -> Result<&mut Interaction, StateError> {
        let found = self.phase.open_mut().and_then(|open| open.interactions.get_mut(&call_id));
        found.ok_or(StateError::UnknownInteraction { call_id })
    }
}

impl From<TurnRequest> for LoopState {
    fn from(request: TurnRequest) -> Self {
        Self::new(request)
    }
}

impl TryFrom<StoredState> for LoopState {
    type Error = StateError;

    fn try_from(stored: StoredState) -> Result<Self, StateError> {
        let StoredState {
            v,
            request,
            turns,
            nested_turns,
            usage,
            calls,
            lacks_calls,
            time_used_ms,
            seen,
            open,
            done,
            run_ids,
            waiting,
            accepted,
            failures,
            re_asks,
            conversation,
        } = stored;
        let time_used = Duration::from_millis(time_used_ms);
        let phase = match (open, done) {
            (Some(_), true) => return Err(StateError::DoneWhileOpen),
            (Some(open), false) => LoopPhase::Open(Box::new(open)),
            (None, true) => LoopPhase::Done,
            (None, false) => LoopPhase::Ready,
        };
        let waits = waiting.into_iter().map(|waiting| (waiting.call().call_id.clone(), waiting)).collect();
        let state = Self { phase, run_ids, waits, accepted, failures, re_asks, conversation, ..Self::new(request) };
        let state = Self { v, turns, nested_turns, usage, calls, lacks_calls, time_used, row: seen, ..state };
        state.check().map(|()| state)
    }
}

impl Serialize for LoopState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            v,
            request,
            turns,
            nested_turns,
            usage,
            calls,
            lacks_calls,
            time_used,
            row,
            phase,
            run_ids,
            waits,
            accepted,
            failures,
            re_asks,
            conversation,
        } = self;
        let waiting: Vec<&WaitingCall> = waits.values().collect();
        WrittenState {
            v: *v,
            request: DeepValue(request),
            turns: *turns,
            nested_turns: *nested_turns,
            usage: *usage,
            calls: *calls,
            lacks_calls: *lacks_calls,
            time_used_ms: u64::try_from(time_used.as_millis()).unwrap_or(u64::MAX),
            seen: row,
            open: phase.open().map(DeepValue),
            done: self.is_done(),
            run_ids,
            waiting: (!waiting.is_empty()).then_some(DeepValue(&waiting)),
            accepted,
            failures: (!failures.is_empty()).then_some(DeepValue(failures)),
            re_asks: *re_asks,
            conversation,
        }
        .serialize(serializer)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl LoopPhase {
    /// Returns the turn that is not concluded yet.
    pub(super) fn open(&self) -> Option<&OpenTurn> {
        match self {
            Self::Open(open) => Some(open),
            Self::Ready | Self::Done => None,
        }
    }

    /// Returns the turn that is not concluded yet, to be changed.
    pub(super) fn open_mut(&mut self) -> Option<&mut OpenTurn> {
        match self {
            Self::Open(open) => Some(open),
            Self::Ready | Self::Done => None,
        }
    }

    /// Concludes the open turn and enters the next phase. Without an open turn nothing changes.
    pub(super) fn close(&mut self, next: Self) -> Option<Box<OpenTurn>> {
        match std::mem::replace(self, next) {
            Self::Open(open) => Some(open),
            other @ (Self::Ready | Self::Done) => {
                *self = other;
                None
            }
        }
    }
}
