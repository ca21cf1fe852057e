//! Verdicts on their way from wherever people decide to the runs that wait for them.
//!
//! One queue serves any number of runs at the same time: a verdict goes to whichever asked its question. One that comes
//! before its question is parked, not lost; one that can't be used is handed back to whoever sent it, with the reason.
//! When the last sender is gone the queue ends, and everything that still waits is told that nobody will answer.
//!
//! Whoever can send verdicts can send any number of made-up ones, and nothing tells a made-up verdict from an early one
//! whose question is unknown. So the room for those is bounded, the newest are kept, and none is turned away. A question
//! that was announced is known: only a verdict that belongs to it is kept for it, apart from all others.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::gate::Gate;
use super::ruling::Ruling;
use super::verdict::{RefusedVerdict, VerdictFault};
use crate::cx::Cx;
use crate::executor::{ApprovalAnswer, Approve, drop_isolated};
use crate::handler::BoxError;
use crate::item::{ApprovalId, ApprovalRequest, ApprovalResponse};
use crate::schema::DecodeOptions;
use crate::tool::Tool;

/// The number of verdicts that may wait for questions that nobody has asked or announced.
const MOST_PARKED: usize = 1_024;
/// How many questions are remembered as over, so that a verdict that comes later can be told why it is refused.
const MOST_REMEMBERED: usize = 4_096;
/// What the model is told when no verdict can come any more.
const ENDED: &str = "nobody decided whether this call may run: no more verdicts can come";

/// Where runs wait for verdicts: an approver. Cloning gives another handle on the same queue.
///
/// ```
/// use haft_core::{ApprovalPolicy, Tool, ToolCall, ToolEvent, Toolkit, VerdictQueue};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).run(|cents: u64, _cx| async move { cents })?;
/// let kit: Toolkit = Toolkit::from_iter([pay]);
/// let (sender, queue) = VerdictQueue::new();
///
/// let mut run = kit.run([ToolCall::new("c1", "pay", "500")]).approvals(queue);
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

/// Where verdicts go in. Cloning gives another one; the queue ends when the last is dropped.
#[derive(Clone)]
pub struct VerdictSender(Arc<Sending>);

/// What became of a verdict that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// A call waited for it.
    Delivered,
    /// Nobody has asked its question yet: it is kept until somebody does. A verdict on a question that was not
    /// [announced](VerdictQueue::expect) is given up when 1,024 later ones of that sort have come; see
    /// [`VerdictQueue::take_unmatched`].
    Parked,
}

struct Sending(Arc<Shared>);

#[derive(Default)]
struct Shared(Mutex<QueueState>);

#[derive(Default)]
struct QueueState {
    waiting: HashMap<ApprovalId, Waiter>,
    /// Questions that will be asked.
    expected: HashMap<ApprovalId, Expected>,
    /// Verdicts on questions that nobody knows.
    parked: HashMap<ApprovalId, Parked>,
    /// The same, the oldest first.
    parked_order: BTreeMap<u64, ApprovalId>,
    /// The number of verdicts that were parked.
    arrivals: u64,
    /// Questions that nobody waits for any more, and why a verdict on one can't be used.
    closed: HashMap<ApprovalId, VerdictFault>,
    /// The same, the oldest first.
    closed_order: VecDeque<ApprovalId>,
    /// How often was asked.
    attempts: u64,
    refused: VecDeque<RefusedVerdict>,
    is_closed: bool,
}

/// A question that will be asked, and the verdict that came before it was.
struct Expected {
    request: Arc<ApprovalRequest>,
    verdict: Option<ApprovalResponse>,
}

struct Parked {
    arrival: u64,
    response: ApprovalResponse,
}

struct Waiter {
    /// Which time of asking this is: a question may be asked again by a run that was resumed.
    attempt: u64,
    queued: QueuedRequest,
    answer: oneshot::Sender<ApprovalResponse>,
}

/// A question, and what verdicts on it are examined by.
#[derive(Clone)]
struct QueuedRequest {
    request: Arc<ApprovalRequest>,
    gate: Option<Arc<Gate>>,
    /// The tool that the call is of, and how its arguments are read.
    tool: Option<(Tool, DecodeOptions)>,
}

/// Takes a question back when whoever asked it no longer waits.
struct PendingVerdict<'a> {
    shared: &'a Shared,
    request_id: ApprovalId,
    attempt: u64,
    waiting: oneshot::Receiver<ApprovalResponse>,
}

impl VerdictQueue {
    /// A queue, and where its verdicts go in.
    #[must_use]
    #[allow(clippy::new_ret_no_self, reason = "a queue is of no use without its sender")]
    pub fn new() -> (VerdictSender, Self) {
        let shared = Arc::<Shared>::default();
        (VerdictSender(Arc::new(Sending(Arc::clone(&shared)))), Self(shared))
    }

    /// The questions that are open, in no order.
    #[must_use]
    pub fn open(&self) -> Vec<ApprovalRequest> {
        self.0.state().waiting.values().map(|waiting| waiting.queued.request.as_ref().clone()).collect()
    }

    /// Announces a question that will be asked here, so that its verdict may come before it: one of a run that was stored,
    /// for example. A verdict that does not belong to the question is then refused at once, and the first that does is
    /// kept until the question is asked, however many others come.
    ///
    /// An announcement stays until the question is asked or it is [withdrawn](Self::withdraw).
    ///
    /// ```
    /// use haft_core::{ApprovalPolicy, Suspend, Tool, ToolCall, Toolkit, VerdictQueue};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).run(|cents: u64, _cx| async move { cents })?;
    /// let kit: Toolkit = Toolkit::from_iter([pay]);
    /// let stored = kit.run([ToolCall::new("c1", "pay", "500")]).approvals(Suspend).collect_or_suspend().await.unwrap_err();
    ///
    /// let (sender, queue) = VerdictQueue::new();
    /// stored.pending().for_each(|request| queue.expect(request));
    /// sender.send(stored.pending().next().unwrap().approve())?;
    /// let results = kit.resume(*stored, []).approvals(queue).collect_results().await;
    /// assert!(results[0].is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn expect(&self, request: &ApprovalRequest) {
        self.0.state().expect(request);
    }

    /// Takes an announcement back. Returns the verdict that came for it, if one did.
    #[must_use = "a verdict that came must not vanish"]
    pub fn withdraw(&self, request_id: &ApprovalId) -> Option<ApprovalResponse> {
        self.0.state().expected.remove(request_id)?.verdict
    }

    /// Takes out the verdicts that no question was found for: those that are parked for questions that nobody announced,
    /// those that had to make room for later ones, and those that turned out to be unusable when their question was asked.
    #[must_use]
    pub fn take_unmatched(&self) -> Vec<RefusedVerdict> {
        let mut state = self.0.state();
        state.parked_order.clear();
        let parked = std::mem::take(&mut state.parked).into_values();
        let unknown = parked.map(|parked| RefusedVerdict::new(parked.response, VerdictFault::UnknownRequest));
        let unknown: Vec<_> = unknown.collect();
        state.refused.drain(..).chain(unknown).collect()
    }

    /// Ends the queue: whatever waits is told that nobody will answer, and no verdict is taken any more.
    pub fn close(&self) {
        self.0.close();
    }
}

impl VerdictSender {
    /// Hands in a verdict. One that can't be used comes back with the reason, and changes nothing.
    pub fn send(&self, response: ApprovalResponse) -> Result<Delivery, RefusedVerdict> {
        let Sending(shared) = &*self.0;
        shared.take(response)
    }
}

impl Shared {
    /// Verdicts are examined, and whoever waits is woken, without the lock: clocks and wakers are a user's. So what was seen
    /// under it is looked at again before anything is done.
    fn take(&self, response: ApprovalResponse) -> Result<Delivery, RefusedVerdict> {
        loop {
            let pending = self.state().pending(&response.request_id);
            let Some((attempt, queued)) = pending else {
                match self.state().park(&response) {
                    Some(parked) => return parked.map_err(|fault| RefusedVerdict::new(response, fault)),
                    None => continue,
                }
            };
            if let Some(fault) = queued.fault_of(&response) {
                return Err(RefusedVerdict::new(response, fault));
            }
            let Some(waiting) = self.state().close_request(&response.request_id, attempt, VerdictFault::AlreadyDecided)
            else {
                continue;
            };
            let id = response.request_id.clone();
            return waiting.answer.send(response).map(|()| Delivery::Delivered).map_err(|response| {
                // The call was called off a moment ago.
                self.state().mark_closed(&id, VerdictFault::UnknownRequest);
                RefusedVerdict::new(response, VerdictFault::UnknownRequest)
            });
        }
    }

    /// Takes a verdict that is there already, or waits for one. Who asks the same question again takes the place of
    /// whoever asked before: one verdict lets one call run.
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
                Some(fault) => self.state().reject(RefusedVerdict::new(response, fault)),
            }
        }
    }

    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        // Dropping their ends wakes them, one by one: a waker that panics keeps it from nobody else.
        waiting.into_values().for_each(drop_isolated);
    }

    /// Nothing of a user's runs while the lock is held.
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    /// A question that is open.
    fn pending(&self, id: &ApprovalId) -> Option<(u64, QueuedRequest)> {
        self.waiting.get(id).map(|waiting| (waiting.attempt, waiting.queued.clone()))
    }

    /// Keeps a verdict on a question that nobody has asked; nothing if somebody just has.
    fn park(&mut self, response: &ApprovalResponse) -> Option<Result<Delivery, VerdictFault>> {
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
            return Some(Ok(Delivery::Parked));
        };
        Some(Err(fault))
    }

    /// Gives up the oldest verdict on a question that nobody knows, if there are too many.
    fn make_room(&mut self) {
        if self.parked.len() > MOST_PARKED
            && let Some((_, oldest)) = self.parked_order.pop_first()
            && let Some(parked) = self.parked.remove(&oldest)
        {
            self.reject(RefusedVerdict::new(parked.response, VerdictFault::Full));
        }
    }

    /// Makes a question known, and a verdict that came before examined by it.
    fn expect(&mut self, request: &ApprovalRequest) {
        let id = &request.request_id;
        if self.waiting.contains_key(id) || self.expected.contains_key(id) {
            return;
        }
        let mut expected = Expected { request: Arc::new(request.clone()), verdict: None };
        if let Some(response) = self.take_early(id)
            && let Err(fault) = expected.take(&response)
        {
            self.reject(RefusedVerdict::new(response, fault));
        }
        self.expected.insert(id.clone(), expected);
    }

    /// Takes out the verdict that came before its question. The question is no longer expected.
    fn take_early(&mut self, id: &ApprovalId) -> Option<ApprovalResponse> {
        if let Some(verdict) = self.expected.remove(id).and_then(|expected| expected.verdict) {
            return Some(verdict);
        }
        let parked = self.parked.remove(id)?;
        self.parked_order.remove(&parked.arrival);
        Some(parked.response)
    }

    /// Closes a question, if it is still the same that waits. What waits is given back, to be told without the lock.
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

    fn reject(&mut self, refused: RefusedVerdict) {
        if self.refused.len() >= MOST_PARKED {
            self.refused.pop_front();
        }
        self.refused.push_back(refused);
    }
}

impl Expected {
    /// Keeps the first verdict that belongs to the question. Whether it comes in time is found out when it is asked.
    fn take(&mut self, response: &ApprovalResponse) -> Result<Delivery, VerdictFault> {
        Gate::check_binding(&self.request, response)?;
        if self.verdict.is_some() {
            return Err(VerdictFault::AlreadyDecided);
        }
        self.verdict = Some(response.clone());
        Ok(Delivery::Parked)
    }
}

impl QueuedRequest {
    fn new(request: ApprovalRequest, cx: &Cx) -> Self {
        let tool = cx.tool().map(|tool| (tool.clone(), *cx.decode_options()));
        Self { request: Arc::new(request), gate: cx.gate().cloned(), tool }
    }

    /// Returns why a verdict does not count for it. What it brings along is checked too, so that whoever sends it learns
    /// at once what is wrong with it.
    fn fault_of(&self, response: &ApprovalResponse) -> Option<VerdictFault> {
        if let Err(fault) = self.gate.as_deref().unwrap_or(&Gate::PLAIN).check_verdict(&self.request, response) {
            return Some(fault);
        }
        let (tool, decode) = self.tool.as_ref()?;
        Ruling::of(tool, decode, &self.request, &response.decision).err()
    }
}

fn no_approver() -> ApprovalAnswer {
    ApprovalAnswer::Nobody { reason: ENDED.to_owned() }
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

/// The question is taken back, and a verdict that came too late for its call is kept for whoever looks after such.
impl Drop for PendingVerdict<'_> {
    fn drop(&mut self) {
        let waiting = self.shared.state().close_request(&self.request_id, self.attempt, VerdictFault::UnknownRequest);
        drop_isolated(waiting);
        if let Ok(response) = self.waiting.try_recv() {
            self.shared.state().reject(RefusedVerdict::new(response, VerdictFault::UnknownRequest));
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
            .field("is_over", &state.is_closed)
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
    use crate::call::ToolCall;

    #[test]
    fn a_question_whose_call_is_called_off_while_its_verdict_comes_is_over() {
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
