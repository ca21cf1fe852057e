//! A queue that carries verdicts from approvers to the runs that wait for them.
//!
//! One queue serves any number of runs at the same time: a verdict is delivered to the run that requested it. A verdict
//! that arrives before its approval request is parked. A verdict that can't be used is returned to its sender with the
//! reason. When the last sender is dropped the queue closes, and every pending approval request ends without a verdict.
//!
//! A sender can send any number of forged verdicts, and without the request a forged verdict can't be told from an
//! early one. The number of parked verdicts is therefore bounded; the newest are kept, and the oldest is removed first.
//! A request that was announced is known: only a verdict that belongs to it is kept for it, separate from all others.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_core::{ApprovalId, ApprovalRequest, Verdict};
use haft_schema::DecodeOptions;
use haft_schema::isolation::drop_isolated;
use tokio::sync::oneshot;

use super::gate::Gate;
use super::ruling::Ruling;
use super::verdict::{RejectedVerdict, VerdictFault};
use crate::cx::Cx;
use crate::executor::{ApprovalAnswer, Approve};
use crate::handler::BoxError;
use crate::tool::Tool;

/// The maximum number of parked verdicts for requests that were neither made nor announced.
const MOST_PARKED: usize = 1_024;
/// The maximum number of closed requests that are remembered, so that a later verdict is rejected with the right
/// reason.
const MOST_REMEMBERED: usize = 4_096;
/// The message to the model if the queue closed before a verdict arrived.
const QUEUE_CLOSED: &str = "this call requires approval and the approval queue was closed before a decision was made";

/// An approver that waits for verdicts. Clones are handles to the same queue.
///
/// ```
/// use haft_executor::{ApprovalPolicy, RunOptions, Tool, Toolkit, VerdictQueue};
/// use haft_core::{ToolCall, ToolEvent};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents })?;
/// let kit: Toolkit = Toolkit::from_iter([pay]);
/// let (sender, queue) = VerdictQueue::new();
///
/// let mut run = kit.run_with([ToolCall::new("c1", "pay", "500")], RunOptions::new().approvals(queue));
/// while let Some(event) = run.next().await {
///     match event {
///         ToolEvent::ApprovalRequested { request, .. } => drop(sender.send(request.approve())?),
///         ToolEvent::Output { result, .. } => assert!(result.is_ok()),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct VerdictQueue(Arc<Shared>);

/// The sending side of a [`VerdictQueue`]. Clones send to the same queue, which closes when the last sender is dropped.
#[derive(Clone)]
pub struct VerdictSender(Arc<Sending>);

/// The state of a verdict that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Receipt {
    /// It was delivered to a waiting call.
    Delivered,
    /// Its approval request has not been made yet: the verdict is kept until it is. A verdict on a request that was not
    /// [announced](VerdictQueue::expect) is removed when 1,024 later ones are parked; see
    /// [`VerdictQueue::take_unmatched`].
    Parked,
}

struct Sending(Arc<Shared>);

#[derive(Default)]
struct Shared(Mutex<QueueState>);

#[derive(Default)]
struct QueueState {
    waiting: HashMap<ApprovalId, Waiter>,
    /// Requests that were announced and not made yet.
    expected: HashMap<ApprovalId, Expected>,
    /// Verdicts on unknown requests.
    parked: HashMap<ApprovalId, Parked>,
    /// The ids of the parked verdicts, oldest first.
    parked_order: BTreeMap<u64, ApprovalId>,
    /// The number of verdicts that were ever parked.
    arrivals: u64,
    /// Requests that no call waits for any more, with the reason why a verdict on them is rejected.
    closed: HashMap<ApprovalId, VerdictFault>,
    /// The ids of the closed requests, oldest first.
    closed_order: VecDeque<ApprovalId>,
    /// The number of waits that were started.
    attempts: u64,
    rejected_verdicts: VecDeque<RejectedVerdict>,
    is_closed: bool,
}

/// An announced request, and the verdict that arrived before it was made.
struct Expected {
    request: Arc<ApprovalRequest>,
    verdict: Option<Verdict>,
}

struct Parked {
    arrival: u64,
    response: Verdict,
}

struct Waiter {
    /// The number of this wait. A resumed run may wait for the same request again.
    attempt: u64,
    queued: QueuedRequest,
    answer: oneshot::Sender<Verdict>,
}

/// An approval request and everything that its verdict is checked against.
#[derive(Clone)]
struct QueuedRequest {
    request: Arc<ApprovalRequest>,
    gate: Option<Arc<Gate>>,
    /// The tool of the call, and the options for decoding its arguments.
    tool: Option<(Tool, DecodeOptions)>,
}

/// A wait for a verdict. Dropping it closes the request.
struct PendingVerdict<'a> {
    shared: &'a Shared,
    request_id: ApprovalId,
    attempt: u64,
    waiting: oneshot::Receiver<Verdict>,
}

impl VerdictQueue {
    /// Creates a queue and its sender.
    #[must_use]
    #[allow(clippy::new_ret_no_self, reason = "a queue is useless without its sender")]
    pub fn new() -> (VerdictSender, Self) {
        let shared = Arc::<Shared>::default();
        (VerdictSender(Arc::new(Sending(Arc::clone(&shared)))), Self(shared))
    }

    /// Returns the pending approval requests, in no particular order.
    #[must_use]
    pub fn open(&self) -> Vec<ApprovalRequest> {
        self.0.state().waiting.values().map(|waiting| waiting.queued.request.as_ref().clone()).collect()
    }

    /// Announces an approval request that will be made here, so that its verdict may arrive first. This is useful for a
    /// run that was stored. A verdict that does not belong to the request is then rejected at once, and the first one
    /// that does is kept until the request is made, however many other verdicts arrive.
    ///
    /// An announcement stays until the request is made or the announcement is [withdrawn](Self::withdraw).
    ///
    /// ```
    /// use haft_executor::{ApprovalPolicy, RunOptions, Suspend, Tool, Toolkit, VerdictQueue};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents })?;
    /// let kit: Toolkit = Toolkit::from_iter([pay]);
    /// let stored = kit.run_with([ToolCall::new("c1", "pay", "500")], RunOptions::new().approvals(Suspend)).collect_or_suspend().await.unwrap_err();
    ///
    /// let (sender, queue) = VerdictQueue::new();
    /// stored.pending().for_each(|request| queue.expect(request));
    /// sender.send(stored.pending().next().unwrap().approve())?;
    /// let results = kit.resume_with(*stored, [], RunOptions::new().approvals(queue)).collect_results().await;
    /// assert!(results[0].is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn expect(&self, request: &ApprovalRequest) {
        self.0.state().expect(request);
    }

    /// Withdraws an announcement. Returns the verdict that arrived for it, if any.
    #[must_use = "a verdict that arrived must not be dropped"]
    pub fn withdraw(&self, request_id: &ApprovalId) -> Option<Verdict> {
        self.0.state().expected.remove(request_id)?.verdict
    }

    /// Removes and returns the verdicts without a matching request: those parked for requests that were not announced,
    /// those removed to make space for later ones, and those that were rejected when their request was made.
    #[must_use]
    pub fn take_unmatched(&self) -> Vec<RejectedVerdict> {
        let mut state = self.0.state();
        state.parked_order.clear();
        let parked = std::mem::take(&mut state.parked).into_values();
        let unknown = parked.map(|parked| RejectedVerdict::new(parked.response, VerdictFault::UnknownRequest));
        let unknown: Vec<_> = unknown.collect();
        state.rejected_verdicts.drain(..).chain(unknown).collect()
    }

    /// Closes the queue: every pending approval request ends without a verdict, and further verdicts are rejected.
    pub fn close(&self) {
        self.0.close();
    }
}

impl VerdictSender {
    /// Sends a verdict. A verdict that can't be used is returned with the reason, and has no effect.
    pub fn send(&self, response: Verdict) -> Result<Receipt, RejectedVerdict> {
        let Sending(shared) = &*self.0;
        shared.take(response)
    }
}

impl Shared {
    /// Delivers a verdict. Checking it and waking its waiter run user code (clocks and wakers), so both happen without
    /// the lock, and the state is checked again before it is changed.
    fn take(&self, response: Verdict) -> Result<Receipt, RejectedVerdict> {
        loop {
            let pending = self.state().pending(&response.request_id);
            let Some((attempt, queued)) = pending else {
                match self.state().park(&response) {
                    Some(parked) => return parked.map_err(|fault| RejectedVerdict::new(response, fault)),
                    None => continue,
                }
            };
            if let Some(fault) = queued.fault_of(&response) {
                return Err(RejectedVerdict::new(response, fault));
            }
            let Some(waiting) = self.state().close_request(&response.request_id, attempt, VerdictFault::AlreadyDecided)
            else {
                continue;
            };
            let id = response.request_id.clone();
            return waiting.answer.send(response).map(|()| Receipt::Delivered).map_err(|response| {
                // The call was cancelled in the meantime.
                self.state().mark_closed(&id, VerdictFault::UnknownRequest);
                RejectedVerdict::new(response, VerdictFault::UnknownRequest)
            });
        }
    }

    /// Returns a verdict that already arrived, or starts to wait for one. A second wait for the same request replaces
    /// the first, so one verdict lets one call run.
    fn ask(&self, queued: &QueuedRequest) -> Result<PendingVerdict<'_>, ApprovalAnswer> {
        let id = &queued.request.request_id;
        loop {
            let mut state = self.state();
            let Some(response) = state.take_early(id) else {
                if state.is_closed {
                    return Err(no_approver());
                }
                let (answer, waiting) = oneshot::channel();
                state.attempts += 1;
                let attempt = state.attempts;
                let before = state.waiting.insert(id.clone(), Waiter { attempt, queued: queued.clone(), answer });
                drop(state);
                drop_isolated(before);
                return Ok(PendingVerdict { shared: self, request_id: id.clone(), attempt, waiting });
            };
            drop(state);
            match queued.fault_of(&response) {
                None => {
                    self.state().mark_closed(id, VerdictFault::AlreadyDecided);
                    return Err(response.into());
                }
                Some(fault) => self.state().reject(RejectedVerdict::new(response, fault)),
            }
        }
    }

    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        // Dropping the senders wakes the waiters. Each is dropped in isolation, so a waker that panics does not affect
        // the others.
        waiting.into_values().for_each(drop_isolated);
    }

    /// Locks the state. No user code runs while the lock is held.
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    /// Returns a pending request and the number of its wait.
    fn pending(&self, id: &ApprovalId) -> Option<(u64, QueuedRequest)> {
        self.waiting.get(id).map(|waiting| (waiting.attempt, waiting.queued.clone()))
    }

    /// Parks a verdict on a request that was not made yet. Returns `None` if the request was made in the meantime.
    fn park(&mut self, response: &Verdict) -> Option<Result<Receipt, VerdictFault>> {
        let id = &response.request_id;
        if self.waiting.contains_key(id) {
            return None;
        }
        let fault = if self.is_closed {
            VerdictFault::Closed
        } else if let Some(expected) = self.expected.get_mut(id) {
            return Some(expected.take(response));
        } else if let Some(fault) = self.closed.get(id) {
            fault.clone()
        } else if self.parked.contains_key(id) {
            VerdictFault::AlreadyDecided
        } else {
            self.arrivals += 1;
            self.parked.insert(id.clone(), Parked { arrival: self.arrivals, response: response.clone() });
            self.parked_order.insert(self.arrivals, id.clone());
            self.make_room();
            return Some(Ok(Receipt::Parked));
        };
        Some(Err(fault))
    }

    /// Removes the oldest parked verdict if there are too many.
    fn make_room(&mut self) {
        if self.parked.len() > MOST_PARKED
            && let Some((_, oldest)) = self.parked_order.pop_first()
            && let Some(parked) = self.parked.remove(&oldest)
        {
            self.reject(RejectedVerdict::new(parked.response, VerdictFault::Full));
        }
    }

    /// Announces a request, and checks a parked verdict against it.
    fn expect(&mut self, request: &ApprovalRequest) {
        let id = &request.request_id;
        if self.waiting.contains_key(id) || self.expected.contains_key(id) {
            return;
        }
        let mut expected = Expected { request: Arc::new(request.clone()), verdict: None };
        if let Some(response) = self.take_early(id)
            && let Err(fault) = expected.take(&response)
        {
            self.reject(RejectedVerdict::new(response, fault));
        }
        self.expected.insert(id.clone(), expected);
    }

    /// Removes and returns the verdict that arrived before its request, and the announcement of the request.
    fn take_early(&mut self, id: &ApprovalId) -> Option<Verdict> {
        if let Some(verdict) = self.expected.remove(id).and_then(|expected| expected.verdict) {
            return Some(verdict);
        }
        let parked = self.parked.remove(id)?;
        self.parked_order.remove(&parked.arrival);
        Some(parked.response)
    }

    /// Closes a request if it is still the same wait. Returns the waiter, which must be dropped or answered without the
    /// lock.
    fn close_request(&mut self, id: &ApprovalId, attempt: u64, fault: VerdictFault) -> Option<Waiter> {
        if self.waiting.get(id)?.attempt != attempt {
            return None;
        }
        self.mark_closed(id, fault);
        self.waiting.remove(id)
    }

    fn mark_closed(&mut self, id: &ApprovalId, fault: VerdictFault) {
        if self.closed.insert(id.clone(), fault).is_none() {
            self.closed_order.push_back(id.clone());
        }
        if self.closed_order.len() > MOST_REMEMBERED
            && let Some(oldest) = self.closed_order.pop_front()
        {
            self.closed.remove(&oldest);
        }
    }

    fn reject(&mut self, rejected: RejectedVerdict) {
        if self.rejected_verdicts.len() >= MOST_PARKED {
            self.rejected_verdicts.pop_front();
        }
        self.rejected_verdicts.push_back(rejected);
    }
}

impl Expected {
    /// Keeps the first verdict that belongs to the request. Its expiry is checked when the request is made.
    fn take(&mut self, response: &Verdict) -> Result<Receipt, VerdictFault> {
        Gate::check_binding(&self.request, response)?;
        if self.verdict.is_some() {
            return Err(VerdictFault::AlreadyDecided);
        }
        self.verdict = Some(response.clone());
        Ok(Receipt::Parked)
    }
}

impl QueuedRequest {
    fn new(request: ApprovalRequest, cx: &Cx) -> Self {
        let tool = cx.tool().map(|tool| (tool.clone(), *cx.decode_options()));
        Self { request: Arc::new(request), gate: cx.gate().cloned(), tool }
    }

    /// Returns the reason why a verdict is rejected, if any. Its content is checked as well, so that the sender learns
    /// at once what is wrong with it.
    fn fault_of(&self, response: &Verdict) -> Option<VerdictFault> {
        if let Err(fault) = self.gate.as_deref().unwrap_or(&Gate::PLAIN).check_verdict(&self.request, response) {
            return Some(fault);
        }
        let (tool, decode) = self.tool.as_ref()?;
        Ruling::check(tool, decode, &self.request, &response.decision).err()
    }
}

fn no_approver() -> ApprovalAnswer {
    ApprovalAnswer::NoAnswer { reason: QUEUE_CLOSED.to_owned() }
}

impl Approve for VerdictQueue {
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        let queued = QueuedRequest::new(request, &cx);
        let mut pending = match self.0.ask(&queued) {
            Ok(pending) => pending,
            Err(answer) => return Ok(answer),
        };
        Ok((&mut pending.waiting).await.map_or_else(|_| no_approver(), ApprovalAnswer::from))
    }
}

/// Closes the request. A verdict that arrived too late for its call stays available by
/// [`VerdictQueue::take_unmatched`].
impl Drop for PendingVerdict<'_> {
    fn drop(&mut self) {
        let waiting = self.shared.state().close_request(&self.request_id, self.attempt, VerdictFault::UnknownRequest);
        drop_isolated(waiting);
        if let Ok(response) = self.waiting.try_recv() {
            self.shared.state().reject(RejectedVerdict::new(response, VerdictFault::UnknownRequest));
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for VerdictQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.state();
        f.debug_struct("VerdictQueue")
            .field("open", &state.waiting.len())
            .field("parked", &state.parked.len())
            .field("is_closed", &state.is_closed)
            .finish()
    }
}

impl fmt::Debug for VerdictSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VerdictSender(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_core::ToolCall;

    #[test]
    fn a_request_is_closed_if_its_call_is_cancelled_while_the_verdict_arrives() {
        let (sender, VerdictQueue(shared)) = VerdictQueue::new();
        let request = ApprovalRequest::new("q1", &ToolCall::new("c1", "pay", "5"));
        let queued = QueuedRequest { request: Arc::new(request.clone()), gate: None, tool: None };
        let mut pending = shared.ask(&queued).unwrap();
        pending.waiting.close();
        for _ in 0..2 {
            assert_eq!(sender.send(request.approve()).unwrap_err().fault, VerdictFault::UnknownRequest);
        }
    }
}
