//! The gate: everything a run needs to request approval, except the approver.
//!
//! The gate creates and signs approval requests, finds verdicts that already apply, checks whether a verdict can be
//! used, and records the outcome of each request. It never decides whether a call requires approval: the policies do.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use haft_core::{
    ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalRule, Caller, RunId, Timestamp, ToolCall, Verdict,
};
use haft_schema::isolation::isolated;

use super::memory::{ApprovalMemory, CallIdentity};
use super::record::{ApprovalOutcome, AuditRecord};
use super::signing::SigningKeys;
use super::verdict::VerdictFault;
use crate::cx::Cx;
use crate::executor::{OptionList, is_heard, stricter};
use crate::tool::Tool;
use crate::tool::arguments::Arguments;

type ApprovalClock = dyn Fn() -> Timestamp + Send + Sync;
type Auditor = dyn Fn(&AuditRecord) + Send + Sync;

/// The approval settings of a run.
#[derive(Clone)]
pub(crate) struct Gate {
    /// The time until an approval request expires.
    pub(crate) lifetime: Option<Duration>,
    pub(crate) clock: Option<Arc<ApprovalClock>>,
    pub(crate) auditors: OptionList<Arc<Auditor>>,
    pub(crate) memory: Option<ApprovalMemory>,
    pub(crate) keys: Option<SigningKeys>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// A call that may require approval, with everything a verdict is matched by.
#[derive(Clone, Copy)]
pub(crate) struct AtGate<'a> {
    pub(crate) tool: &'a Tool,
    pub(crate) call: &'a ToolCall,
    pub(crate) caller: Option<&'a Caller>,
    pub(crate) digest: &'a str,
}

impl Gate {
    /// A gate with default settings.
    pub(crate) const PLAIN: Self =
        Self { lifetime: None, clock: None, auditors: OptionList::EMPTY, memory: None, keys: None };

    /// Returns the settings of a run, which may have none.
    pub(crate) fn or_plain(gate: Option<&Self>) -> &Self {
        static PLAIN: Gate = Gate::PLAIN;
        gate.unwrap_or(&PLAIN)
    }

    /// Combines these settings with narrower ones. All auditors receive every record, the shorter lifetime applies, and
    /// everything else is replaced where `narrower` sets it.
    pub(crate) fn merge(&self, narrower: &Self) -> Self {
        let Self { lifetime, clock, auditors: added, memory, keys } = narrower.clone();
        let mut auditors = self.auditors.clone();
        auditors.append(&added);
        Self {
            auditors,
            lifetime: stricter(self.lifetime, lifetime, Ord::min),
            clock: clock.or_else(|| self.clock.clone()),
            memory: memory.or_else(|| self.memory.clone()),
            keys: keys.or_else(|| self.keys.clone()),
        }
    }

    /// Returns the current time, which decides whether requests have expired. If the clock panics, no other clock takes
    /// its place: without the time nothing can be approved.
    pub(crate) fn now(&self) -> Result<Timestamp, VerdictFault> {
        match &self.clock {
            Some(clock) => isolated(|| clock()).map_err(|_| VerdictFault::ClockFailed),
            None => Ok(SystemTime::now().into()),
        }
    }

    /// Creates an approval request. It must be [signed](Self::sign) before it is sent.
    #[allow(clippy::unused_self, reason = "requests are created by a gate")]
    pub(crate) fn new_request(&self, at: AtGate<'_>, rule: ApprovalRule) -> ApprovalRequest {
        let mut request = ApprovalRequest::new(ApprovalId::random(), at.call).digest(at.digest);
        request.rule = Some(rule);
        request
    }

    /// Sets the expiry of a request, and binds it to the run of its call and signs it where keys are set.
    pub(crate) fn sign(&self, request: &mut ApprovalRequest, cx: &Cx) -> Result<(), VerdictFault> {
        let now = self.now()?;
        request.expires_at = self.lifetime.map(|lifetime| now.saturating_add(lifetime));
        if let Some(keys) = &self.keys {
            (request.run_id, request.index) = (Some(cx.run_id()), cx.call_index());
            keys.sign(request);
        }
        Ok(())
    }

    /// Checks that a request has not expired.
    pub(crate) fn ensure_open(&self, request: &ApprovalRequest) -> Result<(), VerdictFault> {
        if request.is_expired(self.now()?) { Err(VerdictFault::Expired) } else { Ok(()) }
    }

    /// Checks that a verdict is valid for a request now.
    pub(crate) fn check_verdict(&self, request: &ApprovalRequest, response: &Verdict) -> Result<(), VerdictFault> {
        Self::check_binding(request, response)?;
        self.ensure_open(request)
    }

    /// Checks that a verdict belongs to this request and can be acted on, apart from the expiry. Runs no user code.
    pub(crate) fn check_binding(request: &ApprovalRequest, response: &Verdict) -> Result<(), VerdictFault> {
        if response.request_id != request.request_id {
            return Err(VerdictFault::UnknownRequest);
        }
        if !request.binds(response) {
            return Err(VerdictFault::OtherDigest);
        }
        if request.signature != response.signature {
            let is_missing = response.signature.is_none();
            return Err(if is_missing { VerdictFault::Unsigned } else { VerdictFault::Forged });
        }
        if let ApprovalDecision::Other(word) = &response.decision {
            return Err(VerdictFault::UnusableDecision { word: word.clone() });
        }
        Ok(())
    }

    /// Checks that the expiry of a request that was not kept is one that this gate could have set. The request is
    /// rebuilt from its verdict, so nothing else is known about it.
    pub(crate) fn check_claimed_expiry(&self, request: &ApprovalRequest) -> Result<(), VerdictFault> {
        let Some(lifetime) = self.lifetime else { return Ok(()) };
        let latest = self.now()?.saturating_add(lifetime);
        let is_ours = request.expires_at.is_some_and(|end| end <= latest);
        if is_ours { Ok(()) } else { Err(VerdictFault::Expired) }
    }

    /// Records the outcome of a request: as a tracing event, and by the auditors.
    pub(crate) fn record(&self, record: impl FnOnce() -> AuditRecord) {
        let is_heard = is_heard!("haft::approval", tracing::Level::INFO);
        if self.auditors.is_empty() && !is_heard {
            return;
        }
        let record = record();
        if is_heard {
            drop(isolated(|| log(&record)));
        }
        self.audit(&record);
    }

    /// Records that a permit denied a call: as a tracing event, and by the auditors.
    pub(crate) fn record_denial(&self, call: &ToolCall, rule: Option<&str>, reason: &str, caller: Option<&Caller>) {
        let is_heard = is_heard!("haft::permit", tracing::Level::INFO);
        if self.auditors.is_empty() && !is_heard {
            return;
        }
        let mut record = AuditRecord::forbidden(call, rule, reason, self.time_of_record());
        record.caller = caller.cloned();
        if is_heard {
            drop(isolated(|| log_denial(&record)));
        }
        self.audit(&record);
    }

    fn audit(&self, record: &AuditRecord) {
        for auditor in self.auditors.as_slice() {
            // An auditor only observes, so its panic affects neither the call nor the other auditors.
            drop(isolated(|| auditor(record)));
        }
    }

    /// Returns the time for a record. An outcome is recorded even if the clock failed.
    fn time_of_record(&self) -> Timestamp {
        self.now().unwrap_or(Timestamp::from_unix_millis(0))
    }

    /// Creates a record of a request's outcome.
    pub(crate) fn new_record(
        &self,
        request: &ApprovalRequest,
        caller: Option<&Caller>,
        outcome: ApprovalOutcome,
    ) -> AuditRecord {
        let mut record = AuditRecord::new(request, outcome, self.time_of_record());
        record.caller = caller.cloned();
        record
    }
}

/// Emits a record as a tracing event.
fn log(record: &AuditRecord) {
    tracing::info!(
        target: "haft::approval",
        outcome = record.outcome.as_str(),
        request_id = record.request_id.as_ref().map(ApprovalId::as_str),
        call_id = record.call_id.as_str(),
        tool = record.tool,
        digest = record.digest,
        rule = record.rule.as_ref().map(ApprovalRule::as_str),
        who = record.who,
        caller = record.caller.as_ref().map(Caller::as_str),
        "approval"
    );
}

/// Emits the record of a denied call as a tracing event.
fn log_denial(record: &AuditRecord) {
    tracing::info!(
        target: "haft::permit",
        call_id = record.call_id.as_str(),
        tool = record.tool,
        rule = record.rule.as_ref().map(ApprovalRule::as_str),
        caller = record.caller.as_ref().map(Caller::as_str),
        "denied"
    );
}

/// Returns the digest that binds an approval.
pub(crate) fn digest_of(tool: &Tool, arguments: &Arguments, written: &str) -> String {
    tool.approval_digest_of(arguments, written)
}

/// Verdicts that apply to more than one call.
impl Gate {
    /// Returns a remembered verdict that applies to this call.
    pub(crate) fn verdict_for(&self, at: AtGate<'_>) -> Option<Verdict> {
        self.memory.as_ref()?.verdict_for(identity(at))
    }

    /// Remembers a verdict for the calls that its scope covers.
    pub(crate) fn remember(&self, at: AtGate<'_>, response: &Verdict) {
        if let Some(memory) = &self.memory {
            memory.remember(identity(at), response);
        }
    }

    /// Checks that a request was created here, and for a call of this run. A signed request is rejected if no keys are
    /// configured.
    pub(crate) fn verify_request(
        &self,
        request: &ApprovalRequest,
        run_id: impl FnOnce() -> Option<RunId>,
    ) -> Result<(), VerdictFault> {
        match (&self.keys, &request.signature) {
            (Some(keys), _) => {
                keys.verify(request)?;
                let is_of_run = run_id().is_none_or(|run_id| request.run_id == Some(run_id));
                // Under another id the call would have another idempotency key, and could run once more.
                if is_of_run { Ok(()) } else { Err(VerdictFault::Forged) }
            }
            (None, Some(signature)) => Err(VerdictFault::UnknownKey { key_id: signature.key_id.clone() }),
            (None, None) => Ok(()),
        }
    }
}

fn identity(at: AtGate<'_>) -> CallIdentity<'_> {
    CallIdentity { caller: at.caller, digest: at.digest, tool: at.tool.id(), definition: at.tool.definition_digest() }
}
