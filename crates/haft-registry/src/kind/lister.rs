//! The current definitions of an import, from wherever they come.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use haft_executor::{BoxError, Services};

use super::pinned::PinnedImport;

/// The future that an [`ImportLister`] returns.
pub type ListingImport = Pin<Box<dyn Future<Output = Result<ListedImport, BoxError>> + Send>>;

/// A function that connects to an import's origin and returns what it offers now.
///
/// It starts programs, contacts hosts and reads secrets: call it only for entries of trusted files. The services are
/// those that calls get. Nothing that it has started is left when it returns.
#[derive(Clone)]
pub struct ImportLister(Arc<dyn Fn(Services) -> ListingImport + Send + Sync>);

/// The definitions that an import offers now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedImport {
    /// The definitions that can be used.
    pub offered: PinnedImport,
    /// The definitions that can't be used: each one's name, if it has one, and the reason.
    pub quarantined: Vec<(Option<String>, String)>,
}

impl ImportLister {
    /// Creates a lister.
    pub fn new(list: impl Fn(Services) -> ListingImport + Send + Sync + 'static) -> Self {
        Self(Arc::new(list))
    }

    /// Lists the import.
    #[must_use]
    pub fn list(&self, services: Services) -> ListingImport {
        (self.0)(services)
    }
}

impl ListedImport {
    /// Creates a list without quarantined definitions.
    #[must_use]
    pub fn new(offered: PinnedImport) -> Self {
        Self { offered, quarantined: Vec::new() }
    }
}

impl fmt::Debug for ImportLister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImportLister").finish_non_exhaustive()
    }
}
