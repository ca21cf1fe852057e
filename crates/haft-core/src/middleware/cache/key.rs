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
        // Arguments without a tree, which would be rounded or are not accepted, are equal to no others.
        let arguments = request.tree_if_exact()?;
        Some(Self {
            tool: tool.identity(),
            caller: request.cx().caller().filter(|_| sharing == Sharing::SameCaller).cloned(),
            arguments: canonical_text(arguments),
        })
    }
}
