//! An index of the items of a history that grows.
//!
//! Each item is read once, when it is added. What a turn needs to know about everything before it (which ids are given
//! away, whether the history is whole, which questions are open) is then looked up, at a cost that does not depend on the
//! length of the history. An index must never answer otherwise than reading all items again would.

use std::collections::{HashMap, HashSet};

use super::fresh_id::{FIRST_NUMBER, mentioned, numbered};
use super::layout::{Layout, LayoutScan};
use crate::call::CallId;
use crate::item::{ApprovalId, ApprovalRequest, Item};

/// An index of the first items of a history.
#[derive(Debug)]
pub(super) struct Index {
    scan: LayoutScan,
    /// The number of items that were read.
    read: usize,
    /// The ids that items mention which no call had when they were read.
    mentioned: HashSet<CallId>,
    /// For an id, the largest number such that it and all before it are used: `call_0_2`, `call_0_3`, …
    numbers: HashMap<CallId, usize>,
    /// The first request of each id, by its place among the layout's requests.
    questions: HashMap<ApprovalId, usize>,
    /// The ids of requests that a response names.
    decided: HashSet<ApprovalId>,
}

impl Index {
    pub(super) fn of(items: &[Item]) -> Self {
        let mut index = Self {
            scan: LayoutScan::of(items),
            read: 0,
            mentioned: HashSet::new(),
            numbers: HashMap::new(),
            questions: HashMap::new(),
            decided: HashSet::new(),
        };
        index.note(items);
        index
    }

    /// Reads the items that were added. Those read before must be as they were.
    pub(super) fn catch_up(&mut self, items: &[Item]) {
        match self.scan.read_from(items, self.read) {
            Ok(()) => self.note(items),
            Err(_outdated) => *self = Self::of(items),
        }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.scan.layout
    }

    /// Reports whether a call has this id, be it one that the provider runs.
    pub(super) fn is_call_id(&self, id: &CallId) -> bool {
        self.scan.is_call_id(id)
    }

    /// Reports whether the provider runs a call of this id.
    pub(super) fn is_remote(&self, id: &CallId) -> bool {
        self.scan.is_remote(id)
    }

    /// Reports whether any item mentions this id.
    pub(super) fn is_mentioned(&self, id: &CallId) -> bool {
        self.mentioned.contains(id) || self.is_call_id(id)
    }

    /// The last number that is used for an id, up to the first that is free.
    pub(super) fn last_number(&self, id: &CallId) -> usize {
        self.numbers.get(id).copied().unwrap_or(FIRST_NUMBER)
    }

    /// The first request of an id, unless its call has its output or is not there.
    pub(super) fn open_question<'h>(&self, items: &'h [Item], id: &ApprovalId) -> Option<&'h ApprovalRequest> {
        let (at, call) = *self.layout().requests.get(*self.questions.get(id)?)?;
        let Some(Item::ApprovalRequest(request)) = items.get(at) else { return None };
        let call = call.map(|call| &self.layout().calls[call]).filter(|call| !call.is_remote);
        let is_open = match call {
            Some(call) => call.answer.is_none(),
            // A provider asks about what it runs itself.
            None => !request.provider_data.is_empty(),
        };
        is_open.then_some(request)
    }

    /// Reports whether a response names the request of this id.
    pub(super) fn is_decided(&self, id: &ApprovalId) -> bool {
        self.decided.contains(id)
    }

    fn note(&mut self, items: &[Item]) {
        let new = items.get(self.read..).unwrap_or_default();
        let mut requests = self.questions_read();
        for item in new {
            if let Some(id) = mentioned(item) {
                if !self.scan.is_call_id(id) {
                    self.mentioned.insert(id.clone());
                }
                self.count(id);
            }
            match item {
                Item::ApprovalRequest(request) => {
                    self.questions.entry(request.request_id.clone()).or_insert(requests);
                    requests += 1;
                }
                Item::ApprovalResponse(response) => drop(self.decided.insert(response.request_id.clone())),
                _ => {}
            }
        }
        self.read = items.len();
    }

    /// Returns the number of requests among the items read.
    fn questions_read(&self) -> usize {
        self.layout().requests.partition_point(|&(at, _)| at < self.read)
    }

    /// Notes that the number at the end of an id is used, if it is the next one.
    fn count(&mut self, id: &CallId) {
        let Some((stem, number)) = id.as_str().rsplit_once('_') else { return };
        let Ok(mut number) = number.parse::<usize>() else { return };
        let last = self.numbers.get(stem).copied().unwrap_or(FIRST_NUMBER);
        // A number may be spelled in several ways, of which one is handed out.
        if Some(number) != last.checked_add(1) || numbered(stem, number) != *id {
            return;
        }
        while let Some(next) = number.checked_add(1).filter(|next| self.is_mentioned(&numbered(stem, *next))) {
            number = next;
        }
        self.numbers.insert(stem.into(), number);
    }
}
