//! Conversation histories in which every call has its output where providers expect it.
//!
//! ```text
//! the model ─> Turn ─> fresh_ids ─> ToolCall ─> (the call path) ─> ToolResult
//!                │                                                      │
//!                └─────────────> append, answer <───────────────────────┘
//!                                      │
//! stored items ─> repair ─────────> History ─> the next request to the model
//! ```
//!
//! A history is a list of [`Item`](crate::Item)s: either a [`History`], which keeps an index of its items and is cheap
//! to share and to extend, or a plain vector, which each of these functions reads from the start. Providers reject a
//! history in which a call has no output, an output has no call, two calls share an id, or an output is too late; each
//! does so with a different error, and only when the next request is sent. The functions of this module extend a
//! history so that this can't happen ([`append`], [`answer`], [`fresh_ids`]), list what is pending ([`unanswered`],
//! [`approvals`]), and repair a history from elsewhere ([`repair`]).
//!
//! # Reconciled histories
//!
//! A *group* is a sequence of items on the assistant's side: messages, reasoning, tool calls, and calls that the
//! provider executed. A history is *reconciled* if
//!
//! - each call that is executed locally has exactly one output, and the outputs of a group come directly after it;
//! - there are no other outputs, except those of calls that the provider executes, which are ignored;
//! - no two calls share an id, and no output names another tool than its call.
//!
//! These are the rules of the strictest provider, so a reconciled history can be sent to each of them. Approval items
//! may be anywhere. Those of calls that are executed locally are never sent. Those of a provider, for calls that it
//! executes, are sent back to it with the response; a request without one must not be sent
//! ([`History::has_open_remote_request`]). An item of an unknown type ends a group, as a user message does.
//!
//! An output answers a call *before* it, and only one. If several calls with its id have no output, it answers one in
//! the nearest group, and there the first. An output before its call answers nothing: ids are reused, so it may belong
//! to an older call.
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
//! // Models reuse ids, so calls get fresh ones before they are run.
//! conversation.fresh_ids(&mut turn);
//! let results: Vec<_> = turn.tool_calls().iter().map(|call| ToolResult::ok(call, json!(3))).collect();
//! turn.append_to_history(&mut conversation, results)?;
//! assert!(conversation.is_reconciled());
//! # Ok::<_, haft_core::history::AppendError>(())
//! ```
//!
//! # Repairing a stored history
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
//! Nothing is repaired implicitly: a history is changed only by the function that is named after the change, and
//! `repair` reports each change.

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
