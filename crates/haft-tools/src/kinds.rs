//! The one list of the kinds of this crate.

use haft_registry::Kinds;

use crate::command::CommandKind;
use crate::http::{HttpKind, TokenCache};
use crate::openapi::OpenApiKind;

/// Returns the kinds of this crate: `command`, `http` and `openapi`. They share the tokens of OAuth 2 clients.
#[must_use]
pub fn kinds() -> Kinds {
    let tokens = TokenCache::new();
    let command = Kinds::empty().replace(CommandKind::new());
    command.replace(HttpKind::new().tokens(&tokens)).replace(OpenApiKind::new().tokens(&tokens))
}
