//! Approval of tool calls: what an approval is bound to, how it is transported, and how long it is remembered.
//!
//! ```text
//! ToolCall ─> look up ─> permit ─> decode ─> approve ─> slot ─> middleware ─┐
//!                                             │   ▲                         │
//!             ┌──── ApprovalRequest <─────────┘   └─── verdict <──┐         │
//!             │     digest, expiry, signature                     │         │
//!             └──> approver, VerdictQueue, plan or stored run ────┘         │
//!                                  ToolResult <─ encode <─ handler <────────┘
//! ```
//!
//! An approval request carries a [digest](self::digest) of the tool, its definition and the decoded arguments. A
//! verdict is accepted only for the request it names, with the digest of that request, before the request expires,
//! once, and where signing keys are set only with the request's [signature](self::signing). The
//! [`executor`](crate::executor) requests approval and acts on verdicts. This module holds everything that outlives one
//! poll of a run: plans, queued verdicts, suspended runs, remembered verdicts and the audit records.
//!
//! Invariants: an approval is never applied to another call, to other arguments or to another definition of the tool;
//! it is never used twice; a verdict is never dropped without being returned to the application; and every wait for a
//! verdict ends.

mod decision;
mod digest;
mod gate;
mod memory;
mod plan;
mod question;
mod queue;
mod queue_plan;
mod record;
mod remote;
mod requested_call;
mod ruling;
mod signing;
mod suspended;
mod verdict;
mod waiting;

pub use self::decision::Decision;
pub(crate) use self::gate::{AtGate, Gate, digest_of};
pub use self::memory::ApprovalMemory;
pub use self::plan::CallPlan;
pub(crate) use self::question::{AskingCall, check_question, check_questions, check_reply};
pub use self::queue::{Receipt, VerdictQueue, VerdictSender};
pub use self::queue_plan::QueuePlan;
pub use self::record::{ApprovalOutcome, AuditRecord};
pub use self::requested_call::RequestedCall;
pub(crate) use self::requested_call::{Planned, PriorApproval, PriorQuestion, PriorState};
pub(crate) use self::ruling::Ruling;
pub use self::signing::{SigningKeyError, SigningKeys};
pub(crate) use self::suspended::{Finished, Pending, Waiting};
pub use self::suspended::{Suspended, SuspendedError};
pub use self::verdict::{RejectedVerdict, VerdictFault};
pub use self::waiting::WaitingCall;
pub(crate) use self::waiting::{StoredAnswer, StoredWait};
