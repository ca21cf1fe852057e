//! The protocol revisions of a server.

use rmcp::ClientLifecycleMode;
use rmcp::model::ProtocolVersion;

/// The generation of the protocol that a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Era {
    /// Asks the server, and falls back to the handshake. A server that answers nothing costs ten seconds.
    #[default]
    Auto,
    /// The stateless revisions, from 2026-07-28 on.
    Modern,
    /// The revisions with an `initialize` handshake, up to 2025-11-25.
    Legacy,
}

impl Era {
    pub(crate) fn lifecycle(self) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match self {
            Self::Auto => ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            Self::Modern => ClientLifecycleMode::Discover { preferred_versions },
            Self::Legacy => ClientLifecycleMode::Initialize,
        }
    }

    /// Returns the era of a revision.
    pub(crate) fn of(version: &ProtocolVersion) -> Self {
        if *version >= ProtocolVersion::V_2026_07_28 { Self::Modern } else { Self::Legacy }
    }
}
