//! Waiting for the answers to the questions of a call whose handler has returned.
//!
//! The call holds neither a slot nor a lane meanwhile. Its questions are asked all at once, and it goes on when each has
//! its answer. If the approver decides later, the call leaves the run as data, with the answers that it has; from there it
//! comes back as [`PriorApproval::Waiting`], and everything in it is checked again before any of it counts.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use haft_core::internal::OPAQUE_MESSAGE;
use haft_core::{ApprovalId, ApprovalRequest, ApprovalRule, FailureKind, Outcome, ToolCall, ToolFailure, Verdict};
use haft_schema::Issues;
use haft_schema::isolation::{Isolated, isolated};

use super::approval::{Gated, decoded, rejection};
use super::{Advance, CallPhase, CallState, Ready, StepCx, Transition, cleared};
use crate::approval::{
    ApprovalOutcome, AtGate, Gate, PriorQuestion, StoredAnswer, StoredWait, VerdictFault, check_questions, check_reply,
    digest_of,
};
use crate::cx::Cx;
use crate::executor::asking::{AskError, Asked, Asking};
use crate::executor::execute::prepare_isolated;
use crate::executor::run_approvals::Suspending;
use crate::handler::BoxFuture;
use crate::resumable::{QuestionAnswer, Resumed, Wait};

/// The message to the model about a call that can't go on, because what it waited with has changed.
const CHANGED: &str = "the questions of this call, its state or the definition of its tool changed while it waited; \
                       call again";
/// The most times that a call may wait.
const MOST_ROUNDS: u32 = 100;

/// A call that waits for answers.
pub(super) struct AwaitingAnswers {
    tool: usize,
    /// Without answers: those are here.
    wait: StoredWait,
    /// Its questions, in order.
    asked: Vec<AskedQuestion>,
}

struct AskedQuestion {
    request: ApprovalRequest,
    reply: Reply,
}

/// The state of a question.
enum Reply {
    /// The approver was asked.
    Asking(Isolated<BoxFuture<Asked>>),
    /// It has its answer.
    Given { verdict: Box<Verdict>, is_reported: bool },
    /// The approver decides after this run.
    Later,
}

/// A call that leaves its run while it waits, with its open questions.
pub(in crate::executor) struct LeavingCall {
    pub(in crate::executor) wait: StoredWait,
    pub(in crate::executor) open: Vec<ApprovalRequest>,
}

/// A handler that waits for what nobody could answer.
#[derive(Debug, thiserror::Error)]
#[error("the handler asks questions that can't be asked, or leaves a state that can't be stored: {0}")]
struct InvalidWait(#[source] Issues);

impl CallState {
    /// Lets a call wait whose handler has returned with questions. Without an approver it ends with the failure.
    pub(super) fn wait_for_answers(
        &mut self,
        (index, tool_index): (usize, usize),
        wait: &Wait,
        failure: ToolFailure,
        call: &ToolCall,
        step_cx: StepCx<'_>,
    ) -> Advance {
        let Some(asking) = step_cx.options.asking() else { return self.end_as_started(failure.into()) };
        self.has_started |= failure.started;
        let call = self.decided_on.as_deref().unwrap_or(call);
        let asked = ask_all(self, &asking, (index, tool_index), wait, call, step_cx);
        match asked {
            Ok(awaiting) => {
                self.round = awaiting.wait.round;
                let requests = awaiting.asked.iter().map(|asked| asked.request.clone()).collect();
                self.phase = CallPhase::AwaitingAnswers(Box::new(awaiting));
                Advance::Asked(requests)
            }
            Err(failure) => self.end_as_started(failure.into()),
        }
    }

    /// Ends a call whose handler has returned before.
    fn end_as_started(&mut self, mut outcome: Outcome) -> Advance {
        if let Outcome::Failed(failure) = &mut outcome {
            failure.started |= self.has_started;
        }
        self.end_with(&outcome, None);
        Advance::Finished(outcome)
    }

    pub(super) fn poll_answers(
        &mut self,
        index: usize,
        mut awaiting: Box<AwaitingAnswers>,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        task: &mut Context<'_>,
    ) -> Result<Transition, ToolFailure> {
        let (mut is_pending, mut is_deferred) = (false, false);
        for asked in &mut awaiting.asked {
            if let Reply::Asking(asking) = &mut asked.reply {
                let Poll::Ready(Asked { answer, rejected }) = isolated(|| Pin::new(asking).poll(task))? else {
                    is_pending = true;
                    continue;
                };
                self.rejected.extend(rejected);
                asked.reply = match answer {
                    Ok(verdict) => Reply::Given { verdict, is_reported: false },
                    Err(AskError::Later) => Reply::Later,
                    Err(error) => return Err(error.into()),
                };
            }
            match &mut asked.reply {
                Reply::Given { verdict, is_reported } if !*is_reported => {
                    *is_reported = true;
                    let answered = Advance::Answered { response: verdict.clone(), edited: None };
                    return Ok((CallPhase::AwaitingAnswers(awaiting), answered));
                }
                Reply::Later => is_deferred = true,
                Reply::Given { .. } | Reply::Asking(_) => {}
            }
        }
        if is_pending {
            return Ok((CallPhase::AwaitingAnswers(awaiting), Advance::Pending));
        }
        if !is_deferred {
            return resume(index, *awaiting, call, step_cx);
        }
        if step_cx.suspending == Suspending::Denied {
            return Err(ToolFailure::new(FailureKind::InputRequired, ""));
        }
        Ok((CallPhase::Finished { pending: None }, Advance::Left(Box::new(awaiting.into_leaving()))))
    }

    /// Goes on with a call that waited when its run was suspended. Its questions must be exactly those that were asked, and
    /// its state the one that they were asked with. A rejected verdict leaves its question open.
    pub(super) fn rejoin(
        &mut self,
        gated: &Gated,
        call: &ToolCall,
        step_cx: StepCx<'_>,
        mut wait: StoredWait,
        open: Vec<PriorQuestion>,
    ) -> Result<Transition, ToolFailure> {
        let (gate, asking) = (step_cx.options.gate(), step_cx.options.asking());
        let known = std::mem::take(&mut wait.answers);
        if let Err(fault) = recognise(gated, call, step_cx, &wait, &known, &open) {
            for PriorQuestion { request, verdict } in open {
                self.reject(step_cx, &request, verdict, fault.clone());
            }
            return Err(match fault {
                VerdictFault::OtherDigest => ToolFailure::new(FailureKind::Denied, CHANGED).cause(fault),
                fault => rejection(fault),
            });
        }
        let mut asked = Vec::with_capacity(known.len() + open.len());
        for StoredAnswer { request, verdict } in known {
            asked
                .push(AskedQuestion { request, reply: Reply::Given { verdict: Box::new(verdict), is_reported: true } });
        }
        let mut requests = Vec::new();
        for PriorQuestion { request, verdict } in open {
            let reply = match verdict.map(|verdict| (accept(gate, &request, &verdict), verdict)) {
                Some((Ok(()), verdict)) => {
                    let caller = step_cx.options.caller_ref();
                    let outcome = ApprovalOutcome::of(&verdict.decision);
                    gate.record(|| gate.new_record(&request, caller, outcome).with_response(&verdict));
                    Reply::Given { verdict, is_reported: false }
                }
                Some((Err(fault), verdict)) => {
                    self.reject(step_cx, &request, Some(verdict), fault);
                    ask_again(asking.as_ref(), &request, &gated.cx, &mut requests)
                }
                None => ask_again(asking.as_ref(), &request, &gated.cx, &mut requests),
            };
            asked.push(AskedQuestion { request, reply });
        }
        let place = |id: &ApprovalId| wait.questions.iter().position(|known| known == id);
        asked.sort_by_key(|asked| place(&asked.request.request_id));
        let awaiting = AwaitingAnswers { tool: gated.tool, wait, asked };
        Ok((CallPhase::AwaitingAnswers(Box::new(awaiting)), Advance::Asked(requests)))
    }
}

impl AwaitingAnswers {
    fn into_leaving(self) -> LeavingCall {
        let Self { mut wait, asked, .. } = self;
        let mut open = Vec::new();
        for AskedQuestion { request, reply } in asked {
            match reply {
                Reply::Given { verdict, .. } => wait.answers.push(StoredAnswer { request, verdict: *verdict }),
                Reply::Asking(_) | Reply::Later => open.push(request),
            }
        }
        LeavingCall { wait, open }
    }
}

/// Calls the handler again, with the answers.
fn resume(
    index: usize,
    awaiting: AwaitingAnswers,
    call: &ToolCall,
    step_cx: StepCx<'_>,
) -> Result<Transition, ToolFailure> {
    let AwaitingAnswers { tool: tool_index, wait, asked } = awaiting;
    let tool = step_cx.tool(tool_index);
    let answers = asked.into_iter().filter_map(|AskedQuestion { request, reply }| match reply {
        Reply::Given { verdict, .. } => Some(QuestionAnswer::new(request, *verdict)),
        Reply::Asking(_) | Reply::Later => None,
    });
    let resumed = Resumed::new(wait.state, answers.collect(), wait.round);
    let cx = Cx::in_run(step_cx.run_shared.call_handle(index, tool_index)).with_resumed(resumed);
    step_cx.run_shared.mailbox.set_waiting(index, false);
    let prepared = prepare_isolated(|| tool.prepare_found(call, cx)).map_err(|failure| *failure)?;
    // The state belongs to these arguments.
    prepared.bind_arguments();
    Ok(cleared(tool_index, Ready::Handler(Isolated::new(prepared)), String::new(), call, step_cx))
}

/// Creates the requests of all questions, and asks them.
fn ask_all(
    state: &CallState,
    asking: &Arc<Asking>,
    (index, tool_index): (usize, usize),
    wait: &Wait,
    call: &ToolCall,
    step_cx: StepCx<'_>,
) -> Result<AwaitingAnswers, ToolFailure> {
    let round = state.round + 1;
    if round > MOST_ROUNDS {
        let message = format!("the call asked questions {MOST_ROUNDS} times and did not finish");
        return Err(ToolFailure::new(FailureKind::ExecutionError, message));
    }
    let invalid = |issues| ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(InvalidWait(issues));
    let wait_state = wait.state.clone().map_err(invalid)?;
    check_questions(&wait.questions).map_err(invalid)?;
    let tool = step_cx.tool(tool_index);
    let arguments = decoded(tool, &call.arguments, &step_cx.options.decode)?;
    let digest = digest_of(tool, &arguments, &call.arguments);
    let ids: Vec<ApprovalId> = wait.questions.iter().map(|_| ApprovalId::random()).collect();
    let stored =
        StoredWait { round, started: state.has_started, state: wait_state, questions: ids, answers: Vec::new() };
    let cx = Cx::in_run(step_cx.run_shared.call_handle(index, tool_index));
    let mut asked = Vec::with_capacity(wait.questions.len());
    for (place, (question, request_id)) in wait.questions.iter().zip(&stored.questions).enumerate() {
        let digest = stored.asking(&digest).digest(place, question);
        let at = AtGate { tool, call, caller: step_cx.options.caller_ref(), digest: &digest };
        let mut request = asking.gate().new_request(at, ApprovalRule::ToolPolicy).asking(question.clone());
        request.request_id = request_id.clone();
        // The tool itself asks, whatever the policies say.
        request.rule = None;
        asking.gate().sign(&mut request, &cx).map_err(rejection)?;
        let reply = Reply::Asking(Isolated::new(ask(asking, &request, &cx)));
        asked.push(AskedQuestion { request, reply });
    }
    Ok(AwaitingAnswers { tool: tool_index, wait: stored, asked })
}

fn ask(asking: &Arc<Asking>, request: &ApprovalRequest, cx: &Cx) -> BoxFuture<Asked> {
    Box::pin(Arc::clone(asking).ask(request.clone(), cx.clone()))
}

/// Asks a question that is open from before the run. Without an approver it stays open.
fn ask_again(
    asking: Option<&Arc<Asking>>,
    request: &ApprovalRequest,
    cx: &Cx,
    requests: &mut Vec<ApprovalRequest>,
) -> Reply {
    let Some(asking) = asking else { return Reply::Later };
    requests.push(request.clone());
    Reply::Asking(Isolated::new(ask(asking, request, cx)))
}

/// Checks that questions and answers are exactly those of this call with this state, and were made here.
fn recognise(
    gated: &Gated,
    call: &ToolCall,
    step_cx: StepCx<'_>,
    wait: &StoredWait,
    answers: &[StoredAnswer],
    open: &[PriorQuestion],
) -> Result<(), VerdictFault> {
    let gate = step_cx.options.gate();
    let digests = wait.asking(&gated.digest);
    let requests = open.iter().map(|question| &question.request).chain(answers.iter().map(|answer| &answer.request));
    for request in requests {
        let shows_call =
            (&request.call_id, &request.tool, &request.arguments) == (&call.call_id, &call.name, &call.arguments);
        let place = wait.questions.iter().position(|id| *id == request.request_id);
        let (Some(place), Some(question), true) = (place, request.question.as_deref(), shows_call) else {
            return Err(VerdictFault::OtherDigest);
        };
        if digests.digest(place, question) != request.digest {
            return Err(VerdictFault::OtherDigest);
        }
        gate.verify_request(request, || Some(gated.cx.run_id()))?;
    }
    open.iter().try_for_each(|question| gate.ensure_open(&question.request))?;
    // It was open when they were given.
    answers.iter().try_for_each(|StoredAnswer { request, verdict }| {
        Gate::check_binding(request, verdict)?;
        request.question.as_deref().map_or(Ok(()), |question| check_reply(question, &verdict.decision))
    })
}

/// Checks that a verdict answers its question.
fn accept(gate: &Gate, request: &ApprovalRequest, verdict: &Verdict) -> Result<(), VerdictFault> {
    gate.check_verdict(request, verdict)?;
    request.question.as_deref().map_or(Ok(()), |question| check_reply(question, &verdict.decision))
}
