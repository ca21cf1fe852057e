//! Verdicts on their way from wherever people decide to the runs that wait for them.
//!
//! One queue serves any number of runs at the same time: a verdict goes to whichever asked its question. One that comes
//! before its question is parked, not lost; one that can't be used is handed back to whoever sent it, with the reason.
//! When the last sender is gone the queue ends, and everything that still waits is told that nobody will answer.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::gate::Gate;
use super::verdict::{RefusedVerdict, VerdictFault};
use crate::cx::Cx;
use crate::executor::{ApprovalAnswer, Approve};
use crate::handler::BoxError;
use crate::item::{ApprovalId, ApprovalRequest, ApprovalResponse};

/// How many verdicts may wait for questions that nobody has asked yet.
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
    /// Nobody has asked its question yet: it is kept until somebody does.
    Parked,
}

struct Sending(Arc<Shared>);

#[derive(Default)]
struct Shared(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: HashMap<ApprovalId, Waiting>,
    parked: HashMap<ApprovalId, ApprovalResponse>,
    /// Questions that nobody waits for any more, and why a verdict on one can't be used.
    over: HashMap<ApprovalId, VerdictFault>,
    /// The same, the oldest first.
    over_order: VecDeque<ApprovalId>,
    /// How often was asked.
    asked: u64,
    refused: VecDeque<RefusedVerdict>,
    is_over: bool,
}

struct Waiting {
    /// Which time of asking this is: a question may be asked again by a run that was resumed.
    turn: u64,
    question: Question,
    answer: oneshot::Sender<ApprovalResponse>,
}

/// A question, and what verdicts on it are examined by.
#[derive(Clone)]
struct Question {
    request: Arc<ApprovalRequest>,
    gate: Option<Arc<Gate>>,
}

/// Takes a question back when whoever asked it no longer waits.
struct Asked<'a> {
    shared: &'a Shared,
    request_id: ApprovalId,
    turn: u64,
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
        self.0.state().waiting.values().map(|waiting| waiting.question.request.as_ref().clone()).collect()
    }

    /// Takes out the verdicts that no question was found for: those that are parked, and those that turned out to be
    /// unusable when their question was asked.
    #[must_use]
    pub fn take_unmatched(&self) -> Vec<RefusedVerdict> {
        let mut state = self.0.state();
        let parked = std::mem::take(&mut state.parked).into_values();
        let unknown = parked.map(|response| RefusedVerdict::new(response, VerdictFault::UnknownRequest));
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
    fn take(&self, response: ApprovalResponse) -> Result<Delivery, RefusedVerdict> {
        // Examined without the lock: the clock is a user's.
        let question = self.state().waiting.get(&response.request_id).map(|waiting| waiting.question.clone());
        if let Some(fault) = question.and_then(|question| question.fault_of(&response)) {
            return Err(RefusedVerdict::new(response, fault));
        }
        let mut state = self.state();
        let id = &response.request_id;
        let fault = if state.waiting.contains_key(id) {
            return state.deliver(response);
        } else if state.is_over {
            VerdictFault::Closed
        } else if let Some(fault) = state.over.get(id) {
            fault.clone()
        } else if state.parked.contains_key(id) {
            VerdictFault::AlreadyDecided
        } else if state.parked.len() >= MOST_PARKED {
            VerdictFault::Full
        } else {
            state.parked.insert(id.clone(), response);
            return Ok(Delivery::Parked);
        };
        Err(RefusedVerdict::new(response, fault))
    }

    /// Takes a verdict that is there already, or waits for one. Who asks the same question again takes the place of
    /// whoever asked before: one verdict lets one call run.
    fn ask(&self, question: Question) -> Result<(u64, oneshot::Receiver<ApprovalResponse>), ApprovalAnswer> {
        let id = question.request.request_id.clone();
        let parked = self.state().parked.remove(&id).map(|response| (question.fault_of(&response), response));
        let mut state = self.state();
        match parked {
            None => {}
            Some((None, response)) => {
                state.note_over(&id, VerdictFault::AlreadyDecided);
                return Err(response.into());
            }
            Some((Some(fault), response)) => state.refuse(RefusedVerdict::new(response, fault)),
        }
        if state.is_over {
            return Err(nobody());
        }
        let (answer, waiting) = oneshot::channel();
        state.asked += 1;
        let turn = state.asked;
        state.waiting.insert(id, Waiting { turn, question, answer });
        Ok((turn, waiting))
    }

    fn close(&self) {
        let mut state = self.state();
        state.is_over = true;
        // Dropping their ends tells them.
        state.waiting.clear();
    }

    /// Nothing of a user's runs while the lock is held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn deliver(&mut self, response: ApprovalResponse) -> Result<Delivery, RefusedVerdict> {
        let id = response.request_id.clone();
        let sent = match self.waiting.remove(&id) {
            Some(waiting) => waiting.answer.send(response),
            None => Err(response),
        };
        match sent {
            Ok(()) => {
                self.note_over(&id, VerdictFault::AlreadyDecided);
                Ok(Delivery::Delivered)
            }
            // The call was called off a moment ago.
            Err(response) => Err(RefusedVerdict::new(response, VerdictFault::UnknownRequest)),
        }
    }

    fn note_over(&mut self, id: &ApprovalId, fault: VerdictFault) {
        if self.over.insert(id.clone(), fault).is_none() {
            self.over_order.push_back(id.clone());
        }
        if self.over_order.len() > MOST_REMEMBERED
            && let Some(oldest) = self.over_order.pop_front()
        {
            self.over.remove(&oldest);
        }
    }

    /// Whoever asked no longer waits.
    fn withdraw(&mut self, id: &ApprovalId, turn: u64) {
        if self.waiting.get(id).is_some_and(|waiting| waiting.turn == turn) {
            self.waiting.remove(id);
            self.note_over(id, VerdictFault::UnknownRequest);
        }
    }

    fn refuse(&mut self, refused: RefusedVerdict) {
        if self.refused.len() >= MOST_PARKED {
            self.refused.pop_front();
        }
        self.refused.push_back(refused);
    }
}

impl Question {
    /// Why a verdict does not count for it.
    fn fault_of(&self, response: &ApprovalResponse) -> Option<VerdictFault> {
        self.gate.as_deref().unwrap_or(&Gate::PLAIN).examine(&self.request, response).err()
    }
}

fn nobody() -> ApprovalAnswer {
    ApprovalAnswer::Nobody { reason: ENDED.to_owned() }
}

impl Approve for VerdictQueue {
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        let request_id = request.request_id.clone();
        let question = Question { request: Arc::new(request), gate: cx.gate().cloned() };
        let (turn, waiting) = match self.0.ask(question) {
            Ok(asked) => asked,
            Err(answer) => return Ok(answer),
        };
        let _asked = Asked { shared: &self.0, request_id, turn };
        Ok(waiting.await.map_or_else(|_| nobody(), ApprovalAnswer::from))
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.shared.state().withdraw(&self.request_id, self.turn);
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
            .field("is_over", &state.is_over)
            .finish()
    }
}

impl fmt::Debug for VerdictSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VerdictSender(..)")
    }
}
