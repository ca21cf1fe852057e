//! Asking the approver a question of a running call.
//!
//! A question is asked like an approval: the same approver, the same request, the same checks, the same records. It is
//! asked again, at most three times in all, while its answers are invalid. Whoever awaits the answer may stop at any
//! time: what was asked is then recorded as unanswered.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use haft_core::{ApprovalRequest, Caller, FailureKind, ToolFailure, Verdict};
use haft_schema::Issues;
use haft_schema::isolation::{Isolated, isolated, poll_isolated};
use tokio::time::timeout;

use super::approve::{ApprovalAnswer, Approver};
use super::option::RunOptions;
use crate::approval::{ApprovalOutcome, AuditRecord, Gate, RejectedVerdict, VerdictFault, check_reply};
use crate::cx::Cx;
use crate::handler::BoxError;

/// The maximum number of times that a question is asked while its answers are invalid.
const MOST_TRIES: u32 = 3;
/// The reason of a question that was not answered in time.
const NOT_IN_TIME: &str = "the question was not answered in time";
/// The message to the model about a question whose answer can't be used.
const NOT_ANSWERED: &str = "this call asks a question, and it was not answered";

/// The approver of a run, and how it is asked.
pub(crate) struct Asking {
    approver: Arc<dyn Approver>,
    gate: Option<Arc<Gate>>,
    longest: Option<Duration>,
}

/// A question has no answer.
///
/// It converts into the failure of the call that asked: `input_required` where nobody can be asked, and `cancelled` or
/// `denied` otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The run has no approver.
    #[error("no approver is configured, so nobody can be asked")]
    NoApprover,
    /// The approver decides after the run, and a call that asks while it runs can't wait that long. A
    /// [resumable](crate::ToolBuilder::resumable) one can.
    #[error("the approver decides after the run, and this call can't wait for that")]
    Later,
    /// The approver has no answer.
    #[error("the question was not answered: {reason}")]
    NoAnswer {
        /// The reason.
        reason: String,
    },
    /// The answer can't be used: it is invalid, expired, or that to another question.
    #[error("the answer was rejected: {0}")]
    Rejected(#[source] VerdictFault),
    /// The question can't be asked, because its schema is invalid for example.
    #[error("the question is invalid: {0}")]
    Invalid(#[source] Issues),
    /// The approver failed.
    #[error("the approver failed: {0}")]
    Failed(#[source] BoxError),
}

/// The outcome of asking a question.
pub(crate) struct Asked {
    pub(crate) answer: Result<Box<Verdict>, AskError>,
    /// Verdicts that were rejected on the way.
    pub(crate) rejected: Vec<RejectedVerdict>,
}

/// A question that was asked and has no outcome yet.
struct OpenQuestion {
    asking: Arc<Asking>,
    request: ApprovalRequest,
    caller: Option<Caller>,
    is_open: bool,
}

impl RunOptions {
    /// Returns the approver for questions, if there is one.
    pub(crate) fn asking(&self) -> Option<Arc<Asking>> {
        let approver = Arc::clone(self.approver.as_ref()?);
        Some(Arc::new(Asking { approver, gate: self.gate.clone(), longest: self.approval_timeout }))
    }
}

impl Asking {
    pub(crate) fn gate(&self) -> &Gate {
        Gate::or_plain(self.gate.as_deref())
    }

    /// Asks a question that was signed.
    pub(crate) async fn ask(self: Arc<Self>, request: ApprovalRequest, cx: Cx) -> Asked {
        let mut rejected = Vec::new();
        let caller = cx.caller().cloned();
        let mut open = OpenQuestion { asking: self, request, caller, is_open: true };
        for attempt in 1..=MOST_TRIES {
            match open.try_once(attempt, rejected.last(), &cx).await {
                Ok(answer) => return Asked { answer, rejected },
                Err((verdict, fault)) => {
                    let is_last = !fault.is_invalid() || attempt == MOST_TRIES;
                    rejected.push(RejectedVerdict::new(*verdict, fault.clone()));
                    if is_last {
                        open.is_open = false;
                        return Asked { answer: Err(AskError::Rejected(fault)), rejected };
                    }
                }
            }
        }
        Asked { answer: Err(AskError::NoApprover), rejected }
    }
}

impl OpenQuestion {
    /// Asks once. An error is a verdict that was rejected, with the reason.
    async fn try_once(
        &mut self,
        attempt: u32,
        rejected: Option<&RejectedVerdict>,
        cx: &Cx,
    ) -> Result<Result<Box<Verdict>, AskError>, (Box<Verdict>, VerdictFault)> {
        let answer = match self.wait(attempt, rejected, cx).await {
            Ok(answer) => answer,
            Err(error) => return Ok(Err(error)),
        };
        match answer {
            ApprovalAnswer::Verdict(verdict) => {
                let Some(question) = self.request.question.as_deref() else { return Ok(Err(AskError::NoApprover)) };
                let checked = self.asking.gate().check_verdict(&self.request, &verdict);
                match checked.and_then(|()| check_reply(question, &verdict.decision)) {
                    Ok(()) => {
                        self.close(ApprovalOutcome::of(&verdict.decision), Some(&verdict), None);
                        Ok(Ok(verdict))
                    }
                    Err(fault) => {
                        self.record(fault.outcome(), Some(&verdict), Some(&fault.recorded()));
                        Err((verdict, fault))
                    }
                }
            }
            ApprovalAnswer::Later => {
                self.close(ApprovalOutcome::Suspended, None, None);
                Ok(Err(AskError::Later))
            }
            ApprovalAnswer::NoAnswer { reason } => {
                self.close(ApprovalOutcome::Unanswered, None, Some(&reason));
                Ok(Err(AskError::NoAnswer { reason }))
            }
        }
    }

    /// Waits for the approver, no longer than its answer could be used.
    async fn wait(
        &mut self,
        attempt: u32,
        rejected: Option<&RejectedVerdict>,
        cx: &Cx,
    ) -> Result<ApprovalAnswer, AskError> {
        let longest = match self.longest() {
            Ok(longest) => longest,
            Err(fault) => {
                self.close(fault.outcome(), None, Some(&fault.recorded()));
                return Err(AskError::Rejected(fault));
            }
        };
        let mut cx = cx.clone().at_gate(self.asking.gate.as_ref());
        if let Some(rejected) = rejected {
            cx = cx.asked_again(attempt, rejected.clone());
        }
        let approver = Arc::clone(&self.asking.approver);
        let answer = isolated(|| approver.request(self.request.clone(), cx));
        let answer = async {
            let mut answer = Some(Isolated::new(answer?));
            poll_fn(|task| poll_isolated(&mut answer, task)).await
        };
        let answered = match longest {
            None => answer.await,
            Some(longest) => match timeout(longest, answer).await {
                Ok(answered) => answered,
                // Recorded as unanswered or expired when this is dropped.
                Err(_) => return Err(AskError::NoAnswer { reason: NOT_IN_TIME.to_owned() }),
            },
        };
        answered.map_err(BoxError::from).and_then(|answer| answer).map_err(|error| {
            self.close(ApprovalOutcome::Rejected, None, Some(&error));
            AskError::Failed(error)
        })
    }

    fn longest(&self) -> Result<Option<Duration>, VerdictFault> {
        let now = self.asking.gate().now()?.unix_millis();
        let open = self.request.expires_at.map(|end| Duration::from_millis(end.unix_millis().saturating_sub(now)));
        Ok([self.asking.longest, open].into_iter().flatten().min())
    }

    fn close(&mut self, outcome: ApprovalOutcome, verdict: Option<&Verdict>, reason: Option<&dyn std::fmt::Display>) {
        self.is_open = false;
        self.record(outcome, verdict, reason);
    }

    fn record(&self, outcome: ApprovalOutcome, verdict: Option<&Verdict>, reason: Option<&dyn std::fmt::Display>) {
        let gate = self.asking.gate();
        gate.record(|| {
            let record = gate.new_record(&self.request, self.caller.as_ref(), outcome);
            let record = verdict.into_iter().fold(record, AuditRecord::with_response);
            reason.into_iter().fold(record, AuditRecord::with_reason)
        });
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if self.is_open {
            let is_expired = self.asking.gate().ensure_open(&self.request) == Err(VerdictFault::Expired);
            let outcome = if is_expired { ApprovalOutcome::Expired } else { ApprovalOutcome::Unanswered };
            self.record(outcome, None, None);
        }
    }
}

impl From<AskError> for ToolFailure {
    fn from(error: AskError) -> Self {
        match error {
            AskError::NoApprover | AskError::Later => Self::new(FailureKind::InputRequired, "").cause(error),
            AskError::NoAnswer { reason } => Self::new(FailureKind::Cancelled, reason),
            AskError::Rejected(VerdictFault::Expired) => Self::new(FailureKind::Cancelled, NOT_IN_TIME).cause(error),
            AskError::Rejected(_) | AskError::Failed(_) => Self::new(FailureKind::Denied, NOT_ANSWERED).cause(error),
            AskError::Invalid(_) => {
                Self::new(FailureKind::ExecutionError, haft_core::internal::OPAQUE_MESSAGE).cause(error)
            }
        }
    }
}
