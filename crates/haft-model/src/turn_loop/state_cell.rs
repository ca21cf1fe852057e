//! The state of a running loop.
//!
//! There is one copy, shared by the loop and its reader. The loop changes it only in complete steps (a turn with its
//! results, a result with its verdict), so a snapshot may be stored at any time. User code must never run while it is
//! locked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_core::history::Staged;
use haft_core::{CallId, ToolCall, ToolResult, TurnRequest, Verdict};
use tokio::time::Instant;

use super::event::LoopEvent;
use super::state::LoopState;
use super::triage::CallCounts;
use super::turn_calls::{RunningTurn, outcome_unknown};
use super::verdict::record_results;

/// The state of a running loop. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct StateCell(Arc<Mutex<SharedState>>);

/// The shared part of the cell.
#[derive(Debug)]
struct SharedState {
    state: LoopState,
    /// The turn whose calls run now. It is at the end of the history and not part of the state yet.
    staged: Option<StagedTurn>,
    /// The calls that waited and run now, or are about to.
    resumed: ResumedCalls,
    /// Results of calls that waited, which are not in the history yet.
    results: Vec<ToolResult>,
    /// The events of results that could not be added.
    unplaced: Vec<LoopEvent>,
    /// The time of the first poll; `None` before it and after the end of the loop.
    since: Option<Instant>,
}

/// A turn whose calls run.
#[derive(Debug)]
struct StagedTurn {
    staged: Staged,
    turn: RunningTurn,
    counts: CallCounts,
}

/// Calls that are resumed in one run.
#[derive(Debug, Default)]
pub(super) struct ResumedCalls {
    /// Those that may run.
    pub(super) running: Vec<ToolCall>,
    /// The verdicts on the others, which run nothing.
    pub(super) verdicts: Vec<(CallId, Verdict)>,
}

impl StateCell {
    pub(super) fn new(state: LoopState) -> Self {
        let (results, unplaced, resumed) = (Vec::new(), Vec::new(), ResumedCalls::default());
        Self(Arc::new(Mutex::new(SharedState { state, staged: None, resumed, results, unplaced, since: None })))
    }

    /// Starts counting the time.
    pub(super) fn start_clock(&self) {
        self.shared().since = Some(Instant::now());
    }

    /// Stops counting the time.
    pub(super) fn stop_clock(&self) {
        let mut shared = self.shared();
        shared.state.time_used = shared.time_used();
        shared.since = None;
    }

    /// Returns a copy of the state.
    pub(super) fn snapshot(&self) -> LoopState {
        let mut shared = self.shared();
        shared.place_results();
        let mut state = shared.state.clone();
        let start = shared.staged.as_ref().map(|turn| turn.staged.start());
        if let Some(whole) = start.and_then(|start| state.history().get(..start)) {
            state.request.history = whole.into();
        }
        state.time_used = shared.time_used();
        state
    }

    /// Returns a copy of the state with the calls that run, as it would be if the process ended now.
    pub(super) fn checkpoint(&self) -> LoopState {
        let mut shared = self.shared();
        shared.place_results();
        let mut state = shared.state.clone();
        state.time_used = shared.time_used();
        shared.resumed.assume_ended(&mut state);
        let recorded = shared.staged.as_ref().map(|StagedTurn { staged, turn, counts }| {
            let mut turn = turn.snapshot();
            turn.assume_ended();
            turn.record(&mut state, Some(staged), counts.clone())
        });
        // What was replaced is not dropped under the lock: a result may hold an error of user code.
        drop(shared);
        drop(recorded);
        state
    }

    /// Returns the state, without a copy if the cell is not shared.
    pub(super) fn into_state(self) -> LoopState {
        match Arc::try_unwrap(self.0).map(|alone| alone.into_inner().unwrap_or_else(PoisonError::into_inner)) {
            Ok(mut shared) if shared.staged.is_none() => {
                shared.place_results();
                shared.state.time_used = shared.time_used();
                shared.state
            }
            Ok(staged) => Self(Arc::new(Mutex::new(staged))).snapshot(),
            Err(shared) => Self(shared).snapshot(),
        }
    }

    /// Returns the time for which the loop ran.
    pub(super) fn time_used(&self) -> Duration {
        self.shared().time_used()
    }

    /// Reads the state.
    pub(super) fn read<T>(&self, look: impl FnOnce(&LoopState) -> T) -> T {
        look(&self.shared().state)
    }

    /// Changes the state.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut LoopState) -> T) -> T {
        change(&mut self.shared().state)
    }

    /// Adds a turn at the end of the history while its calls run. The state is as before until the turn is
    /// [completed](Self::complete).
    pub(super) fn stage(&self, turn: RunningTurn, counts: CallCounts) {
        let mut shared = self.shared();
        let staged = shared.state.request.history.stage(turn.snapshot().turn());
        shared.staged = Some(StagedTurn { staged, turn, counts });
    }

    /// Changes the state to include the staged turn, if there is one.
    pub(super) fn complete<T>(&self, change: impl FnOnce(&mut LoopState, Option<&Staged>) -> T) -> T {
        let mut shared = self.shared();
        let staged = shared.staged.take();
        let changed = change(&mut shared.state, staged.as_ref().map(|turn| &turn.staged));
        // Dropped without the lock, as it holds results.
        drop(shared);
        changed
    }

    /// Notes the calls that are about to be resumed. Their verdicts are no longer part of the state.
    pub(super) fn resume(&self, calls: ResumedCalls) {
        self.shared().resumed = calls;
    }

    /// Notes that a resumed call has its outcome, or waits again.
    pub(super) fn settle(&self, call_id: &CallId) {
        let ResumedCalls { running, verdicts } = &mut self.shared().resumed;
        running.retain(|call| call.call_id != *call_id);
        verdicts.retain(|(decided, _)| decided != call_id);
    }

    /// Adds the result of a call that waited. It is part of the state from now on; it is inserted into the history
    /// together with others, as an insertion takes time proportional to the length of the history.
    pub(super) fn add_result(&self, result: ToolResult) {
        self.shared().results.push(result);
    }

    /// Inserts all results into the history, and returns the events of those that can't be added.
    pub(super) fn place_results(&self) -> Vec<LoopEvent> {
        let mut shared = self.shared();
        shared.place_results();
        std::mem::take(&mut shared.unplaced)
    }

    /// Lends the request to user code, without a lock and without a copy.
    pub(super) fn lend_request<T>(&self, user: impl FnOnce(&mut TurnRequest) -> T) -> T {
        let lent = std::mem::replace(&mut self.shared().state.request, TurnRequest::new("", Vec::new()));
        let mut lent = LentRequest { cell: self, request: Some(lent) };
        user(lent.request.get_or_insert_with(|| TurnRequest::new("", Vec::new())))
    }

    fn shared(&self) -> MutexGuard<'_, SharedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResumedCalls {
    /// Gives a result to the calls that may run, and returns the other verdicts to their requests.
    fn assume_ended(&self, state: &mut LoopState) {
        if !self.running.is_empty() {
            drop(record_results(state, self.running.iter().map(outcome_unknown).collect()));
        }
        state.request.history.extend(self.verdicts.iter().map(|(_, verdict)| verdict.clone().into()));
    }
}

impl SharedState {
    fn place_results(&mut self) {
        if !self.results.is_empty() {
            let results = std::mem::take(&mut self.results);
            self.unplaced.extend(record_results(&mut self.state, results));
        }
    }

    fn time_used(&self) -> Duration {
        let now = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        let used = self.state.time_used.saturating_add(now);
        // Truncated to the written precision, so that a stored state is read back unchanged.
        Duration::from_millis(u64::try_from(used.as_millis()).unwrap_or(u64::MAX))
    }
}

/// A lent request, which is returned when this is dropped, also after a panic.
struct LentRequest<'a> {
    cell: &'a StateCell,
    request: Option<TurnRequest>,
}

impl Drop for LentRequest<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.cell.shared().state.request = request;
        }
    }
}
