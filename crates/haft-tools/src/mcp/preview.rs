//! A call's effect, for the person who is asked to approve it.
//!
//! A server does what it likes with a call, so there is nothing to compute: the facts are which tool of which server gets
//! the arguments, and that the hints are the server's own.

use haft_registry::{CallEffect, CallPreview, EffectFact};

use super::server::ServerSettings;

/// The origin of a tool's hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HintOrigin {
    /// All that matter are set in the workspace file.
    Entry,
    Server,
}

/// Returns the preview of a tool's calls.
pub(super) fn preview(server: &ServerSettings, own: &str, hints: HintOrigin) -> CallPreview {
    let mut facts = vec![EffectFact::new("calls", format!("`{own}` of the MCP server `{}`", server.name()))];
    facts.extend(server.facts());
    if hints == HintOrigin::Server {
        facts.push(EffectFact::new("hints", "as the server states them"));
    }
    let secrets = server.secret_names().into_iter().map(str::to_owned).collect();
    let folder = server.folder().map(std::path::Path::to_owned);
    let effect = CallEffect::Other { facts, folder, secrets };
    CallPreview::new(effect.clone(), move |_| Ok(effect.clone()))
}
