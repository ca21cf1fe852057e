//! Calls that stopped to wait, as data.
//!
//! A run whose approver answers [later](crate::ApprovalAnswer::Later) ends without a result for those calls. What is left
//! of it is this value: every call, the results of those that are done, and the questions that are open. It can be
//! stored, sent and resumed by another process; the calls that are done never run again. A value that does not hold
//! together is refused when it is read.

use std::collections::{HashMap, HashSet};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::approved_call::{PriorApproval, RequestedCall};
use super::verdict::{RefusedVerdict, VerdictFault};
use crate::call::{CallId, ToolCall};
use crate::item::{ApprovalId, ApprovalRequest, ApprovalResponse};
use crate::result::ToolResult;
use crate::schema::tree;
use crate::version::FormatVersion;

/// A run that stopped to wait for verdicts.
///
/// It is plain data, and resuming it twice runs its calls twice: whoever stores it claims it before it is resumed.
///
/// ```
/// use haft_core::{ApprovalPolicy, Suspend, Suspended, Tool, ToolCall, Toolkit};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).run(|cents: u64, _cx| async move { cents })?;
/// let kit: Toolkit = Toolkit::from_iter([pay]);
///
/// let run = kit.run([ToolCall::new("c1", "pay", "500")]).approvals(Suspend);
/// let suspended = run.collect_or_suspend().await.unwrap_err();
/// let stored = serde_json::to_string(&suspended)?;
///
/// // Later, elsewhere:
/// let suspended: Suspended = serde_json::from_str(&stored)?;
/// let verdicts: Vec<_> = suspended.pending().map(|request| request.approve()).collect();
/// let results = kit.resume(suspended, verdicts).collect_results().await;
/// assert_eq!(results[0].to_model_text(), "500");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspended {
    v: FormatVersion,
    calls: Vec<ToolCall>,
    pending: Vec<Pending>,
    finished: Vec<Finished>,
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

/// Calls, questions and results that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SuspendedError {
    /// Something is said about a call that is not there.
    #[error("there are {calls} calls, and something is said about one at place {index}")]
    NoSuchCall {
        /// The place.
        index: usize,
        /// How many calls there are.
        calls: usize,
    },
    /// Two things are said about one call.
    #[error("the call `{call_id}` at place {index} is both open and done, or twice one of them")]
    Repeated {
        /// The place.
        index: usize,
        /// The call.
        call_id: CallId,
    },
    /// A question or a result belongs to another call.
    #[error("what is said about the call `{call_id}` at place {index} belongs to the call `{found}`")]
    OtherCall {
        /// The place.
        index: usize,
        /// The call there.
        call_id: CallId,
        /// The call it belongs to.
        found: CallId,
    },
    /// Two calls wait for one question, so an answer could not tell which of them it means.
    #[error("two calls wait for the question `{request_id}`; every call needs one of its own")]
    SharedQuestion {
        /// The question.
        request_id: ApprovalId,
    },
    /// A call is neither open nor done.
    #[error("the call `{call_id}` at place {index} is neither open nor done")]
    Lost {
        /// The place.
        index: usize,
        /// The call.
        call_id: CallId,
    },
}

impl Suspended {
    /// Calls that wait, each with its open question: from a history, for example.
    pub fn of(waiting: impl IntoIterator<Item = (ToolCall, ApprovalRequest)>) -> Result<Self, SuspendedError> {
        let (mut calls, mut pending) = (Vec::new(), Vec::new());
        for (index, (call, request)) in waiting.into_iter().enumerate() {
            calls.push(call);
            pending.push(Pending { index, request });
        }
        Self::new(calls, pending, Vec::new())
    }

    pub(crate) fn new(
        calls: Vec<ToolCall>,
        pending: Vec<Pending>,
        finished: Vec<Finished>,
    ) -> Result<Self, SuspendedError> {
        let mut is_known = vec![false; calls.len()];
        let asked = pending.iter().map(|pending| (pending.index, &pending.request.call_id));
        let done = finished.iter().map(|finished| (finished.index, &finished.result.call_id));
        for (index, found) in asked.chain(done) {
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
        let mut asked = HashSet::new();
        if let Some(pending) = pending.iter().find(|pending| !asked.insert(&pending.request.request_id)) {
            return Err(SuspendedError::SharedQuestion { request_id: pending.request.request_id.clone() });
        }
        if let Some(index) = is_known.iter().position(|known| !known) {
            return Err(SuspendedError::Lost { index, call_id: calls[index].call_id.clone() });
        }
        Ok(Self { v: FormatVersion::default(), calls, pending, finished })
    }

    /// All calls, in order.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// The open questions, in the order of their calls.
    #[must_use]
    pub fn pending(&self) -> impl ExactSizeIterator<Item = &ApprovalRequest> {
        self.pending.iter().map(|pending| &pending.request)
    }

    /// The results that are there, in the order of their calls.
    #[must_use]
    pub fn finished(&self) -> impl ExactSizeIterator<Item = &ToolResult> {
        self.finished.iter().map(|finished| &finished.result)
    }

    /// The calls with what is known about them, the results that are there, and the verdicts that fit no question.
    pub(crate) fn into_calls(
        self,
        verdicts: impl IntoIterator<Item = ApprovalResponse>,
    ) -> (Vec<RequestedCall>, Vec<Finished>, Vec<RefusedVerdict>) {
        let mut open: HashMap<usize, (ApprovalRequest, Option<Box<ApprovalResponse>>)> =
            self.pending.into_iter().map(|Pending { index, request }| (index, (request, None))).collect();
        let places: HashMap<ApprovalId, usize> =
            open.iter().map(|(index, (request, _))| (request.request_id.clone(), *index)).collect();
        let mut refused = Vec::new();
        for response in verdicts {
            let question = places.get(&response.request_id).and_then(|index| open.get_mut(index));
            let fault = match question {
                None => VerdictFault::UnknownRequest,
                Some((_, Some(_))) => VerdictFault::AlreadyDecided,
                Some((request, _)) if !request.binds(&response) => VerdictFault::OtherDigest,
                Some((_, verdict)) => {
                    *verdict = Some(Box::new(response));
                    continue;
                }
            };
            refused.push(RefusedVerdict::new(response, fault));
        }
        let calls = self.calls.into_iter().enumerate().map(|(index, call)| match open.remove(&index) {
            Some((request, verdict)) => {
                RequestedCall::with(call, PriorApproval::Open { request: Box::new(request), verdict })
            }
            None => call.into(),
        });
        (calls.collect(), self.finished, refused)
    }
}

impl<'de> Deserialize<'de> for Suspended {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct StoredSuspended {
            #[serde(default, rename = "v")]
            _v: FormatVersion,
            calls: Vec<ToolCall>,
            pending: Vec<Pending>,
            finished: Vec<Finished>,
        }
        let StoredSuspended { calls, pending, finished, .. } =
            StoredSuspended::deserialize(tree(deserializer)?).map_err(D::Error::custom)?;
        Self::new(calls, pending, finished).map_err(D::Error::custom)
    }
}
