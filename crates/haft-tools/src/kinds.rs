//! The one list of this crate's kinds.

use haft_registry::Kinds;

use crate::command::CommandKind;
use crate::http::{HttpKind, TokenCache};
use crate::openapi::OpenApiKind;

/// Returns this crate's kinds: `command`, `http`, `openapi`, and `mcp` with that feature. They share OAuth 2 tokens.
#[must_use]
pub fn kinds() -> Kinds {
    let tokens = TokenCache::new();
    let command = Kinds::empty().replace(CommandKind::new());
    let kinds = command.replace(HttpKind::new().tokens(&tokens)).replace(OpenApiKind::new().tokens(&tokens));
    #[cfg(feature = "mcp")]
    let kinds = kinds.replace(crate::mcp::McpKind::new());
    kinds
}
