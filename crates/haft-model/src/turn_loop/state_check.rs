//! The consistency of a state.
//!
//! A stored state that contradicts itself must be rejected when it is read, and again before it is started, as the
//! application may have changed its history.

use std::collections::{HashMap, HashSet};

use haft_core::{CallId, Finish, Item, ToolCall, Turn, history};

use super::state::LoopState;
use super::state_error::StateError;

impl LoopState {
    /// Checks that the state is consistent: everything that is open is about a call of the history.
    pub(super) fn check(&self) -> Result<(), StateError> {
        self.check_open()?;
        self.check_interactions()?;
        let mut calls: HashSet<&CallId> = HashSet::new();
        for item in self.history() {
            match item {
                Item::ToolCall(call) => drop(calls.insert(&call.call_id)),
                // A provider may use its own ids in approval requests for its own calls.
                Item::ApprovalRequest(request)
                    if request.provider_data.is_empty() && !calls.contains(&request.call_id) =>
                {
                    let (request_id, call_id) = (request.request_id.clone(), request.call_id.clone());
                    return Err(StateError::MissingAskedCall { request_id, call_id });
                }
                _ => {}
            }
        }
        self.check_questions()?;
        let open = self.phase.open().into_iter().flat_map(|open| open.turn.tool_calls());
        match open.map(|call| call.call_id).find(|call_id| !calls.contains(call_id)) {
            Some(call_id) => Err(StateError::MissingTurnCall { call_id }),
            None => Ok(()),
        }
    }

    fn check_open(&self) -> Result<(), StateError> {
        // A model that has finished may have nothing to say.
        let is_silent = |turn: &Turn| turn.items.is_empty() && turn.finish != Finish::Stop;
        let is_empty = self.phase.open().is_some_and(|open| is_silent(&open.turn));
        if is_empty { Err(StateError::EmptyTurn) } else { Ok(()) }
    }

    fn check_interactions(&self) -> Result<(), StateError> {
        if self.interactions().is_empty() {
            return Ok(());
        }
        // The last call of each id, and the last output.
        let (mut asked, mut answered) = (HashMap::new(), HashMap::new());
        for (at, item) in self.history().iter().enumerate() {
            if let Some(call) = item.local_call() {
                asked.insert(&call.call_id, (at, call));
            }
            if let Item::ToolOutput(output) = item {
                answered.insert(&output.call_id, at);
            }
        }
        let mut said: HashMap<&CallId, Vec<&ToolCall>> = HashMap::new();
        for item in self.phase.open().into_iter().flat_map(|open| &open.turn.items) {
            if let Item::ToolCall(call) = item {
                said.entry(&call.call_id).or_default().push(call);
            }
        }
        let mut ids = HashSet::new();
        for interaction in self.interactions() {
            let call_id = interaction.call_id();
            if !ids.insert(call_id) {
                return Err(StateError::DuplicateInteraction { call_id: call_id.clone() });
            }
            let Some(&(at, found)) = asked.get(call_id) else {
                return Err(StateError::MissingCall { call_id: call_id.clone() });
            };
            if answered.get(call_id).is_some_and(|&output| output > at) {
                return Err(StateError::AnsweredCall { call_id: call_id.clone() });
            }
            if !interaction.is_about(found) {
                return Err(StateError::OtherCall { call_id: call_id.clone(), at });
            }
            if !said.get(call_id).is_some_and(|said| said.iter().any(|said| interaction.is_about(said))) {
                return Err(StateError::ForeignInteraction { call_id: call_id.clone() });
            }
        }
        Ok(())
    }

    /// Checks that every question that is open is one of a call whose state is known.
    fn check_questions(&self) -> Result<(), StateError> {
        let asks = |item: &Item| matches!(item, Item::ApprovalRequest(request) if request.question.is_some());
        if !self.history().iter().any(asks) {
            return Ok(());
        }
        for pending in history::approvals(self.history()).pending {
            let (request, call_id) = (pending.request, pending.call.call_id);
            let is_known = |request_id| self.waits.get(&call_id).is_some_and(|waiting| waiting.asks(request_id));
            if request.question.is_some() && !is_known(&request.request_id) {
                return Err(StateError::MissingWait { request_id: request.request_id, call_id });
            }
        }
        Ok(())
    }
}
