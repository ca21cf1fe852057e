//! The imports of a workspace, with their pins, and with what they offer now.

use std::path::{Path, PathBuf};

use haft::registry::{ImportLister, ListedImport, LoginRequired};
use haft::workspace::pins::{ImportDifference, PinnedImport, Pins};
use haft::workspace::{Loaded, LoadedEntry, TrustStatus};
use tokio::task::JoinSet;

use crate::error::Fault;

/// An import with its pins.
#[derive(Debug)]
pub(crate) struct LockedImport<'l> {
    /// The name in the lock, such as `github/server`.
    pub(crate) name: String,
    pub(crate) entry: &'l LoadedEntry,
    /// The lock file's path.
    pub(crate) lock: &'l Path,
    pub(crate) pinned: Option<&'l PinnedImport>,
    lister: &'l ImportLister,
}

/// An import with what it offers now.
#[derive(Debug)]
pub(crate) struct LiveImport {
    pub(crate) name: String,
    pub(crate) lock: PathBuf,
    pub(crate) offered: PinnedImport,
    pub(crate) quarantined: Vec<(Option<String>, String)>,
    pub(crate) difference: ImportDifference,
    /// True if nothing of it was ever accepted.
    pub(crate) is_new: bool,
}

/// An import that can't be listed.
#[derive(Debug)]
pub(crate) struct Unlistable {
    pub(crate) fault: Fault,
    /// True if nobody has logged in, or no longer.
    pub(crate) requires_login: bool,
}

impl LockedImport<'_> {
    /// Reports whether this is the import with a name in a lock.
    pub(crate) fn is(&self, lock: &Path, name: &str) -> bool {
        self.lock == lock && self.name == name
    }
}

/// Returns a workspace's imports, in file order.
pub(crate) fn imports(loaded: &Loaded) -> Vec<LockedImport<'_>> {
    let import = |entry: &'_ LoadedEntry| -> Option<(usize, String)> {
        let lock = loaded.locks.iter().position(|lock| lock.file == entry.path)?;
        Some((lock, entry.import.clone()?))
    };
    let locked = loaded.entries.iter().filter_map(|entry| {
        let (lock, name) = import(entry)?;
        let lock = &loaded.locks[lock];
        let (pinned, lister) = (lock.pins.get(&name), entry.lister.as_ref()?);
        Some(LockedImport { name, entry, lock: &lock.path, pinned, lister })
    });
    locked.collect()
}

/// Rejects a file that may start nothing.
pub(super) fn ensure_trusted(loaded: &Loaded) -> Result<(), Fault> {
    if loaded.trust == TrustStatus::Trusted || imports(loaded).iter().all(|import| import.entry.reach.is_nothing()) {
        return Ok(());
    }
    let path = loaded.path.display();
    Err(Fault::new(format!("the servers of `{path}` can't be started: the file is not trusted as it is now"))
        .advice("read it, then run `haft trust`"))
}

/// Lists imports, all at the same time, and returns the outcomes in the same order.
pub(crate) async fn listed_now(
    loaded: &Loaded,
    imports: &[LockedImport<'_>],
) -> Vec<(String, Result<LiveImport, Unlistable>)> {
    let services = loaded.services();
    let mut listing = JoinSet::new();
    for (at, import) in imports.iter().enumerate() {
        let list = import.lister.list(services.clone());
        listing.spawn(async move { (at, list.await) });
    }
    let mut outcomes: Vec<Option<Result<ListedImport, Unlistable>>> = imports.iter().map(|_| None).collect();
    while let Some(listed) = listing.join_next().await {
        // A lister that panics has no outcome.
        let Ok((at, outcome)) = listed else { continue };
        let name = &imports[at].name;
        let failed = |error: haft::tool::BoxError| {
            let requires_login = error.is::<LoginRequired>();
            let fault = Fault::new(format!("`{name}` can't be listed")).cause(&*error);
            let has_logins = requires_login && imports[at].entry.login.is_some();
            let fault = if has_logins { fault.advice(format!("run `haft mcp login {name}`")) } else { fault };
            Unlistable { fault, requires_login }
        };
        outcomes[at] = Some(outcome.map_err(failed));
    }
    let named = imports.iter().zip(outcomes).map(|(import, outcome)| {
        let missing = || {
            let fault = Fault::new(format!("`{}` can't be listed", import.name));
            Err(Unlistable { fault, requires_login: false })
        };
        let live = outcome.unwrap_or_else(missing).map(|listed| live(import, listed));
        (import.name.clone(), live)
    });
    named.collect()
}

fn live(import: &LockedImport<'_>, listed: ListedImport) -> LiveImport {
    let ListedImport { offered, quarantined, .. } = listed;
    let mut pins = Pins::new();
    if let Some(pinned) = import.pinned {
        pins.insert(import.name.clone(), pinned.clone());
    }
    LiveImport {
        difference: pins.compare(&import.name, &offered),
        is_new: import.pinned.is_none(),
        name: import.name.clone(),
        lock: import.lock.to_owned(),
        offered,
        quarantined,
    }
}
