//! Approval: a person or a policy decides before a call runs.
//!
//! ```text
//!  ToolCall ─► look up ─► permit ─► decode ─► ╔═════════╗ ─► slot ─► handler ─► ToolResult
//!                                             ║ approve ║
//!                                             ╚═╤═════▲═╝
//!                              ApprovalRequest  ▼     │  Verdict
//!                                     function, queue, or another process
//! ```
//!
//! | term | meaning |
//! |---|---|
//! | [`ApprovalPolicy`] | decides from the arguments, and an [`ApprovalCx`], whether a call needs approval: an [`ApprovalNeed`] |
//! | [`ApprovalRequest`] | asks about one call, as data |
//! | [`Verdict`] | answers a request |
//! | [`Approve`] | an approver: it returns an [`ApprovalAnswer`], which is a verdict, *later*, or *no answer* |
//! | [`VerdictQueue`] | an approver that waits for what [`VerdictSender`]s send |
//! | [`Suspended`] | a run whose calls wait for verdicts, as data; the approver [`Suspend`] makes one |
//! | [`RejectedVerdict`] | a verdict that does not fit, with its [`VerdictFault`] |
//! | [`ApprovalMemory`] | keeps verdicts that hold for more than one call |
//! | [`SigningKeys`] | sign requests, so that clients can't change them |
//! | [`AuditRecord`] | what became of a request, and which calls a permit denied |
//!
//! The other names are what these hold and how they fail. Plans are in [`haft::run`](crate::run), questions that a
//! running call asks in [`haft::tool`](mod@crate::tool).
//!
//! A tool or a run says which calls require approval: `#[tool(approval = …)]`, `.needs_approval(policy)`,
//! [`RunOptions::policy`](crate::run::RunOptions::policy). A policy is a function of the arguments and an
//! [`ApprovalCx`] (caller, conversation, services, extensions): it returns a `bool`, an [`ApprovalNeed`] or a `Result`
//! of either, or is asynchronous. A call that requires approval where no approver is configured is denied. A policy
//! that fails counts as one that requires approval. Signals and interactions take the same path; one that is denied is
//! not handed to the loop. A call that the provider executes can't be prevented, so only a permit is asked about it.
//!
//! | the verdict comes | use |
//! |---|---|
//! | from a function, while the run waits | `.approvals(\|request: ApprovalRequest, _cx: Cx\| async move { request.approve() })` on the run options |
//! | from a queue that many runs share | `let (sender, queue) = VerdictQueue::new()`, `.approvals(queue)`, `sender.send(verdict)?` |
//! | with the next request to a server | `kit.plan_from_map(policy, verdicts, calls).await`, then `kit.run(plan)` |
//! | hours later, perhaps in another process | `.approvals(Suspend)`, then `kit.resume(suspended, verdicts)` |
//!
//! A verdict is `request.approve()`, `.deny(reason)`, `.edit(arguments)` (checked like the model's own) or
//! `.answer(value)` (a person's result in place of the tool's, checked against its result schema). Its `.scope(…)`
//! tells an [`ApprovalMemory`] what else it holds for: this call, these arguments, this tool, this session. A denial
//! revokes earlier approvals of anything narrower; an approval does not revoke a narrower denial.
//!
//! A verdict is bound to exactly what was shown: the request carries a digest of the tool, its definition and the
//! decoded arguments. A verdict that does not fit runs nothing and is returned with the reason
//! ([`RejectedVerdict`]); `kit.check_verdict(…)` reports it before it is sent:
//!
//! | the verdict | the call |
//! |---|---|
//! | names another request, has another digest, or brings invalid arguments or an invalid answer | stays pending |
//! | comes after the request expired | is cancelled |
//! | lacks the signature, or its request was changed since it was signed | is denied |
//! | is for a tool whose definition has changed since | approval is requested again |
//!
//! All calls of a batch that require approval are pending at once, so a verdict with a wide scope does not answer the
//! others of its own batch. Remembered verdicts hold for the caller they were given for. An approver function has no
//! later verdict to wait for: after an invalid edit or answer it is asked again with the issues
//! (`cx.rejected_verdict()`), at most three times, and any other verdict that does not fit denies the call.
//!
//! Run options set a lifetime for requests (`approval_lifetime`), signing keys (`approval_keys`), a memory
//! (`approval_memory`) and an audit log (`audit`: who decided what, when and under which rule, and which calls a permit
//! denied). A signature proves that this application sent the request, not that a person agreed: who may decide, and
//! how far a scope may reach, is for the server that accepts verdicts.
//!
//! ```
//! use haft::approval::Suspended;
//! use haft::prelude::*;
//! use haft::serde_json;
//!
//! /// Moves money.
//! #[tool(approval = "always")]
//! async fn transfer(to: String, cents: u64) -> String {
//!     format!("{cents} cents to {to}")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kit = toolkit![Transfer];
//! let calls = [ToolCall::new("c1", "transfer", r#"{"to": "Ada", "cents": 500}"#)];
//! let run = kit.run_with(&calls, RunOptions::new().approvals(Suspend));
//! let suspended = run.collect_or_suspend().await.unwrap_err();
//! let stored = serde_json::to_string(&suspended)?;
//!
//! // Later, in another process:
//! let suspended: Suspended = serde_json::from_str(&stored)?;
//! let verdicts: Vec<_> = suspended.pending().map(|request| request.approve()).collect();
//! let results = kit.resume(suspended, verdicts).collect_or_suspend().await.unwrap();
//! assert_eq!(results[0].to_model_text(), "500 cents to Ada");
//! # Ok(())
//! # }
//! ```

#[doc(inline)]
pub use haft_core::{
    ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalRule, ApprovalScope, Decider, RequestSignature, Verdict,
};
#[doc(inline)]
pub use haft_executor::{
    ApprovalAnswer, ApprovalCx, ApprovalMemory, ApprovalNeed, ApprovalOutcome, ApprovalPolicy, Approve, AuditRecord,
    IntoApprovalNeed, Receipt, RejectedVerdict, SigningKeyError, SigningKeys, Suspend, Suspended, SuspendedError,
    VerdictFault, VerdictQueue, VerdictSender,
};
