//! Verdicts on approval requests of a provider, for calls that it executes itself.
//!
//! Such a request is not made here: there is no digest, no signature and no tool to check arguments against. So a
//! verdict can only approve or deny the call as the provider described it, and it is sent back to the provider. No
//! approver, no policy and no remembered verdict decides about such a request: a rule that approves a tool of this
//! application by its name must not approve a tool of another party that has the same name.

use haft_core::{ApprovalDecision, ApprovalRequest, Verdict};

use super::record::ApprovalOutcome;
use super::verdict::VerdictFault;
use crate::executor::RunOptions;

impl RunOptions {
    /// Checks a verdict on an approval request of a provider, without acting on it: request id, digest, expiry by the
    /// [approval clock](Self::approval_clock), and that it approves or denies. The provider executes the call, so an
    /// edit or an answer is rejected.
    ///
    /// ```
    /// use haft_core::{ApprovalRequest, ToolCall};
    /// use haft_executor::{RunOptions, VerdictFault};
    /// use serde_json::json;
    ///
    /// let mut request = ApprovalRequest::new("q1", &ToolCall::new("mcp_1", "delete_page", "{}"));
    /// request.provider_data.insert("vendor".to_owned(), json!({"id": "q1"}));
    /// let options = RunOptions::new();
    /// assert!(options.check_remote_verdict(&request, &request.deny("it is still used")).is_ok());
    /// let fault = options.check_remote_verdict(&request, &request.edit(json!({}))).unwrap_err();
    /// assert!(matches!(fault, VerdictFault::ProviderCall { .. }));
    /// ```
    pub fn check_remote_verdict(&self, request: &ApprovalRequest, response: &Verdict) -> Result<(), VerdictFault> {
        remote_outcome(response)?;
        self.gate().check_verdict(request, response)
    }

    /// Checks a verdict as [`check_remote_verdict`](Self::check_remote_verdict) does, and passes a record of the
    /// outcome to the [auditors](Self::audit). Call this where the verdict is sent to the provider.
    pub fn accept_remote_verdict(&self, request: &ApprovalRequest, response: &Verdict) -> Result<(), VerdictFault> {
        let gate = self.gate();
        let checked = self.check_remote_verdict(request, response).and_then(|()| remote_outcome(response));
        gate.record(|| {
            let record = |outcome| gate.new_record(request, self.caller_ref(), outcome).with_response(response);
            match &checked {
                Ok(outcome) => record(*outcome),
                Err(fault) => record(fault.outcome()).with_reason(&fault.recorded()),
            }
        });
        checked.map(drop)
    }
}

/// Returns the outcome of a verdict on a call that the provider executes.
fn remote_outcome(response: &Verdict) -> Result<ApprovalOutcome, VerdictFault> {
    match &response.decision {
        ApprovalDecision::Approved => Ok(ApprovalOutcome::Approved),
        ApprovalDecision::Denied => Ok(ApprovalOutcome::Denied),
        ApprovalDecision::Edited(_) | ApprovalDecision::Answered(_) => {
            Err(VerdictFault::ProviderCall { word: response.decision.as_str().to_owned() })
        }
        ApprovalDecision::Other(word) => Err(VerdictFault::UnusableDecision { word: word.clone() }),
    }
}
