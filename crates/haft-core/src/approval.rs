//! Approval: what a person's yes is bound to, how it travels, and what is remembered of it.
//!
//! A question about a call carries a [digest](self::digest) of the tool, its definition and the decoded arguments. A
//! verdict counts only for its question and its digest, in time, once, and where keys are set only with the question's
//! own [signature](self::signing). The executor asks and acts ([`executor`](crate::executor)); here is everything that
//! outlives one poll of it: plans made ahead, verdicts on their way, runs that stopped to wait, and the record of who
//! decided what.
//!
//! What must never happen here: a yes that is taken for another call, for other arguments or for another definition; a
//! yes that is used twice; a verdict that vanishes without anybody being told; a wait that nothing ends.
//!
//! Without the feature `approval` there are no digests, so nothing may leave the run: an approver in the same process is
//! all there is, and the rest of this module is not offered.

mod approved_call;
#[cfg(feature = "approval")]
mod decision;
#[cfg(feature = "approval")]
mod digest;
mod gate;
mod id;
#[cfg(feature = "approval")]
mod memory;
#[cfg(feature = "approval")]
mod plan;
#[cfg(feature = "approval")]
mod queue;
mod record;
mod ruling;
#[cfg(feature = "approval")]
mod signing;
#[cfg_attr(not(feature = "approval"), allow(dead_code, reason = "without digests nothing can be suspended"))]
mod suspended;
mod verdict;

pub use self::approved_call::{ApprovedCall, RequestedCall};
pub(crate) use self::approved_call::{Planned, PriorApproval, PriorState};
#[cfg(feature = "approval")]
pub use self::decision::{Decision, Decisions};
pub(crate) use self::gate::{AtGate, Gate, digest_of};
#[cfg(feature = "approval")]
pub use self::memory::ApprovalMemory;
#[cfg(feature = "approval")]
pub use self::plan::{CallPlan, QueuePlan};
#[cfg(feature = "approval")]
pub use self::queue::{Delivery, VerdictQueue, VerdictSender};
pub use self::record::{ApprovalOutcome, ApprovalRecord};
pub(crate) use self::ruling::Ruling;
#[cfg(feature = "approval")]
pub use self::signing::{SignatureError, SigningKeyError, SigningKeys};
pub(crate) use self::suspended::{Finished, Pending};
pub use self::suspended::{Suspended, SuspendedError};
pub use self::verdict::{RefusedVerdict, VerdictFault};
