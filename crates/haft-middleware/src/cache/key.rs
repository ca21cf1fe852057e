//! A cached answer's key.
//!
//! The whole key is compared, never only its hash: no two different calls can share an answer.

use haft_core::{Caller, ToolCall};
use haft_executor::{Request, ServicesIdentity, ToolIdentity};
use serde_json::json;

use super::Sharing;

/// A tool, its arguments in canonical form, and the calls that may share the answer.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct CacheKey {
    tool: ToolIdentity,
    audience: Audience,
    arguments: String,
}

/// The calls that may share an answer. The key has everything that an answer may depend on, or the call has no key.
#[derive(PartialEq, Eq, Hash)]
enum Audience {
    /// One caller, or calls without one, with the very same services and extensions, and, where the handler sees it,
    /// the same data beside the arguments.
    Caller {
        caller: Option<Caller>,
        services: ServicesIdentity,
        extensions: ServicesIdentity,
        forwarded: Option<String>,
    },
    /// All calls through toolkits with the very same services.
    Everyone { services: ServicesIdentity },
}

impl CacheKey {
    /// Creates a call's key, or returns `None` if the cache may not answer the call.
    pub(super) fn of(request: &Request, sharing: Sharing) -> Option<Self> {
        let tool = request.tool();
        if !(tool.annotations().readonly() && tool.annotations().idempotent()) {
            return None;
        }
        let audience = Audience::of(request, sharing)?;
        Some(Self { tool: tool.identity(), audience, arguments: request.canonical_arguments()? })
    }
}

impl Audience {
    fn of(request: &Request, sharing: Sharing) -> Option<Self> {
        let cx = request.cx();
        match sharing {
            Sharing::Everyone => Some(Self::Everyone { services: cx.toolkit_services().identity() }),
            // The caller stands for the conversation. Without one it may be any user's.
            Sharing::SameCaller if cx.caller().is_none() && !cx.messages().is_empty() => None,
            Sharing::SameCaller => Some(Self::Caller {
                caller: cx.caller().cloned(),
                services: cx.services().identity(),
                extensions: cx.extensions().identity(),
                forwarded: request.forwarded_call().map(data_of),
            }),
        }
    }
}

/// Returns a call's data that a forwarding handler sees, as one text.
fn data_of(call: &ToolCall) -> String {
    json!([call.metadata, call.provider_data]).to_string()
}
