//! Conversations: the items that go to a model and come back, and histories that stay whole.
//!
//! ```text
//!   TurnRequest ─► model ─► Turn ─► ToolCalls ─► run ─► ToolResults
//!        ▲                   │                              │
//!        │               ╔═══▼══════════════════════════════▼═══╗
//!        └───────────────║ History: items, outputs after their  ║
//!                        ║ calls, in call order                 ║
//!                        ╚══════════════════════════════════════╝
//! ```
//!
//! Everything here is plain data that serialises. Values that leave the process whole carry a version, and items,
//! deltas and content parts of an unknown type are kept unchanged.
//!
//! While a turn arrives, [`Delta`]s show it: text, reasoning and refusals in numbered parts, which may be interleaved,
//! citations, and calls by their ids, also those that the provider executes. They are for display; only the [`Turn`]
//! counts.
//!
//! [`history`] holds the functions that keep a conversation valid for every provider: outputs are placed right after
//! the turn that made the calls, in call order; orphans, duplicates and misplaced outputs are found in both directions;
//! [`history::repair`] returns a history that every provider's pairing rules accept, and reports what it changed.
//! [`Turn::append_to_history`] adds a turn and its results.
//!
//! ```
//! use haft::conversation::{Item, history};
//! use haft::run::ToolCall;
//!
//! let call = Item::from(ToolCall::new("c1", "search", "{}"));
//! let cut_off = vec![Item::user("Find it."), call];
//! assert!(!history::is_reconciled(&cut_off));
//! let (whole, changes) = history::repair(cut_off, "the process stopped").into_parts();
//! assert!(history::is_reconciled(&whole) && !changes.is_empty());
//! ```

#[doc(inline)]
pub use haft_core::{
    Author, CallOutputBody, Citation, ContentPart, Delta, Finish, FormatVersion, History, Item, MediaData, MediaPart,
    Message, OutputFormat, ProviderCall, Reasoning, ReasoningForm, RefusalPart, ResourceContents, ResourceLinkPart,
    ResourcePart, Role, TextPart, Timestamp, ToolCallOutput, ToolChoice, ToolDemand, Turn, TurnRequest, UnknownDelta,
    Usage, history,
};
