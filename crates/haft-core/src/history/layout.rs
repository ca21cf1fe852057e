//! The positions of calls in a history, and which output answers which call.
//!
//! Only this module defines what a group is and how outputs are matched with calls; the rest of `history` uses it. A
//! layout holds positions only, so it stays valid while ids are changed, and is built in one pass in linear time. The
//! match of an output must never depend on later items, except for outputs that precede every call with their id.
//!
//! A [`LayoutScan`] can continue where it stopped, so a growing history is read once and not once per turn.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::change::RemovalReason;
use super::fresh_id::call_at;
use crate::call::CallId;
use crate::item::{ApprovalRequest, Item, Role, ToolCallOutput};

/// The calls, groups and outputs of a history, by position.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Every tool call, in order.
    pub(super) calls: Vec<Call>,
    /// Every sequence of items on the assistant's side, in order.
    pub(super) groups: Vec<CallGroup>,
    /// The position of every output and the call it belongs to, in order.
    pub(super) outputs: Vec<(usize, Owner)>,
    /// The position of every approval request and the call it is for, in order.
    pub(super) requests: Vec<(usize, Option<usize>)>,
    /// The number of calls that are executed locally and have no output.
    open: usize,
    /// The number of faults that no later item can fix.
    faults: usize,
}

/// One tool call.
#[derive(Debug)]
pub(super) struct Call {
    /// The position of the call.
    pub(super) item: usize,
    /// The index of its group.
    pub(super) group: usize,
    /// Set if the provider executes the call, so that it needs no output.
    pub(super) is_remote: bool,
    /// Set if an earlier call has the same id.
    pub(super) repeats: bool,
    /// The output that answers the call; always `None` for a call that the provider executes.
    pub(super) answer: Option<AnsweringOutput>,
}

/// The output that answers a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnsweringOutput {
    /// The position of the output.
    pub(super) item: usize,
    /// Set if the output directly follows the group of the call.
    pub(super) in_place: bool,
}

/// A sequence of items on the assistant's side.
#[derive(Debug)]
pub(super) struct CallGroup {
    /// The position after which missing outputs are inserted.
    pub(super) anchor: usize,
    /// The indexes of its calls.
    pub(super) calls: Range<usize>,
}

/// The call that an output belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    /// The output answers a call that is executed locally.
    Call(usize),
    /// The output belongs to a call that the provider executes. The index is set if the call precedes it.
    Provider(Option<usize>),
    /// The output answers no call.
    Unmatched(RemovalReason),
}

impl Layout {
    pub(super) fn of(items: &[Item]) -> Self {
        LayoutScan::of(items).layout
    }

    /// Reports whether the history is reconciled: it has no faults, and no call is without output.
    pub(super) fn is_reconciled(&self) -> bool {
        self.open == 0 && self.faults == 0
    }

    /// Reports whether a call that is executed locally has no output.
    pub(super) fn has_unanswered(&self) -> bool {
        self.open > 0
    }

    /// Returns the calls that are executed locally and have no output, in order.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = (usize, &Call)> {
        self.calls.iter().enumerate().filter(|(_, call)| !call.is_remote && call.answer.is_none())
    }

    /// Reports whether each local call of a group has its output in place.
    pub(super) fn is_complete(&self, group: &CallGroup) -> bool {
        let mut calls = self.calls[group.calls.clone()].iter();
        calls.all(|call| call.is_remote || call.answer.is_some_and(|answer| answer.in_place))
    }
}

/// The kind of the last items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanPhase {
    /// Items that no output can follow.
    Closed,
    /// Items of a group.
    Asking,
    /// Outputs of that group.
    Answering,
}

/// The calls with the same id, so far.
#[derive(Debug, Default)]
struct CallsById {
    /// The nearest call.
    latest: Option<usize>,
    /// The calls without output: the nearest group last, in order within a group.
    waiting: Vec<VecDeque<usize>>,
}

/// A layout under construction, with the state needed to continue.
#[derive(Debug)]
pub(super) struct LayoutScan {
    pub(super) layout: Layout,
    phase: ScanPhase,
    calls: HashMap<CallId, CallsById>,
    /// The ids of all calls that are executed locally, including later ones.
    local: HashSet<CallId>,
    /// The ids of all calls that the provider executes, including later ones.
    remote: HashSet<CallId>,
    /// The ids of outputs that precede every call with their id. Their match depends on later items.
    early: HashSet<CallId>,
}

/// An error: later items change the meaning of earlier ones, so everything must be read again.
#[derive(Debug)]
pub(super) struct Outdated;

impl LayoutScan {
    pub(super) fn of(items: &[Item]) -> Self {
        let mut scan = Self {
            layout: Layout::default(),
            phase: ScanPhase::Closed,
            calls: HashMap::new(),
            local: HashSet::new(),
            remote: HashSet::new(),
            early: HashSet::new(),
        };
        // Nothing was read before, so this can't fail.
        let _ = scan.read_from(items, 0);
        scan
    }

    /// Reads the items from a position on. All items before it must have been read.
    pub(super) fn read_from(&mut self, items: &[Item], start: usize) -> Result<(), Outdated> {
        let Some(new) = items.get(start..) else { return Err(Outdated) };
        for item in new {
            let (id, ids) = match item {
                Item::ToolCall(call) if call.provider_executed => (&call.call_id, &mut self.remote),
                Item::ToolCall(call) => (&call.call_id, &mut self.local),
                Item::ProviderCall(call) => match &call.call_id {
                    Some(id) => (id, &mut self.remote),
                    None => continue,
                },
                _ => continue,
            };
            if ids.insert(id.clone()) && self.early.contains(id) {
                return Err(Outdated);
            }
        }
        for (place, item) in new.iter().enumerate() {
            self.read(items, start + place, item);
        }
        Ok(())
    }

    /// Reports whether a call has this id, including calls that the provider executes.
    pub(super) fn is_call_id(&self, id: &CallId) -> bool {
        self.local.contains(id) || self.remote.contains(id)
    }

    /// Reports whether a call with this id is executed locally.
    pub(super) fn is_local(&self, id: &CallId) -> bool {
        self.local.contains(id)
    }

    /// Reports whether the provider executes a call with this id.
    pub(super) fn is_remote(&self, id: &CallId) -> bool {
        self.remote.contains(id)
    }

    fn read(&mut self, items: &[Item], index: usize, item: &Item) {
        match item {
            Item::Message(message) if message.role == Role::Assistant => self.assistant(index),
            Item::Reasoning(_) | Item::ProviderCall(_) => self.assistant(index),
            Item::ToolCall(call) => {
                self.assistant(index);
                self.call(index, &call.call_id, call.provider_executed);
            }
            Item::ToolOutput(output) => self.output(items, index, output),
            Item::ApprovalRequest(request) => self.request(index, request),
            Item::Verdict(_) => self.approval(index),
            Item::Message(_) | Item::Unknown(_) => self.phase = ScanPhase::Closed,
        }
    }

    fn assistant(&mut self, index: usize) {
        match self.layout.groups.last_mut() {
            Some(group) if self.phase == ScanPhase::Asking => group.anchor = index,
            _ => {
                let first = self.layout.calls.len();
                self.layout.groups.push(CallGroup { anchor: index, calls: first..first });
                self.phase = ScanPhase::Asking;
            }
        }
    }

    /// Adds a call to the group that [`assistant`](Self::assistant) has just created or extended.
    fn call(&mut self, item: usize, id: &CallId, is_remote: bool) {
        let ordinal = self.layout.calls.len();
        let group = self.layout.groups.len().saturating_sub(1);
        let namesakes = self.calls.entry(id.clone()).or_default();
        let repeats = namesakes.latest.replace(ordinal).is_some();
        self.layout.faults += usize::from(repeats);
        if !is_remote {
            self.layout.open += 1;
            let is_in_group =
                |calls: &VecDeque<usize>| calls.front().map(|&call| self.layout.calls[call].group) == Some(group);
            match namesakes.waiting.last_mut() {
                Some(calls) if is_in_group(calls) => calls.push_back(ordinal),
                _ => namesakes.waiting.push(VecDeque::from([ordinal])),
            }
        }
        self.layout.calls.push(Call { item, group, is_remote, repeats, answer: None });
        if let Some(group) = self.layout.groups.last_mut() {
            group.calls.end = ordinal + 1;
        }
    }

    fn output(&mut self, items: &[Item], index: usize, output: &ToolCallOutput) {
        let owner = self.owner(&output.call_id);
        match owner {
            Owner::Call(call) => {
                let call = &mut self.layout.calls[call];
                self.layout.open -= 1;
                let label = output.tool.as_deref();
                let is_mislabelled =
                    label.is_some_and(|label| call_at(items, call.item).is_some_and(|call| call.name != label));
                self.layout.faults += usize::from(is_mislabelled);
                let in_place = self.phase != ScanPhase::Closed && call.group + 1 == self.layout.groups.len();
                self.layout.faults += usize::from(!in_place);
                call.answer = Some(AnsweringOutput { item: index, in_place });
                if let (true, Some(group)) = (in_place, self.layout.groups.last_mut()) {
                    group.anchor = index;
                    self.phase = ScanPhase::Answering;
                }
            }
            Owner::Provider(_) => self.assistant(index),
            // An output that answers nothing will be removed, so it does not end the group.
            Owner::Unmatched(_) => self.layout.faults += 1,
        }
        self.layout.outputs.push((index, owner));
    }

    /// Returns the call that an output with this id belongs to. If several groups have a call without output, the
    /// nearest one is used, and within a group the first call.
    fn owner(&mut self, id: &CallId) -> Owner {
        let Some(namesakes) = self.calls.get_mut(id) else {
            self.early.insert(id.clone());
            return match (self.local.contains(id), self.remote.contains(id)) {
                (true, _) => Owner::Unmatched(RemovalReason::CallComesLater),
                (false, true) => Owner::Provider(None),
                (false, false) => Owner::Unmatched(RemovalReason::NoCall),
            };
        };
        if let Some(group) = namesakes.waiting.last_mut() {
            let call = group.pop_front();
            if group.is_empty() {
                namesakes.waiting.pop();
            }
            if let Some(call) = call {
                return Owner::Call(call);
            }
        }
        match namesakes.latest {
            Some(call) if self.layout.calls[call].is_remote => Owner::Provider(Some(call)),
            _ => Owner::Unmatched(RemovalReason::AlreadyAnswered),
        }
    }

    fn request(&mut self, index: usize, request: &ApprovalRequest) {
        let call = self.calls.get(request.call_id.as_str()).and_then(|namesakes| namesakes.latest);
        self.layout.requests.push((index, call));
        self.approval(index);
    }

    /// Extends the current group by an approval item. Approval items are never sent, so they do not end a group, and
    /// outputs are inserted after those that directly follow the group.
    fn approval(&mut self, index: usize) {
        if let (ScanPhase::Asking, Some(group)) = (self.phase, self.layout.groups.last_mut()) {
            group.anchor = index;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::call::ToolCall;

    fn call(id: &str) -> Item {
        ToolCall::new(id, "t", "{}").into()
    }

    fn output(id: &str) -> Item {
        ToolCallOutput::new(id, "ok").into()
    }

    /// Returns the calls and the anchor of each group.
    fn groups(items: &[Item]) -> Vec<(Range<usize>, usize)> {
        Layout::of(items).groups.into_iter().map(|group| (group.calls, group.anchor)).collect()
    }

    #[test]
    fn outputs_in_place_and_other_roles_end_groups() {
        assert_eq!(groups(&[]), []);
        assert_eq!(groups(&[call("1"), Item::assistant("and"), call("2")]), [(0..2, 2)]);
        assert_eq!(groups(&[call("1"), output("1"), call("2")]), [(0..1, 1), (1..2, 2)]);
        for parting in [Item::user("hi"), Item::system("be brief"), Item::Unknown(json!({"type": "new"}))] {
            assert_eq!(groups(&[call("1"), parting, call("2")]), [(0..1, 0), (1..2, 2)]);
        }
    }

    #[test]
    fn misplaced_outputs_do_not_end_groups() {
        assert_eq!(groups(&[call("1"), output("9"), call("2")]), [(0..2, 2)]);
        let late = [call("1"), Item::user("hi"), call("2"), output("1"), call("3")];
        assert_eq!(groups(&late), [(0..1, 0), (1..3, 4)]);
    }

    #[test]
    fn outputs_follow_the_approval_items_of_a_group() {
        let request = || Item::from(ApprovalRequest::new("q", &ToolCall::new("1", "t", "{}")));
        assert_eq!(groups(&[call("1"), request(), Item::user("hi")]), [(0..1, 1)]);
        assert_eq!(groups(&[call("1"), request(), call("2"), output("1"), request()]), [(0..2, 3)]);
    }

    #[test]
    fn a_request_belongs_to_the_nearest_earlier_call() {
        let request = || Item::from(ApprovalRequest::new("q", &ToolCall::new("1", "t", "{}")));
        let layout = Layout::of(&[request(), call("1"), request(), call("2"), call("1"), request()]);
        assert_eq!(layout.requests, [(0, None), (2, Some(0)), (5, Some(2))]);
    }
}
