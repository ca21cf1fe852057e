//! The forms of haft's values in the protocol.
//!
//! Each module has both directions where both exist: the client reads what the server side writes.

pub mod content;
pub mod definition;
pub mod elicitation;
