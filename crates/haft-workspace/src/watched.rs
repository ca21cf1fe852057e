//! A workspace that follows its files.
//!
//! Every load is applied as a whole or not at all: if a file can't be loaded, the last good tools stay and the status
//! has the error. A tool or import with a fault is set aside, and the rest of its file is applied. Running calls keep
//! the definition they began with.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use haft_registry::reading::read_bounded;
use haft_registry::{Executor, ExecutorBuilder, RegistryError, WorkspaceError};
use haft_tools::standard::StandardToolboxError;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{Mutex, Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::error::FileError;
use super::load::{LoadOptions, load, load_again};
use super::loaded::Loaded;
use super::policy::UserPolicy;
use super::source::{FileDigest, MAX_READ, ReadFile};

/// The quiet time before changed files are loaded: editors and version control change them in steps.
const QUIET: Duration = Duration::from_millis(100);

/// The longest time for which successive changes delay a load.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// A workspace that is loaded from a file, and loaded again when the file changes. Clones share it.
///
/// ```
/// use haft_registry::Kinds;
/// use haft_workspace::{LoadOptions, WatchedWorkspace};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("haft.toml");
/// std::fs::write(&path, "[limits]\nconcurrency = 8\n")?;
/// let options = LoadOptions::new(Kinds::empty())?;
/// let workspace = WatchedWorkspace::open(&path, options, |loaded| Ok(loaded.executor())).await?;
///
/// std::fs::write(&path, "[limits]\nconcurrency = 'many'\n")?;
/// assert!(workspace.reload().await.is_err());
/// let status = workspace.status();
/// assert_eq!(status.loaded.limits.concurrency.map(|most| most.get()), Some(8));
/// assert!(status.error.unwrap().to_string().contains("must be an integer"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct WatchedWorkspace(Arc<Inner>);

struct Inner {
    path: PathBuf,
    options: LoadOptions,
    /// Adds the application's settings to the files'.
    complete: Box<CompleteSettings>,
    executor: Executor,
    status: watch::Sender<WatchStatus>,
    /// Held during a load, so that an older load never replaces a newer one.
    loading: Mutex<()>,
}

type CompleteSettings = dyn Fn(&mut Loaded) -> Result<ExecutorBuilder, WorkspaceError> + Send + Sync;

/// The last load's outcome.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WatchStatus {
    /// The number of loads so far.
    pub loads: u64,
    /// The workspace from the last good load. Its faulty entries are [set aside](Loaded::set_aside).
    pub loaded: Arc<Loaded>,
    /// The last load's error, after which the previous workspace was kept.
    pub error: Option<Arc<ReloadError>>,
}

/// A workspace that can't be loaded, or whose tools can't be registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// The files have faults.
    #[error(transparent)]
    File(#[from] FileError),
    /// The standard tools can't be built as the files choose them.
    #[error(transparent)]
    Standard(#[from] StandardToolboxError),
    /// The application's toolboxes can't be added.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The tools can't be registered.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// Watches the files of a workspace until it is dropped.
#[derive(Debug)]
#[must_use = "files are watched until this is dropped"]
pub struct FileWatch {
    task: JoinHandle<()>,
}

impl Drop for FileWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl WatchedWorkspace {
    /// Loads a workspace for the first time.
    ///
    /// `complete` is called for every load and returns the executor's settings: [those from the
    /// files](Loaded::executor), with what your application adds: services, an approver, permits and
    /// [toolboxes](Loaded::extend).
    pub async fn open(
        path: impl Into<PathBuf>,
        options: LoadOptions,
        complete: impl Fn(&mut Loaded) -> Result<ExecutorBuilder, WorkspaceError> + Send + Sync + 'static,
    ) -> Result<Self, ReloadError> {
        let path = path.into();
        let mut loaded = load(&path, &options).await?;
        let executor = complete(&mut loaded)?.build(loaded.registry()?.build()?);
        let status = watch::Sender::new(WatchStatus { loads: 1, loaded: Arc::new(loaded), error: None });
        let complete = Box::new(complete);
        Ok(Self(Arc::new(Inner { path, options, complete, executor, status, loading: Mutex::default() })))
    }

    /// Returns the executor with the tools and rules from the last good load.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.0.executor
    }

    /// Returns the last load's outcome.
    #[must_use]
    pub fn status(&self) -> WatchStatus {
        self.0.status.borrow().clone()
    }

    /// Returns a receiver for load outcomes.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<WatchStatus> {
        self.0.status.subscribe()
    }

    /// Loads the files again, and replaces all tools and settings in one step. After an error everything stays as it
    /// is.
    pub async fn reload(&self) -> Result<Arc<Loaded>, Arc<ReloadError>> {
        let _loading = self.0.loading.lock().await;
        let outcome = self.load_and_apply().await.map_err(Arc::new);
        if let Err(error) = &outcome {
            tracing::warn!(%error, "the workspace can't be loaded, and the last one is kept");
        }
        self.0.status.send_modify(|status| {
            status.loads += 1;
            status.error = outcome.as_ref().err().cloned();
            if let Ok(loaded) = &outcome {
                status.loaded = Arc::clone(loaded);
            }
        });
        outcome
    }

    async fn load_and_apply(&self) -> Result<Arc<Loaded>, ReloadError> {
        let Inner { path, options, complete, executor, .. } = &*self.0;
        let earlier = Arc::clone(&self.0.status.borrow().loaded);
        let mut loaded = load_again(options, path, &earlier).await?;
        let settings = complete(&mut loaded)?;
        executor.replace(loaded.registry()?, settings)?;
        for fault in loaded.set_aside.iter().flat_map(|entry| &entry.faults) {
            tracing::warn!(%fault, "an entry of the workspace is set aside");
        }
        Ok(Arc::new(loaded))
    }

    /// Watches all loaded files, and loads them again after a change. Requires a tokio runtime with time enabled.
    pub fn watch(&self) -> Result<FileWatch, notify::Error> {
        let changed = Arc::new(Notify::new());
        let files = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
        let watcher = notify::recommended_watcher({
            let (changed, files) = (Arc::clone(&changed), Arc::clone(&files));
            move |event: notify::Result<notify::Event>| {
                if is_relevant(&event, &files) {
                    changed.notify_one();
                }
            }
        })?;
        let mut watched = WatchedFolders { watcher, folders: BTreeSet::new(), files };
        watched.follow(&self.status())?;
        if self.is_outdated() {
            changed.notify_one();
        }
        let workspace = self.clone();
        let task = tokio::spawn(async move {
            loop {
                changed.notified().await;
                // Every further change starts the wait anew, within a limit.
                let latest = Instant::now() + MAX_DELAY;
                while Instant::now() < latest && timeout(QUIET, changed.notified()).await.is_ok() {}
                // The status has the error.
                let _ = workspace.reload().await;
                match watched.follow(&workspace.status()) {
                    Ok(Followed::MoreFolders) if workspace.is_outdated() => changed.notify_one(),
                    Ok(Followed::MoreFolders | Followed::SameFolders) => {}
                    Err(error) => tracing::warn!(%error, "files of the workspace can't be watched"),
                }
            }
        });
        Ok(FileWatch { task })
    }

    /// Reports whether a file changed after it was loaded and before it was watched.
    fn is_outdated(&self) -> bool {
        let is_same = |file: &ReadFile| {
            read_bounded(&file.path, MAX_READ).is_ok_and(|content| FileDigest::of(&content) == file.digest)
        };
        let loaded = Arc::clone(&self.0.status.borrow().loaded);
        let policy = self.0.options.policy_path().and_then(|path| read_bounded(path, MAX_READ).ok());
        let is_same_policy = policy.map(|text| FileDigest::of(&text)) == loaded.policy.as_ref().map(UserPolicy::digest);
        !is_same_policy || !loaded.files.iter().all(is_same)
    }
}

/// The difference that following made.
enum Followed {
    SameFolders,
    MoreFolders,
}

/// The watched folders. A file is watched through its folder: editors replace files, and a watch on the file itself
/// would stay with the old one.
struct WatchedFolders {
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
    files: Arc<std::sync::Mutex<BTreeSet<PathBuf>>>,
}

impl WatchedFolders {
    /// Watches the last good load's files, and a later failed load's.
    fn follow(&mut self, status: &WatchStatus) -> notify::Result<Followed> {
        let failed = match status.error.as_deref() {
            Some(ReloadError::File(error)) => error.files.as_slice(),
            Some(ReloadError::Standard(_) | ReloadError::Workspace(_) | ReloadError::Registry(_)) | None => &[],
        };
        let files: BTreeSet<PathBuf> =
            status.loaded.watched.iter().chain(failed).filter_map(|path| absolute(path)).collect();
        let folders: BTreeSet<PathBuf> = files.iter().filter_map(|file| file.parent().map(Path::to_owned)).collect();
        *self.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = files;
        for gone in self.folders.difference(&folders) {
            // It may have been removed.
            let _ = self.watcher.unwatch(gone);
        }
        let mut outcome = Ok(Followed::SameFolders);
        let mut watched = BTreeSet::new();
        for folder in folders {
            if self.folders.contains(&folder) {
                watched.insert(folder);
                continue;
            }
            match self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    watched.insert(folder);
                    outcome = outcome.map(|_| Followed::MoreFolders);
                }
                // A missing folder is watched once a later load finds it.
                Err(_) if !folder.exists() => {}
                Err(error) => outcome = Err(error),
            }
        }
        self.folders = watched;
        outcome
    }
}

/// Returns a file's path with a folder without symbolic links, as events report it.
fn absolute(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().or_else(|_| std::path::absolute(folder)).ok()?;
    Some(folder.join(path.file_name()?))
}

/// Reports whether an event may be a change to one of the files. An error may hide one.
fn is_relevant(event: &notify::Result<notify::Event>, files: &std::sync::Mutex<BTreeSet<PathBuf>>) -> bool {
    let Ok(event) = event else { return true };
    if matches!(event.kind, EventKind::Access(_)) {
        return false;
    }
    let files = files.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    event.need_rescan() || event.paths.iter().any(|path| files.contains(path))
}

impl fmt::Debug for WatchedWorkspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedWorkspace").field("path", &self.0.path).finish_non_exhaustive()
    }
}
