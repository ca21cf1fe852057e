//! What makes two calls equal.
//!
//! The whole key is compared, never only a hash of it: no two different calls can meet.

use super::Sharing;
use crate::canonical::canonical_text;
use crate::cx::Caller;
use crate::middleware::Request;
use crate::service::ServicesIdentity;
use crate::tool::ToolIdentity;

/// A tool, its arguments in canonical form, and whom the answer is for.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key {
    tool: ToolIdentity,
    audience: Audience,
    arguments: String,
}

/// Whom an answer is for. What an answer may depend on is in it, or the call has no key.
#[derive(PartialEq, Eq, Hash)]
enum Audience {
    /// One caller, or nobody in particular, with the very same services and extensions.
    Caller { caller: Option<Caller>, services: ServicesIdentity, extensions: ServicesIdentity },
    /// Everyone who calls the tool by a toolkit with the very same services.
    Everyone { services: ServicesIdentity },
}

impl Key {
    /// Returns the key of a call, if it may be answered from memory.
    pub(super) fn of(request: &Request, sharing: Sharing) -> Option<Self> {
        let tool = request.tool();
        if !(tool.annotations().readonly() && tool.annotations().idempotent()) {
            return None;
        }
        let audience = Audience::of(request, sharing)?;
        // Arguments without a tree, which would be rounded or are not accepted, are equal to no others.
        let arguments = canonical_text(request.tree_if_exact()?);
        Some(Self { tool: tool.identity(), audience, arguments })
    }
}

impl Audience {
    fn of(request: &Request, sharing: Sharing) -> Option<Self> {
        let cx = request.cx();
        match sharing {
            Sharing::Everyone => Some(Self::Everyone { services: cx.kit_services().identity() }),
            // The caller stands for the conversation. Without one it may be anybody's.
            Sharing::SameCaller if cx.caller().is_none() && !cx.messages().is_empty() => None,
            Sharing::SameCaller => Some(Self::Caller {
                caller: cx.caller().cloned(),
                services: cx.services().identity(),
                extensions: cx.extensions().identity(),
            }),
        }
    }
}
