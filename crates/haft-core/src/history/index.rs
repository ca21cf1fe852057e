//! An incremental index of the items of a history.
//!
//! Each item is read once, when it is added. Everything that a new turn needs to know about the items before it (the
//! used ids, whether the history is reconciled, the pending approval requests) is then looked up at a cost that does
//! not depend on the length of the history. The index must always agree with a scan of all items.

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
    /// The call ids that occur in items before any call has them.
    mentioned: HashSet<CallId>,
    /// For each id, the largest number such that it and all smaller ones are used: `call_0_2`, `call_0_3`, …
    numbers: HashMap<CallId, usize>,
    /// The first request of each id, by its index among the layout's requests.
    requests: HashMap<ApprovalId, usize>,
    /// The ids of requests that have a response.
    decided: HashSet<ApprovalId>,
    /// The requests of a provider, for calls that it executes, that have no response after them.
    open_remote: HashSet<ApprovalId>,
}

impl Index {
    pub(super) fn of(items: &[Item]) -> Self {
        let mut index = Self {
            scan: LayoutScan::of(items),
            read: 0,
            mentioned: HashSet::new(),
            numbers: HashMap::new(),
            requests: HashMap::new(),
            decided: HashSet::new(),
            open_remote: HashSet::new(),
        };
        index.record(items);
        index
    }

    /// Reads the items that were added. The items before must be unchanged.
    pub(super) fn catch_up(&mut self, items: &[Item]) {
        match self.scan.read_from(items, self.read) {
            Ok(()) => self.record(items),
            Err(_outdated) => *self = Self::of(items),
        }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.scan.layout
    }

    /// Reports whether a call has this id, including calls that the provider executes.
    pub(super) fn is_call_id(&self, id: &CallId) -> bool {
        self.scan.is_call_id(id)
    }

    /// Reports whether the provider executes a call with this id.
    pub(super) fn is_remote(&self, id: &CallId) -> bool {
        self.scan.is_remote(id)
    }

    /// Reports whether any item contains this id.
    pub(super) fn is_mentioned(&self, id: &CallId) -> bool {
        self.mentioned.contains(id) || self.is_call_id(id)
    }

    /// Returns the last number used for an id, before the first unused one.
    pub(super) fn last_number(&self, id: &CallId) -> usize {
        self.numbers.get(id).copied().unwrap_or(FIRST_NUMBER)
    }

    /// Returns the first request with this id, unless its call has an output or does not exist.
    pub(super) fn pending_request<'h>(&self, items: &'h [Item], id: &ApprovalId) -> Option<&'h ApprovalRequest> {
        let (at, call) = *self.layout().requests.get(*self.requests.get(id)?)?;
        let Some(Item::ApprovalRequest(request)) = items.get(at) else { return None };
        let local = call.map(|call| &self.layout().calls[call]).filter(|call| !call.is_remote);
        let is_open = match local {
            Some(call) => call.answer.is_none(),
            None => self.is_remote_request(request, call),
        };
        is_open.then_some(request)
    }

    /// Reports whether a request has this id.
    pub(super) fn is_requested(&self, id: &ApprovalId) -> bool {
        self.requests.contains_key(id)
    }

    /// Reports whether a request of a provider has no response.
    pub(super) fn has_open_remote(&self) -> bool {
        !self.open_remote.is_empty()
    }

    /// Returns the request of a provider with this id, if it has no response.
    pub(super) fn open_remote_request<'h>(&self, items: &'h [Item], id: &ApprovalId) -> Option<&'h ApprovalRequest> {
        self.open_remote.get(id).and_then(|id| self.pending_request(items, id))
    }

    /// Reports whether a call with this id is executed locally.
    pub(super) fn is_local(&self, id: &CallId) -> bool {
        self.scan.is_local(id)
    }

    /// Reports whether a request, about this call of the layout, is that of a provider for a call that it executes.
    fn is_remote_request(&self, request: &ApprovalRequest, call: Option<usize>) -> bool {
        call.is_none_or(|call| self.layout().calls[call].is_remote) && !request.provider_data.is_empty()
    }

    /// Reports whether the request with this id has a response.
    pub(super) fn is_decided(&self, id: &ApprovalId) -> bool {
        self.decided.contains(id)
    }

    fn record(&mut self, items: &[Item]) {
        let new = items.get(self.read..).unwrap_or_default();
        let mut requests = self.requests_read();
        for item in new {
            if let Some(id) = mentioned(item) {
                if !self.scan.is_call_id(id) {
                    self.mentioned.insert(id.clone());
                }
                self.count(id);
            }
            match item {
                Item::ApprovalRequest(request) => {
                    let call = self.layout().requests.get(requests).and_then(|&(_, call)| call);
                    if !self.is_requested(&request.request_id) && self.is_remote_request(request, call) {
                        self.open_remote.insert(request.request_id.clone());
                    }
                    self.requests.entry(request.request_id.clone()).or_insert(requests);
                    requests += 1;
                }
                Item::Verdict(response) => {
                    self.open_remote.remove(&response.request_id);
                    self.decided.insert(response.request_id.clone());
                }
                _ => {}
            }
        }
        self.read = items.len();
    }

    /// Returns the number of requests among the items that were read.
    fn requests_read(&self) -> usize {
        self.layout().requests.partition_point(|&(at, _)| at < self.read)
    }

    /// Records the number at the end of an id as used, if it is the next one.
    fn count(&mut self, id: &CallId) {
        let Some((stem, number)) = id.as_str().rsplit_once('_') else { return };
        let Ok(mut number) = number.parse::<usize>() else { return };
        let last = self.numbers.get(stem).copied().unwrap_or(FIRST_NUMBER);
        // `2`, `02` and `+2` parse to the same number, but only the first spelling is generated.
        if Some(number) != last.checked_add(1) || numbered(stem, number) != *id {
            return;
        }
        while let Some(next) = number.checked_add(1).filter(|next| self.is_mentioned(&numbered(stem, *next))) {
            number = next;
        }
        self.numbers.insert(stem.into(), number);
    }
}
