//! What a run knows about the approval of its calls, besides the calls themselves.
//!
//! Most runs have none of this: it is there when calls come with something known about them, when a run was suspended
//! before, when it may be suspended now, or when it only finds out which calls may run.

use std::collections::{HashSet, VecDeque};

use super::run::Run;
#[cfg(feature = "approval")]
use crate::approval::Suspended;
use crate::approval::{ApprovedCall, Finished, Pending, RefusedVerdict, RequestedCall, Standing};
use crate::call::ToolCall;
use crate::event::ToolEvent;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::item::{ApprovalRequest, ApprovalResponse};
use crate::result::ToolResult;
use crate::tool::NO_APPROVAL;

/// What is known about the approval of a run's calls.
#[derive(Default)]
#[cfg_attr(not(feature = "approval"), allow(dead_code, reason = "without digests nothing is known ahead or later"))]
pub(super) struct Docket {
    /// What calls came with.
    standings: Vec<(usize, Box<Standing>)>,
    /// Verdicts that are yet to be shown.
    verdicts: Vec<(usize, Box<ApprovalResponse>)>,
    /// Results from before this run.
    earlier: Vec<Finished>,
    /// Results of this run.
    finished: Vec<Finished>,
    /// Calls that wait beyond this run.
    pending: Vec<Pending>,
    /// Verdicts that fit no question, or did not count for theirs.
    refused: Vec<RefusedVerdict>,
    /// Calls that may run, where that is all the run is to find out.
    approved: Option<VecDeque<(usize, ApprovedCall)>>,
}

/// What becomes of a call whose answer comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspending {
    /// It is suspended: whoever runs it takes what is left.
    Allowed,
    /// It is denied: only its result is asked for.
    Denied,
}

impl Docket {
    /// Splits calls from what is known about them.
    pub(super) fn split(calls: impl Iterator<Item = RequestedCall>) -> (Vec<ToolCall>, Option<Box<Self>>) {
        let mut docket: Option<Box<Self>> = None;
        let calls = calls.enumerate().map(|(index, RequestedCall { call, standing, verdict })| {
            if let Some(standing) = standing {
                docket.get_or_insert_default().standings.push((index, standing));
            }
            if let Some(verdict) = verdict {
                docket.get_or_insert_default().verdicts.push((index, verdict));
            }
            call
        });
        (calls.collect(), docket)
    }

    pub(super) fn is_planning(&self) -> bool {
        self.approved.is_some()
    }

    /// The places of the calls that have a result from before.
    pub(super) fn done(&self) -> HashSet<usize> {
        self.earlier.iter().map(|finished| finished.index).collect()
    }
}

#[cfg_attr(not(feature = "approval"), allow(dead_code, reason = "without digests nothing is known ahead or later"))]
impl Run {
    /// The same run after an earlier one of the same calls.
    pub(crate) fn resumed(mut self, earlier: Vec<Finished>, refused: Vec<RefusedVerdict>) -> Self {
        let docket = self.docket.get_or_insert_default();
        (docket.earlier, docket.refused) = (earlier, refused);
        self
    }

    /// The same run, which only finds out which of its calls may run.
    pub(crate) fn planning(mut self) -> Self {
        self.docket.get_or_insert_default().approved = Some(VecDeque::new());
        self
    }

    /// A call that was found fit to run.
    pub(crate) fn next_approved(&mut self) -> Option<(usize, ApprovedCall)> {
        self.docket.as_mut()?.approved.as_mut()?.pop_front()
    }

    /// Whether every call is done or waits for an answer.
    pub(crate) fn is_waiting_for_answers(&self) -> bool {
        self.has_begun() && self.flights.iter().all(|flight| flight.is_answered() || flight.is_asking())
    }
}

impl Run {
    /// The same run, of one call whose result is all that is asked for: it can't be suspended.
    pub(super) fn single(mut self) -> Self {
        self.suspending = Suspending::Denied;
        self
    }

    pub(super) fn is_planning(&self) -> bool {
        self.docket.as_ref().is_some_and(|docket| docket.is_planning())
    }

    /// Puts what calls came with where it counts. Nothing has moved yet.
    pub(super) fn open_docket(&mut self) {
        let Some(docket) = &mut self.docket else { return };
        let (standings, verdicts) = (std::mem::take(&mut docket.standings), std::mem::take(&mut docket.verdicts));
        for finished in &docket.earlier {
            if let Some(flight) = self.flights.get_mut(finished.index) {
                flight.leave();
                self.unfinished -= 1;
            }
        }
        for (index, response) in verdicts {
            let (call_id, tool) = (self.calls[index].call_id.clone(), self.name(index));
            self.ready.push_back(ToolEvent::ApprovalResolved { index, call_id, tool, response });
        }
        for (index, standing) in standings {
            match *standing {
                Standing::Settled(outcome) => self.land(index, outcome),
                standing => self.flights[index].set_standing(standing),
            }
        }
    }

    /// Keeps a result for as long as the run may still be suspended. Whatever was asked about its call is over, and a
    /// verdict that could not be used for it is given back.
    pub(super) fn keep(&mut self, index: usize, result: &ToolResult) {
        let refused = self.flights[index].close_question(&self.calls[index], &self.options);
        if self.options.approver.is_some() || self.docket.is_some() {
            let docket = self.docket.get_or_insert_default();
            docket.refused.extend(refused);
            docket.finished.push(Finished { index, result: result.clone() });
        }
    }

    /// A call waits beyond this run, if somebody can take it from there.
    pub(super) fn suspend(&mut self, index: usize, request: Box<ApprovalRequest>) {
        if self.suspending == Suspending::Denied {
            return self.settle(index, ToolFailure::new(FailureKind::Denied, NO_APPROVAL));
        }
        self.hear();
        let refused = self.flights[index].take_refused();
        self.flights[index].leave();
        self.unfinished -= 1;
        let docket = self.docket.get_or_insert_default();
        docket.refused.extend(refused);
        docket.pending.push(Pending { index, request: (*request).clone() });
        self.ready.push_back(ToolEvent::Suspended { index, request });
    }

    /// A call was found fit to run, and that is all there is to do.
    pub(super) fn hand_over(&mut self, index: usize) {
        let digest = self.flights[index].digest().unwrap_or_default().to_owned();
        let approved = ApprovedCall::new(self.calls[index].clone(), digest);
        let refused = self.flights[index].take_refused();
        self.flights[index].leave();
        self.unfinished -= 1;
        let Some(docket) = &mut self.docket else { return };
        docket.refused.extend(refused);
        if let Some(plan) = &mut docket.approved {
            plan.push_back((index, approved));
        }
    }

    /// Whether calls of it wait beyond this run.
    pub(super) fn has_pending(&self) -> bool {
        self.docket.as_ref().is_some_and(|docket| !docket.pending.is_empty())
    }

    /// Results from before this run, which no event of it shows.
    pub(super) fn earlier(&self) -> impl Iterator<Item = &Finished> {
        self.docket.iter().flat_map(|docket| &docket.earlier)
    }

    /// What is left of the run, if it ended with calls that wait.
    #[cfg(feature = "approval")]
    pub(super) fn take_suspended(&mut self) -> Option<Suspended> {
        let docket = self.docket.as_mut().filter(|docket| self.unfinished == 0 && !docket.pending.is_empty())?;
        let mut pending = std::mem::take(&mut docket.pending);
        let mut finished = std::mem::take(&mut docket.finished);
        finished.append(&mut docket.earlier);
        pending.sort_by_key(|pending| pending.index);
        finished.sort_by_key(|finished| finished.index);
        // A run knows all of its calls, so what it says of them holds together.
        Suspended::new(self.calls.to_vec(), pending, finished).ok()
    }

    #[cfg(feature = "approval")]
    pub(super) fn refused(&self) -> &[RefusedVerdict] {
        self.docket.as_ref().map_or(&[], |docket| &docket.refused)
    }
}
