//! The accepted tools of an import, as a live source.
//!
//! Before the first call these are all accepted tools that were chosen. Once the server has listed its own, those that
//! it does not list any more are left out until it lists them again, and new ones are reported: nothing is offered that
//! nobody accepted. A tool whose definition has changed stays, and its calls fail and say so.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use haft_executor::{Changed, Services, Snapshot, SourceFault, Tool, ToolSource, Toolkit};
use haft_mcp::Listing;
use haft_registry::{Closing, LiveSource, Refreshing};

use super::import::McpImport;

/// A tool under the name that it has here.
#[derive(Debug)]
pub(super) struct NamedTool {
    /// The server's name of it.
    pub(super) own: String,
    pub(super) tool: Tool,
}

/// The tools of one import.
#[derive(Debug)]
pub(super) struct McpSource {
    import: Arc<McpImport>,
    tools: Vec<NamedTool>,
    /// The server's names of all tools that were accepted, including those that were not chosen.
    accepted: HashSet<String>,
    current: Mutex<Current>,
}

/// The snapshot for one list of the server.
#[derive(Debug)]
struct Current {
    listing: Option<Arc<Listing>>,
    difference: Difference,
    snapshot: Snapshot,
}

/// The difference between the accepted tools and a list, by the server's names.
#[derive(Debug, Default, PartialEq)]
struct Difference {
    missing: HashSet<String>,
    new: Vec<String>,
}

/// The reason why a tool is left out.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum LeftOut {
    #[error("its server does not list it any more")]
    Missing,
    #[error("its server has added it, and nobody has accepted it yet")]
    New,
}

impl McpSource {
    pub(super) fn new(import: Arc<McpImport>, tools: Vec<NamedTool>, accepted: HashSet<String>) -> Self {
        let snapshot = Snapshot::new(tools.iter().map(|tool| tool.tool.clone()).collect(), 0);
        let current = Mutex::new(Current { listing: None, difference: Difference::default(), snapshot });
        Self { import, tools, accepted, current }
    }

    fn difference(&self, listing: &Listing) -> Difference {
        let listed = listing.tools.iter().chain(&listing.app_tools).map(|tool| tool.tool.name());
        // A tool whose new definition is malformed is still there.
        let quarantined = listing.quarantined.iter().filter_map(|tool| tool.name.as_deref());
        let listed: HashSet<&str> = listed.chain(quarantined).collect();
        let own = self.tools.iter().map(|tool| &tool.own);
        let new = listing.tools.iter().map(|tool| tool.tool.name()).filter(|name| !self.accepted.contains(*name));
        Difference {
            missing: own.filter(|name| !listed.contains(name.as_str())).cloned().collect(),
            new: new.map(str::to_owned).collect(),
        }
    }

    fn snapshot_of(&self, difference: &Difference, generation: u64) -> Snapshot {
        let (missing, offered): (Vec<_>, Vec<_>) =
            self.tools.iter().partition(|tool| difference.missing.contains(&tool.own));
        let kit: Toolkit = offered.into_iter().map(|tool| tool.tool.clone()).collect();
        let missing = missing.into_iter().map(|tool| SourceFault::new(tool.tool.name(), LeftOut::Missing));
        let new = difference.new.iter().map(|name| SourceFault::new(name, LeftOut::New));
        Snapshot::new(kit, generation).with_faults(missing.chain(new))
    }
}

impl ToolSource for McpSource {
    fn snapshot(&self) -> Snapshot {
        let listing = self.import.listing();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let is_read = match (&listing, &current.listing) {
            (Some(listing), Some(read)) => Arc::ptr_eq(listing, read),
            (None, _) => true,
            (Some(_), None) => false,
        };
        if let (false, Some(listing)) = (is_read, listing) {
            let difference = self.difference(&listing);
            if difference != current.difference {
                current.snapshot = self.snapshot_of(&difference, current.snapshot.generation() + 1);
                current.difference = difference;
            }
            current.listing = Some(listing);
        }
        current.snapshot.clone()
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        let mut listings = self.import.listings();
        Box::pin(async move {
            while self.snapshot().generation() <= after {
                // The sender is part of the import, so it lives while this is awaited.
                if listings.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        })
    }
}

impl LiveSource for McpSource {
    fn refresh(&self, services: Services) -> Refreshing<'_> {
        Box::pin(async move { self.import.refresh(&services).await })
    }

    fn close(&self) -> Closing<'_> {
        Box::pin(self.import.close())
    }
}
