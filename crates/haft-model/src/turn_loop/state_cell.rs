//! The state of a running loop.
//!
//! There is one copy, shared by the loop and its reader. The loop changes it only in whole steps (a turn with its results, a
//! result with its verdict), so a snapshot may be stored at any time. No code of the user's runs while it is locked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_core::history::Staged;
use haft_core::{History, ToolResult, Turn, TurnRequest};
use tokio::time::Instant;

use super::event::LoopEvent;
use super::state::LoopState;
use super::verdict::write_down;

/// The one copy of the state. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct StateCell(Arc<Mutex<SharedState>>);

#[derive(Debug)]
struct SharedState {
    state: LoopState,
    /// The turn whose calls run now. It stands at the end of the history and is no part of the state yet.
    staged: Option<Staged>,
    /// Results of calls that waited, which are yet to be put in their places.
    results: Vec<ToolResult>,
    /// The events about results that had no place.
    unplaced: Vec<LoopEvent>,
    /// When the loop was first polled; none once it has ended.
    since: Option<Instant>,
}

impl StateCell {
    pub(super) fn new(state: LoopState) -> Self {
        let (results, unplaced) = (Vec::new(), Vec::new());
        Self(Arc::new(Mutex::new(SharedState { state, staged: None, results, unplaced, since: None })))
    }

    /// From now on time counts.
    pub(super) fn start_clock(&self) {
        self.shared().since = Some(Instant::now());
    }

    /// Time no longer counts.
    pub(super) fn stop_clock(&self) {
        let mut shared = self.shared();
        shared.state.time_used = shared.time_used();
        shared.since = None;
    }

    /// The state by now.
    pub(super) fn snapshot(&self) -> LoopState {
        let mut shared = self.shared();
        shared.place_results();
        let mut state = shared.state.clone();
        if let Some(whole) = shared.staged.as_ref().and_then(|staged| state.history().get(..staged.start())) {
            state.request.history = whole.into();
        }
        state.time_used = shared.time_used();
        state
    }

    /// The state by now, without a copy if nobody else has the cell.
    pub(super) fn into_state(self) -> LoopState {
        match Arc::try_unwrap(self.0).map(|alone| alone.into_inner().unwrap_or_else(PoisonError::into_inner)) {
            Ok(mut shared) if shared.staged.is_none() => {
                shared.place_results();
                shared.state.time_used = shared.time_used();
                shared.state
            }
            Ok(midway) => Self(Arc::new(Mutex::new(midway))).snapshot(),
            Err(shared) => Self(shared).snapshot(),
        }
    }

    /// How long the loop ran by now.
    pub(super) fn time_used(&self) -> Duration {
        self.shared().time_used()
    }

    /// Looks at the state.
    pub(super) fn read<T>(&self, look: impl FnOnce(&LoopState) -> T) -> T {
        look(&self.shared().state)
    }

    /// Changes the state.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut LoopState) -> T) -> T {
        change(&mut self.shared().state)
    }

    /// Puts a turn at the end of the history while its calls run, and returns the history to show them. The state is as
    /// before until the turn is [completed](Self::complete).
    pub(super) fn stage(&self, turn: &Turn) -> History {
        let mut shared = self.shared();
        shared.staged = Some(shared.state.request.history.stage(turn));
        shared.state.request.history.clone()
    }

    /// Changes the state to one with the turn that was staged, if one was.
    pub(super) fn complete<T>(&self, change: impl FnOnce(&mut LoopState, Option<Staged>) -> T) -> T {
        let mut shared = self.shared();
        let staged = shared.staged.take();
        change(&mut shared.state, staged)
    }

    /// Adds the result of a call that waited. It is in the state from now on; it is put in its place with others, as that
    /// costs as much as the history is long.
    pub(super) fn add_result(&self, result: ToolResult) {
        self.shared().results.push(result);
    }

    /// Puts all results in their places, and returns what is to be told about those that have none.
    pub(super) fn place_results(&self) -> Vec<LoopEvent> {
        let mut shared = self.shared();
        shared.place_results();
        std::mem::take(&mut shared.unplaced)
    }

    /// Lends the request to code of the user's, without a lock and without a copy.
    pub(super) fn lend_request<T>(&self, user: impl FnOnce(&mut TurnRequest) -> T) -> T {
        let lent = std::mem::replace(&mut self.shared().state.request, TurnRequest::new("", Vec::new()));
        let mut lent = LentRequest { cell: self, request: Some(lent) };
        user(lent.request.get_or_insert_with(|| TurnRequest::new("", Vec::new())))
    }

    fn shared(&self) -> MutexGuard<'_, SharedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedState {
    fn place_results(&mut self) {
        if !self.results.is_empty() {
            let results = std::mem::take(&mut self.results);
            self.unplaced.extend(write_down(&mut self.state, results));
        }
    }

    fn time_used(&self) -> Duration {
        let now = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        let used = self.state.time_used.saturating_add(now);
        // Cut to what is written, so that a stored state is the same when it is read.
        Duration::from_millis(u64::try_from(used.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Brings the request back, also when the code it was lent to panicked.
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
