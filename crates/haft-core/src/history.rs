//! Keeping a conversation whole: every call with its output, where providers look for it.
//!
//! A history is a list of [`Item`](crate::Item)s: a [`History`], which knows its items and is cheap to share and to add to, or
//! a plain vector, which is read anew by each of these functions. Providers refuse one in which a call has no output, an output
//! has no call, two calls share an id, or an output stands too late, each with an error of its own and only when the
//! next request is sent. The functions here add to a history so that this can't happen ([`append`], [`answer`],
//! [`fresh_ids`]), say what is open ([`unanswered`], [`approvals`]), and mend what came broken from elsewhere
//! ([`repair`]).
//!
//! # What whole means
//!
//! A *group* is a run of items on the assistant's side: its messages, its reasoning, tool calls, and what the provider
//! ran. Whole is a history in which
//!
//! - each call that is run here has exactly one output, and the outputs of a group stand right after it, before
//!   anything else;
//! - no other outputs stand anywhere, except those of calls that the provider runs, which are not looked at;
//! - no two calls share an id, and no output names another tool than its call.
//!
//! This is what the strictest provider asks, so a whole history can be sent to each of them. Approval items are on no
//! wire and may stand anywhere. An item of an unknown type parts groups as a user's message does.
//!
//! An output answers a call that stands *before* it, and one call only. Where several calls of its id are open, it goes
//! to the nearest group, and there to the call that asked first. An output that stands before its call answers nothing:
//! ids are used again, so it may as well be what is left of an older call.
//!
//! # From turn to turn
//!
//! ```
//! use haft_core::{Finish, History, Item, ToolCall, ToolResult, Turn};
//! use serde_json::json;
//!
//! let mut conversation = History::from([Item::user("What is 1 + 2?")]);
//! let mut turn = Turn::new(vec![ToolCall::new("call_0", "add", "[1,2]").into()], Finish::ToolCalls);
//!
//! // models use ids again, so calls get fresh ones before they are run
//! conversation.fresh_ids(&mut turn);
//! let results: Vec<_> = turn.tool_calls().iter().map(|call| ToolResult::ok(call, json!(3))).collect();
//! turn.append_to_history(&mut conversation, results)?;
//! assert!(conversation.is_reconciled());
//! # Ok::<_, haft_core::history::AppendError>(())
//! ```
//!
//! # What was stored and came back
//!
//! ```
//! use haft_core::{Item, ToolCall, history};
//!
//! let stored: Vec<Item> = vec![ToolCall::new("c1", "pay", "{}").into(), Item::user("Are you there?")];
//! if !history::is_reconciled(&stored) {
//!     let repaired = history::repair(stored, "the program was restarted");
//!     for change in &repaired.changes {
//!         println!("{change}");
//!     }
//!     assert_eq!(repaired.history.len(), 3);
//! }
//! ```
//!
//! Nothing here repairs on its own: a history is changed by the function whose name says so, and the change is told.

mod addition;
mod append;
mod append_error;
mod approval;
mod arrangement;
mod change;
mod fresh_id;
mod index;
mod layout;
mod list;
mod pending;
mod repair;

pub use self::append::{AddTurn, answer, append};
pub use self::append_error::{AppendError, StrayReason, StrayResult};
pub use self::approval::{Approvals, PendingApproval, RemoteApproval, approvals, strip_resolved_approvals};
pub use self::change::{
    CancelledCall, Change, MovedOutput, RelabelledOutput, RemovalReason, RemovedOutput, ReorderedOutputs,
};
pub use self::fresh_id::{Renamed, fresh_ids};
pub use self::list::{History, Revision, Staged};
pub use self::pending::{cancel_pending, unanswered};
pub use self::repair::{Repaired, is_reconciled, repair};
