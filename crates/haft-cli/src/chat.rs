//! Conversations with a model that has the workspace's tools.
//!
//! ```text
//!  arguments ─> model.rs ──┐
//!  stored file ─> store.rs ┼─> agent.rs ─> turn.rs ─> LoopEvents ─> view.rs, or JSON lines
//!  keys ─> prompt.rs ──────┘                  └─> store.rs, after every turn
//! ```
//!
//! The library's loop does the work. This module reads what a person or a script says, shows what happens, and stores
//! the state. It must never lose a state: it writes one before the model is asked, after each turn, and at the end,
//! each time in one step. It never writes to a file that can't be read.

pub(crate) mod agent;
pub(crate) mod call_view;
pub(crate) mod fault;
pub(crate) mod list;
pub(crate) mod model;
pub(crate) mod print;
pub(crate) mod prompt;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod session;
pub(crate) mod store;
pub(crate) mod turn;
pub(crate) mod view;
