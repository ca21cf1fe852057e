//! Conversations in files.
//!
//! A conversation is two files in one folder. `<name>.json` is the last saved state; it is replaced as a whole, so a
//! reader, also one after a crash, sees one state or the next, never a part. `<name>.claim` has the current claim, and
//! its lock is held during every operation that changes something, so that processes take turns. The lock is that of the
//! operating system, which releases it when the process ends in any way; a lease, which may last longer, is data.
//!
//! Files are only written while the lock is held and the claim was found to be the current one. A damaged file must
//! never be overwritten.

mod claim_file;
mod name;
mod state_file;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use haft_core::Timestamp;
use tokio::runtime::Handle;

use self::claim_file::ClaimFile;
use self::name::file_name;
use self::state_file::StateFile;
use super::{Claim, ClaimToken, Clock, ConversationStore, StoreError, StoreFuture, StoredConversation, system_clock};
use crate::turn_loop::LoopState;

/// A store in a folder, with two files per conversation, for one machine. Any number of processes may use the folder.
/// Clones share it.
///
/// A state that was saved survives a crash and the loss of power. Only the user can read the files (mode 0600 on Unix).
/// Each save writes the whole state, so its cost grows with the conversation.
///
/// ```
/// use haft_model::FileStore;
///
/// # let folder = std::env::temp_dir().join(format!("haft-file-store-{}", std::process::id()));
/// let store = FileStore::open(&folder)?;
/// # drop(store);
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok::<_, haft_model::StoreError>(())
/// ```
#[derive(Clone)]
pub struct FileStore(Arc<Folder>);

/// The folder of a store.
#[derive(Clone)]
struct Folder {
    path: PathBuf,
    clock: Clock,
}

impl FileStore {
    /// Opens the store in a folder, and creates the folder if it does not exist.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = folder.into();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(|error| failed("create", &path, error))?;
        Ok(Self(Arc::new(Folder { path, clock: system_clock() })))
    }

    /// Sets the clock that leases are measured by. Processes that share a folder must agree about the time.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let mut folder = Arc::unwrap_or_clone(self.0);
        folder.clock = Arc::new(clock);
        Self(Arc::new(folder))
    }

    /// Runs an operation on a thread that may block. It is done to its end even if the future is dropped.
    fn run<'a, T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'a, T> {
        let folder = Arc::clone(&self.0);
        Box::pin(async move {
            let runtime = Handle::try_current().map_err(|error| StoreError::failed("start a file operation", error))?;
            let done = runtime.spawn_blocking(move || work(&folder)).await;
            done.map_err(|error| StoreError::failed("finish a file operation", error))?
        })
    }
}

impl Folder {
    fn state(&self, id: &str) -> StateFile {
        StateFile::new(&self.path, &file_name(id))
    }

    /// Locks the claim of a conversation, until the value is dropped.
    fn lock(&self, id: &str) -> Result<ClaimFile, StoreError> {
        ClaimFile::lock(&self.path.join(format!("{}.claim", file_name(id))))
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

impl ConversationStore for FileStore {
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<StoredConversation>> {
        let id = id.to_owned();
        self.run(move |folder| folder.state(&id).read(&id))
    }

    fn claim<'a>(&'a self, id: &'a str, lease: Duration) -> StoreFuture<'a, Claim> {
        let id = id.to_owned();
        self.run(move |folder| {
            let mut file = folder.lock(&id)?;
            let now = folder.now();
            if let Some((_, until)) = file.read()?.filter(|(_, until)| now < *until) {
                return Err(StoreError::Busy { until });
            }
            let claim = Claim::new(id, ClaimToken::random(), now.saturating_add(lease));
            file.write(&claim)?;
            Ok(claim)
        })
    }

    fn renew<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StoreFuture<'a, Claim> {
        let claim = claim.clone();
        self.run(move |folder| {
            let mut file = folder.lock(&claim.conversation)?;
            file.current(&claim)?;
            let renewed = Claim { expires_at: folder.now().saturating_add(lease), ..claim };
            file.write(&renewed)?;
            Ok(renewed)
        })
    }

    fn save<'a>(&'a self, claim: &'a Claim, expected: u64, state: &'a LoopState) -> StoreFuture<'a, u64> {
        let claim = claim.clone();
        // Written here: a state belongs to its caller, and only text moves to another thread.
        let text = serde_json::to_vec(state).map_err(|error| StoreError::failed("write the state as JSON", error));
        self.run(move |folder| {
            let text = text?;
            let mut file = folder.lock(&claim.conversation)?;
            if folder.now() >= file.current(&claim)? {
                return Err(StoreError::ClaimLost);
            }
            let state = folder.state(&claim.conversation);
            let found = state.version(&claim.conversation)?;
            if found != expected {
                return Err(StoreError::Changed { expected, found });
            }
            state.replace(&claim.conversation, found + 1, &text)?;
            Ok(found + 1)
        })
    }

    fn release<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, ()> {
        let claim = claim.clone();
        self.run(move |folder| {
            let mut file = folder.lock(&claim.conversation)?;
            file.current(&claim)?;
            file.clear()
        })
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStore").field("folder", &self.0.path).finish_non_exhaustive()
    }
}

/// Returns the error of an operation on a file.
fn failed(action: &str, path: &Path, error: io::Error) -> StoreError {
    StoreError::failed(format!("{action} {}", path.display()), error)
}

/// Makes a new name in a folder survive the loss of power.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems have nothing to write for a folder.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns the options of a file that only the user can read.
fn private_file() -> fs::OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
