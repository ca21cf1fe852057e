//! Running calls: many at once, each isolated, each answered exactly once.
//!
//! ```text
//! ToolCall ─► look up, decode           call_state/admission.rs
//!          ─► permit                    call_state/permitting.rs (permit.rs: trait)
//!          ─► approve                   call_state/approval.rs (approve.rs: trait)
//!          ─► slot                      slot.rs
//!          ─► [lanes]                   lane.rs, shared with other runs
//!          ─► [middleware ─►] handler   execute.rs, the only code that polls handlers
//!          ─► encode                    handler.rs, by the tool's schemas
//!          ─► cap ─► ToolResult         cap.rs, then run/driver.rs emits the event
//! ```
//!
//! [`call_state`](self::call_state) is the sequence of these steps for one call; [`Run`] advances all calls
//! concurrently inside the task that polls it. Nothing is spawned unless [`spawned`](Run::spawned) is set, so dropping
//! the stream drops everything it started. A call that panics, times out or is cancelled gets a result like any other,
//! and does not affect its siblings.
//!
//! Invariants: a call never ends without a result or with two, no handler runs before its checks have passed, and no
//! lock is held while user code runs.

mod approve;
mod asking;
mod call_error;
mod call_handle;
mod call_state;
mod cap;
mod continuation;
mod dispatch;
mod execute;
mod handling;
mod lane;
mod listener;
mod mailbox;
mod option;
mod option_list;
mod option_merge;
mod permit;
mod run;
mod run_approvals;
mod run_deadline;
mod single;
mod slot;
mod span;
mod spawned;
mod timer;
mod try_run;
mod typed_call;

pub use self::approve::Suspend;
pub use self::approve::{ApprovalAnswer, Approve};
pub use self::asking::AskError;
pub(crate) use self::asking::{Asked, Asking};
pub use self::call_error::CallError;
pub(crate) use self::call_handle::CallHandle;
pub(crate) use self::call_state::decoded;
pub use self::continuation::{Continuation, Step};
pub use self::dispatch::Dispatch;
pub(crate) use self::execute::{PollRight, run_request};
pub use self::handling::{FailureOrigin, HandlerResult, HandlerResults};
pub use self::lane::{Lane, Lanes};
pub use self::listener::IsolatedSpan;
pub(crate) use self::listener::is_heard;
pub(crate) use self::mailbox::EmissionBody;
pub use self::option::RunOptions;
pub(crate) use self::option::StartEvents;
pub(crate) use self::option_list::OptionList;
pub(crate) use self::option_merge::stricter;
pub use self::permit::{Permission, Permit, Permitting};
pub use self::run::Run;
pub use self::single::RunCall;
pub(crate) use self::spawned::MissingRuntime;
pub use self::try_run::{RunError, TryRun};
