//! What makes two calls equal.
//!
//! The whole key is compared, never only a hash of it: no two different calls can meet.

use super::Sharing;
use crate::canonical::canonical_text;
use crate::cx::Caller;
use crate::middleware::Request;
use crate::tool::ToolIdentity;

/// A tool, its arguments in canonical form, and who asks.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key {
    tool: ToolIdentity,
    caller: Option<Caller>,
    arguments: String,
}

impl Key {
    /// The key of a call, if it may be answered from memory.
    pub(super) fn of(request: &Request, sharing: Sharing) -> Option<Self> {
        let tool = request.tool();
        if !(tool.annotations().readonly() && tool.annotations().idempotent()) {
            return None;
        }
        let arguments = request.arguments();
        // Arguments that a middleware spoiled are null as a tree, too, and must not be taken for a null that was meant.
        if arguments.is_null() && request.raw_arguments().trim() != "null" {
            return None;
        }
        Some(Self {
            tool: tool.identity(),
            caller: request.cx().caller().filter(|_| sharing == Sharing::SameCaller).cloned(),
            arguments: canonical_text(arguments),
        })
    }
}
