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
pub(super) struct StateCell(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Kept {
    state: LoopState,
    /// The turn whose calls run now. It stands at the end of the history and is no part of the state yet.
    staged: Option<Staged>,
    /// Results of calls that waited, which are yet to be put in their places.
    landed: Vec<ToolResult>,
    /// The events about results that had no place.
    unplaced: Vec<LoopEvent>,
    /// When the loop was first polled; none once it has ended.
    since: Option<Instant>,
}

impl StateCell {
    pub(super) fn new(state: LoopState) -> Self {
        let (landed, unplaced) = (Vec::new(), Vec::new());
        Self(Arc::new(Mutex::new(Kept { state, staged: None, landed, unplaced, since: None })))
    }

    /// From now on time counts.
    pub(super) fn start_clock(&self) {
        self.kept().since = Some(Instant::now());
    }

    /// Time no longer counts.
    pub(super) fn stop_clock(&self) {
        let mut kept = self.kept();
        kept.state.time_used = kept.time_used();
        kept.since = None;
    }

    /// The state by now.
    pub(super) fn snapshot(&self) -> LoopState {
        let mut kept = self.kept();
        kept.place_landed();
        let mut state = kept.state.clone();
        if let Some(whole) = kept.staged.as_ref().and_then(|staged| state.history().get(..staged.start())) {
            state.request.history = whole.into();
        }
        state.time_used = kept.time_used();
        state
    }

    /// The state by now, without a copy if nobody else has the cell.
    pub(super) fn into_state(self) -> LoopState {
        match Arc::try_unwrap(self.0).map(|alone| alone.into_inner().unwrap_or_else(PoisonError::into_inner)) {
            Ok(mut kept) if kept.staged.is_none() => {
                kept.place_landed();
                kept.state.time_used = kept.time_used();
                kept.state
            }
            Ok(midway) => Self(Arc::new(Mutex::new(midway))).snapshot(),
            Err(shared) => Self(shared).snapshot(),
        }
    }

    /// How long the loop ran by now.
    pub(super) fn time_used(&self) -> Duration {
        self.kept().time_used()
    }

    /// Looks at the state.
    pub(super) fn read<T>(&self, look: impl FnOnce(&LoopState) -> T) -> T {
        look(&self.kept().state)
    }

    /// Changes the state.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut LoopState) -> T) -> T {
        change(&mut self.kept().state)
    }

    /// Puts a turn at the end of the history while its calls run, and returns the history to show them. The state is as
    /// before until the turn is [completed](Self::complete).
    pub(super) fn stage(&self, turn: &Turn) -> History {
        let mut kept = self.kept();
        kept.staged = Some(kept.state.request.history.stage(turn));
        kept.state.request.history.clone()
    }

    /// Changes the state to one with the turn that was staged, if one was.
    pub(super) fn complete<T>(&self, change: impl FnOnce(&mut LoopState, Option<Staged>) -> T) -> T {
        let mut kept = self.kept();
        let staged = kept.staged.take();
        change(&mut kept.state, staged)
    }

    /// Adds the result of a call that waited. It is in the state from now on; it is put in its place with others, as that
    /// costs as much as the history is long.
    pub(super) fn land(&self, result: ToolResult) {
        self.kept().landed.push(result);
    }

    /// Puts all results in their places, and returns what is to be told about those that have none.
    pub(super) fn place_landed(&self) -> Vec<LoopEvent> {
        let mut kept = self.kept();
        kept.place_landed();
        std::mem::take(&mut kept.unplaced)
    }

    /// Lends the request to code of the user's, without a lock and without a copy.
    pub(super) fn lend_request<T>(&self, user: impl FnOnce(&mut TurnRequest) -> T) -> T {
        let lent = std::mem::replace(&mut self.kept().state.request, TurnRequest::new("", Vec::new()));
        let mut lent = Lent { cell: self, request: Some(lent) };
        user(lent.request.get_or_insert_with(|| TurnRequest::new("", Vec::new())))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn place_landed(&mut self) {
        if !self.landed.is_empty() {
            let landed = std::mem::take(&mut self.landed);
            self.unplaced.extend(write_down(&mut self.state, landed));
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
struct Lent<'a> {
    cell: &'a StateCell,
    request: Option<TurnRequest>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.cell.kept().state.request = request;
        }
    }
}
