//! Suspended runs, as data.
//!
//! A run whose approver answers [later](crate::ApprovalAnswer::Later) ends without a result for those calls. The rest
//! of the run is this value: every call, the finished ones' results, and the pending approval requests. It can be
//! stored, sent, and resumed by another process; finished calls never run again. An inconsistent value is rejected when
//! it is read. It contains a call that waits for answers to its questions with the state that its handler goes on
//! with.
//!
//! A run that was stored before it began is such a value too: its calls have [not started](Suspended::not_started).

mod progress;

use std::collections::{HashMap, HashSet};

use haft_core::{ApprovalId, ApprovalRequest, CallId, FormatVersion, RunId, ToolCall, ToolResult, Verdict};
use haft_schema::internal::tree;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::requested_call::{PriorApproval, PriorQuestion, RequestedCall};
use super::verdict::{RejectedVerdict, VerdictFault};
use super::waiting::{StoredWait, WaitingCall};

/// A run that was suspended until verdicts arrive.
///
/// It is plain data, and resuming it twice runs its calls twice. An application that stores it must make sure that it
/// is resumed once.
///
/// ```
/// use haft_executor::{ApprovalPolicy, RunOptions, Suspend, Suspended, Tool, Toolkit};
/// use haft_core::ToolCall;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents })?;
/// let kit: Toolkit = Toolkit::from_iter([pay]);
///
/// let run = kit.run_with([ToolCall::new("c1", "pay", "500")], RunOptions::new().approvals(Suspend));
/// let suspended = run.collect_or_suspend().await.unwrap_err();
/// let stored = serde_json::to_string(&suspended)?;
///
/// // Later, elsewhere:
/// let suspended: Suspended = serde_json::from_str(&stored)?;
/// let verdicts: Vec<_> = suspended.pending().map(|request| request.approve()).collect();
/// let results = kit.resume(suspended, verdicts).collect_or_suspend().await.unwrap();
/// assert_eq!(results[0].to_model_text(), "500");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspended {
    v: FormatVersion,
    /// Unset in an earlier version's values, and where an application puts the parts together.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    calls: Vec<ToolCall>,
    pending: Vec<Pending>,
    finished: Vec<Finished>,
    /// The calls that wait for answers. Each has a pending request for each open question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<Waiting>,
    /// The calls, by index, that have neither an approval request nor a result, because they have not started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unstarted: Vec<usize>,
    /// Verdicts that the suspended run rejected. Not stored: the application reads them where it sent the verdicts.
    #[serde(skip)]
    rejected_verdicts: Vec<RejectedVerdict>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) index: usize,
    pub(crate) request: ApprovalRequest,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Finished {
    pub(crate) index: usize,
    pub(crate) result: ToolResult,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) index: usize,
    pub(crate) wait: StoredWait,
}

/// Calls, approval requests and results that are inconsistent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SuspendedError {
    /// An entry has an index that no call has.
    #[error("there is an entry for the call at index {index}, but there are only {calls} calls")]
    NoSuchCall {
        /// The entry's index.
        index: usize,
        /// The call count.
        calls: usize,
    },
    /// A call has two entries.
    #[error("the call `{call_id}` at index {index} has more than one approval request or result")]
    Repeated {
        /// The call's index.
        index: usize,
        /// The call's id.
        call_id: CallId,
    },
    /// An approval request or a result belongs to another call.
    #[error("the entry at index {index} belongs to the call `{found}` instead of `{call_id}`")]
    OtherCall {
        /// The entry's index.
        index: usize,
        /// The id that the call at that index has.
        call_id: CallId,
        /// The call id that the entry names.
        found: CallId,
    },
    /// Two calls share one approval request, so a verdict would be ambiguous.
    #[error("two calls have the approval request `{request_id}`; every call requires a separate one")]
    SharedRequest {
        /// The approval request's id.
        request_id: ApprovalId,
    },
    /// A request asks a question, and the asking call's state is missing.
    #[error(
        "the request `{request_id}` asks a question of the call `{call_id}` at index {index}, whose state is missing"
    )]
    MissingState {
        /// The call's index.
        index: usize,
        /// The call's id.
        call_id: CallId,
        /// The request's id.
        request_id: ApprovalId,
    },
    /// A call waits, and its requests are not the questions that it asked.
    #[error("the requests of the call `{call_id}` at index {index} are not the questions that it asked")]
    OtherQuestions {
        /// The call's index.
        index: usize,
        /// The call's id.
        call_id: CallId,
    },
    /// A call has neither an approval request nor a result, and is not among those that have not started.
    #[error("the call `{call_id}` at index {index} has neither an approval request nor a result")]
    Lost {
        /// The call's index.
        index: usize,
        /// The call's id.
        call_id: CallId,
    },
}

impl Suspended {
    /// Creates a suspended run from calls with their pending approval requests, such as a history's. Signed requests
    /// name their run, and the first one that does decides the value's run.
    pub fn of(waiting: impl IntoIterator<Item = (ToolCall, ApprovalRequest)>) -> Result<Self, SuspendedError> {
        Self::with_waiting(waiting, [])
    }

    /// Creates a suspended run as [`of`](Self::of) does, with the states that waiting calls go on with. Each open
    /// question is listed with its call.
    pub fn with_waiting(
        waiting: impl IntoIterator<Item = (ToolCall, ApprovalRequest)>,
        states: impl IntoIterator<Item = WaitingCall>,
    ) -> Result<Self, SuspendedError> {
        let mut states: HashMap<CallId, WaitingCall> =
            states.into_iter().map(|state| (state.call.call_id.clone(), state)).collect();
        let mut asking: HashMap<CallId, usize> = HashMap::new();
        let (mut calls, mut pending, mut waits) = (Vec::new(), Vec::new(), Vec::new());
        for (call, request) in waiting {
            let known = asking.get(&call.call_id).copied().filter(|_| request.question.is_some());
            let index = known.unwrap_or(calls.len());
            if known.is_none() {
                match states.remove(&call.call_id).filter(|_| request.question.is_some()) {
                    Some(WaitingCall { call, wait }) => {
                        asking.insert(call.call_id.clone(), index);
                        calls.push(call);
                        waits.push(Waiting { index, wait });
                    }
                    None => calls.push(call),
                }
            }
            pending.push(Pending { index, request });
        }
        Self::from_parts(calls, pending, Vec::new(), waits, Vec::new())
    }

    /// Creates a run in which no call has started. An application that stores it before it runs the calls can run those
    /// that were left after a crash, with the same idempotency keys: [resumed](crate::Toolkit::resume), they are checked
    /// and approved like any run's.
    ///
    /// ```
    /// use haft_core::{RunId, ToolCall};
    /// use haft_executor::{Suspended, Tool, Toolkit};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = Tool::new("pay").handler(|cents: u64, _cx| async move { cents })?;
    /// let kit: Toolkit = Toolkit::from_iter([pay]);
    ///
    /// let run = Suspended::not_started([ToolCall::new("c1", "pay", "500")]).with_run_id(RunId::random());
    /// let stored = serde_json::to_string(&run)?;
    ///
    /// let run: Suspended = serde_json::from_str(&stored)?;
    /// assert_eq!(run.unstarted().count(), 1);
    /// let results = kit.resume(run, []).collect_or_suspend().await.unwrap();
    /// assert_eq!(results[0].to_model_text(), "500");
    /// # Ok(())
    /// # }
    /// ```
    pub fn not_started(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let calls: Vec<ToolCall> = calls.into_iter().collect();
        let unstarted = (0..calls.len()).collect();
        Self {
            v: FormatVersion::default(),
            run_id: None,
            calls,
            pending: Vec::new(),
            finished: Vec::new(),
            waiting: Vec::new(),
            unstarted,
            rejected_verdicts: Vec::new(),
        }
    }

    pub(crate) fn new(
        calls: Vec<ToolCall>,
        pending: Vec<Pending>,
        finished: Vec<Finished>,
        waiting: Vec<Waiting>,
    ) -> Result<Self, SuspendedError> {
        Self::from_parts(calls, pending, finished, waiting, Vec::new())
    }

    fn from_parts(
        calls: Vec<ToolCall>,
        pending: Vec<Pending>,
        finished: Vec<Finished>,
        waiting: Vec<Waiting>,
        unstarted: Vec<usize>,
    ) -> Result<Self, SuspendedError> {
        let mut is_known = vec![false; calls.len()];
        check_questions(&calls, &pending, &waiting, &mut is_known)?;
        let requests = pending.iter().filter(|pending| pending.request.question.is_none());
        let requests = requests.map(|pending| (pending.index, &pending.request.call_id));
        let done = finished.iter().map(|finished| (finished.index, &finished.result.call_id));
        for (index, found) in requests.chain(done) {
            let Some(call) = calls.get(index) else {
                return Err(SuspendedError::NoSuchCall { index, calls: calls.len() });
            };
            let call_id = call.call_id.clone();
            if *found != call_id {
                return Err(SuspendedError::OtherCall { index, call_id, found: found.clone() });
            }
            if std::mem::replace(&mut is_known[index], true) {
                return Err(SuspendedError::Repeated { index, call_id });
            }
        }
        for index in unstarted.iter().copied() {
            let Some(call) = calls.get(index) else {
                return Err(SuspendedError::NoSuchCall { index, calls: calls.len() });
            };
            if std::mem::replace(&mut is_known[index], true) {
                return Err(SuspendedError::Repeated { index, call_id: call.call_id.clone() });
            }
        }
        let mut request_ids = HashSet::new();
        if let Some(pending) = pending.iter().find(|pending| !request_ids.insert(&pending.request.request_id)) {
            return Err(SuspendedError::SharedRequest { request_id: pending.request.request_id.clone() });
        }
        if let Some(index) = is_known.iter().position(|known| !known) {
            return Err(SuspendedError::Lost { index, call_id: calls[index].call_id.clone() });
        }
        let run_id = pending.iter().find_map(|pending| pending.request.run_id.clone());
        Ok(Self {
            v: FormatVersion::default(),
            run_id,
            calls,
            pending,
            finished,
            waiting,
            unstarted,
            rejected_verdicts: Vec::new(),
        })
    }

    /// Returns the run's id, which the run that goes on with it has as well. A value that a version without run ids
    /// stored has none: each run that resumes it then gets its own id.
    #[must_use]
    pub fn run_id(&self) -> Option<&RunId> {
        self.run_id.as_ref()
    }

    /// Sets the run's id, for a value that is [put together](Self::of) from stored parts.
    ///
    /// ```
    /// use haft_core::{ApprovalRequest, ToolCall};
    /// use haft_executor::Suspended;
    ///
    /// let call = ToolCall::new("c1", "pay", "500");
    /// let request = ApprovalRequest::new("q1", &call);
    /// let suspended = Suspended::of([(call, request)])?.with_run_id("order-17");
    /// assert_eq!(suspended.run_id().unwrap(), &"order-17");
    /// # Ok::<_, haft_executor::SuspendedError>(())
    /// ```
    #[must_use]
    pub fn with_run_id(mut self, run_id: impl Into<RunId>) -> Self {
        self.run_id = Some(run_id.into());
        self
    }

    /// Returns all calls, in order.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// Returns the pending approval requests and questions, in call order.
    #[must_use]
    pub fn pending(&self) -> impl ExactSizeIterator<Item = &ApprovalRequest> {
        self.pending.iter().map(|pending| &pending.request)
    }

    /// Returns the finished calls' results, in call order.
    #[must_use]
    pub fn finished(&self) -> impl ExactSizeIterator<Item = &ToolResult> {
        self.finished.iter().map(|finished| &finished.result)
    }

    /// Returns the calls that have not started, in order: they have neither an approval request nor a result.
    pub fn unstarted(&self) -> impl Iterator<Item = &ToolCall> {
        self.unstarted.iter().filter_map(|index| self.calls.get(*index))
    }

    /// Returns the verdicts that the suspended run rejected, and the reasons. They are not stored with the rest.
    #[must_use]
    pub fn rejected_verdicts(&self) -> &[RejectedVerdict] {
        &self.rejected_verdicts
    }

    pub(crate) fn with_rejected_verdicts(mut self, rejected_verdicts: Vec<RejectedVerdict>) -> Self {
        self.rejected_verdicts = rejected_verdicts;
        self
    }

    /// Splits the value into the calls with their approval's state, the finished calls' results, and the
    /// verdicts that match no request.
    pub(crate) fn into_calls(
        self,
        verdicts: impl IntoIterator<Item = Verdict>,
    ) -> (Vec<RequestedCall>, Vec<Finished>, Vec<RejectedVerdict>) {
        let mut open: Vec<(usize, PriorQuestion)> = Vec::with_capacity(self.pending.len());
        let mut positions: HashMap<ApprovalId, usize> = HashMap::with_capacity(self.pending.len());
        for Pending { index, request } in self.pending {
            positions.insert(request.request_id.clone(), open.len());
            open.push((index, PriorQuestion { request, verdict: None }));
        }
        let mut rejected_verdicts = Vec::new();
        for response in verdicts {
            let asked = positions.get(&response.request_id).and_then(|position| open.get_mut(*position));
            let fault = match asked {
                None => VerdictFault::UnknownRequest,
                Some((_, PriorQuestion { verdict: Some(_), .. })) => VerdictFault::AlreadyDecided,
                Some((_, PriorQuestion { request, .. })) if !request.binds(&response) => VerdictFault::OtherDigest,
                Some((_, PriorQuestion { verdict, .. })) => {
                    *verdict = Some(Box::new(response));
                    continue;
                }
            };
            rejected_verdicts.push(RejectedVerdict::new(response, fault));
        }
        let mut by_call: HashMap<usize, Vec<PriorQuestion>> = HashMap::with_capacity(open.len());
        for (index, question) in open {
            by_call.entry(index).or_default().push(question);
        }
        let mut waits: HashMap<usize, StoredWait> =
            self.waiting.into_iter().map(|Waiting { index, wait }| (index, wait)).collect();
        let calls = self.calls.into_iter().enumerate().map(|(index, call)| {
            let mut questions = by_call.remove(&index).unwrap_or_default();
            match (waits.remove(&index), questions.pop()) {
                (Some(wait), last) => {
                    questions.extend(last);
                    RequestedCall::with(call, PriorApproval::Waiting { wait: Box::new(wait), questions })
                }
                (None, Some(PriorQuestion { request, verdict })) => {
                    RequestedCall::with(call, PriorApproval::Open { request: Box::new(request), verdict })
                }
                (None, None) => call.into(),
            }
        });
        (calls.collect(), self.finished, rejected_verdicts)
    }
}

/// Checks that the calls that wait ask exactly the questions that are pending or were answered, and marks them.
fn check_questions(
    calls: &[ToolCall],
    pending: &[Pending],
    waiting: &[Waiting],
    is_known: &mut [bool],
) -> Result<(), SuspendedError> {
    let mut asked: HashMap<usize, HashSet<&ApprovalId>> = HashMap::new();
    for Waiting { index, wait } in waiting {
        let index = *index;
        let Some(call) = calls.get(index) else {
            return Err(SuspendedError::NoSuchCall { index, calls: calls.len() });
        };
        let mut questions: HashSet<&ApprovalId> = wait.questions.iter().collect();
        let is_repeated = questions.len() < wait.questions.len();
        if is_repeated || !wait.answers.iter().all(|answer| questions.remove(&answer.request.request_id)) {
            return Err(SuspendedError::OtherQuestions { index, call_id: call.call_id.clone() });
        }
        if std::mem::replace(&mut is_known[index], true) {
            return Err(SuspendedError::Repeated { index, call_id: call.call_id.clone() });
        }
        asked.insert(index, questions);
    }
    for Pending { index, request } in pending.iter().filter(|pending| pending.request.question.is_some()) {
        let index = *index;
        let Some(call) = calls.get(index) else {
            return Err(SuspendedError::NoSuchCall { index, calls: calls.len() });
        };
        let call_id = call.call_id.clone();
        if request.call_id != call_id {
            return Err(SuspendedError::OtherCall { index, call_id, found: request.call_id.clone() });
        }
        match asked.get_mut(&index) {
            None => {
                let request_id = request.request_id.clone();
                return Err(SuspendedError::MissingState { index, call_id, request_id });
            }
            Some(questions) => {
                if !questions.remove(&request.request_id) {
                    return Err(SuspendedError::OtherQuestions { index, call_id });
                }
            }
        }
    }
    match asked.into_iter().find(|(_, questions)| !questions.is_empty()) {
        Some((index, _)) => Err(SuspendedError::OtherQuestions { index, call_id: calls[index].call_id.clone() }),
        None => Ok(()),
    }
}

impl<'de> Deserialize<'de> for Suspended {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct StoredSuspended {
            #[serde(default, rename = "v")]
            _v: FormatVersion,
            #[serde(default)]
            run_id: Option<RunId>,
            calls: Vec<ToolCall>,
            pending: Vec<Pending>,
            finished: Vec<Finished>,
            #[serde(default)]
            waiting: Vec<Waiting>,
            #[serde(default)]
            unstarted: Vec<usize>,
        }
        let StoredSuspended { run_id, calls, pending, finished, waiting, unstarted, .. } =
            StoredSuspended::deserialize(tree(deserializer)?).map_err(D::Error::custom)?;
        let suspended = Self::from_parts(calls, pending, finished, waiting, unstarted).map_err(D::Error::custom)?;
        Ok(Self { run_id: run_id.or(suspended.run_id), ..suspended })
    }
}
