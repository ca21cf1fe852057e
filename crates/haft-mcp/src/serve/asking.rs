//! The approver of served calls: it asks the party that decides.
//!
//! ```text
//! request ─> decider ─┬─ approvers ─> the application's hook
//!                     └─ client ─┬─ old era: an elicitation, now
//!                                └─ new era: later, as `input_required`; now, from memory, if the handler runs
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use haft_core::{ApprovalId, ApprovalRequest, Decider};
use haft_executor::{ApprovalAnswer, Approve, BoxError, Cx};
use rmcp::model::InputRequest;

use super::approvers::AnyApprovers;
use super::client_link::ServedClient;
use super::form::Form;

/// The approver of one call.
pub(super) struct CallApprover {
    pub(super) client: ServedClient,
    pub(super) default: Decider,
    /// True if the client is asked by results.
    pub(super) is_modern: bool,
    pub(super) approvers: Option<Arc<dyn AnyApprovers>>,
    /// The requests that the user dismissed, with the reasons.
    pub(super) dismissed: HashMap<ApprovalId, String>,
}

/// Returns the party that decides about a request. Questions are for the user of the client, unless a rule says otherwise.
pub(super) fn decider(request: &ApprovalRequest, default: Decider) -> Decider {
    let is_question = request.subject().question.is_some();
    request.decider().unwrap_or(if is_question { Decider::Client } else { default })
}

impl Approve for CallApprover {
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        if let Some(reason) = self.dismissed.get(&request.request_id) {
            return Ok(ApprovalAnswer::NoAnswer { reason: reason.clone() });
        }
        match (decider(&request, self.default), &self.approvers) {
            (Decider::Client, _) => Ok(self.ask_client(&request, &cx).await),
            (Decider::Approvers, Some(approvers)) => Arc::clone(approvers).ask(request, cx).await,
            (Decider::Approvers, None) => {
                let reason = "the call requires approval by somebody else, and this server has nobody to ask";
                Ok(no_answer(reason))
            }
        }
    }
}

impl CallApprover {
    async fn ask_client(&self, request: &ApprovalRequest, cx: &Cx) -> ApprovalAnswer {
        let rejected = cx.rejected_verdict().map(|rejected| rejected.fault.to_string());
        let form = Form::of(request, cx.tool(), self.client.capabilities(), rejected.as_deref());
        let form = match form {
            Ok(form) => form,
            Err(reason) => return no_answer(&format!("the call can't go on: {reason}")),
        };
        if self.is_modern && cx.can_be_deferred() {
            return ApprovalAnswer::Later;
        }
        match self.client.ask(InputRequest::Elicitation(form.request())).await {
            Ok(answer) => form.read(request, &answer),
            Err(error) => no_answer(&format!("the call can't go on: {error}")),
        }
    }
}

fn no_answer(reason: &str) -> ApprovalAnswer {
    ApprovalAnswer::NoAnswer { reason: reason.to_owned() }
}
