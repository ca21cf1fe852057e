//! Running calls: many at once, each isolated, each answered exactly once.
//!
//! A call passes one sequence of steps, in [`call_state`](self::call_state): look up, permit, read and check, approve, wait for
//! a slot, run, answer. [`Run`] advances all calls at once inside the task that polls it:
//! nothing is spawned unless asked for, so dropping the stream drops everything it started. A call that panics, takes
//! too long or is called off is settled like any other, and its siblings never notice.
//!
//! What must never happen here: a call without a result, a call with two, a handler that runs without its checks, or a
//! lock held while user code runs.

mod approve;
mod call_error;
mod call_handle;
mod call_state;
mod cap;
mod continuation;
mod dispatch;
mod execute;
mod failure_class;
mod handling;
mod isolation;
mod listener;
mod mailbox;
mod option;
mod permit;
mod run;
mod run_approvals;
mod single;
mod slot;
mod span;
mod spawned;
mod timer;
mod try_run;
mod typed_call;

#[cfg(feature = "approval")]
pub use self::approve::Suspend;
pub use self::approve::{ApprovalAnswer, Approve, IntoApprovalAnswer};
pub use self::call_error::CallError;
pub(crate) use self::call_handle::CallHandle;
pub(crate) use self::call_state::decoded;
pub use self::continuation::{Continuation, Step};
pub use self::dispatch::{Dispatch, EventStream};
pub(crate) use self::execute::{PollRight, run_to_end};
pub use self::failure_class::FailureClass;
pub use self::handling::{FailureOrigin, HandleStream, HandlerResult};
pub use self::isolation::{Isolated, Panicked, drop_isolated, isolated};
pub(crate) use self::listener::{IsolatedSpan, is_heard};
pub use self::option::RunOptions;
pub use self::permit::{Permission, Permit, Permitting};
pub use self::run::Run;
pub use self::single::RunCall;
pub use self::try_run::{RunError, TryRun};
