//! Changes of lock files: by one process at a time, and with the trust that they had.

use std::path::Path;

use haft::workspace::pins::{LockFile, Pins};
use haft::workspace::{FileDigest, Loaded, TrustStatus};

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::report;
use crate::state::ExclusiveUse;
use crate::workspace;

/// The turn of this process to change a workspace's lock files, and the trust in them.
///
/// Whoever loads the files to change them waits for it as well: between the two steps of another process, the files
/// would count as changed by somebody else.
#[derive(Debug)]
pub(crate) struct LockTurn {
    _use: ExclusiveUse,
}

impl LockTurn {
    /// Waits until no other process changes the lock files of the workspace with this path.
    pub(crate) fn wait(cx: &Context, path: &Path) -> Result<Self, Fault> {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let name = FileDigest::of(path.as_os_str().as_encoded_bytes()).to_string();
        Ok(Self { _use: ExclusiveUse::wait(&cx.state_folder()?.join("locks").join(name))? })
    }
}

/// Changes the lock files of a workspace, which were loaded with it, and returns what each change returns.
pub(crate) fn write_locks<T>(
    _turn: &LockTurn,
    loaded: &Loaded,
    mut change: impl FnMut(&Path, &mut Pins) -> T,
) -> Result<Vec<T>, CommandError> {
    let mut outcomes = Vec::with_capacity(loaded.locks.len());
    for lock in &loaded.locks {
        let mut file = LockFile::read(&lock.path).map_err(|error| Fault::new("no tool is accepted").cause(&error))?;
        if *file.pins() != lock.pins {
            let fault = Fault::new(format!("`{}` has changed meanwhile, so no tool is accepted", lock.path.display()));
            return Err(fault.advice("run the command again").into());
        }
        let mut pins = file.pins().clone();
        outcomes.push(change(&lock.path, &mut pins));
        file.replace(pins).map_err(|error| Fault::new("no tool is accepted").cause(&error))?;
    }
    Ok(outcomes)
}

/// Trusts the files again that were trusted, if they are the same but for the locks: the person made that change.
pub(crate) async fn keep_trust(cx: &Context, _turn: &LockTurn, before: &Loaded) -> Result<(), CommandError> {
    let after = workspace::load_for_review(cx, &before.path).await?;
    let is_lock = |path: &Path| after.locks.iter().any(|lock| lock.path == *path);
    let others = |loaded: &Loaded| -> Vec<(std::path::PathBuf, FileDigest)> {
        loaded.files.iter().filter(|file| !is_lock(&file.path)).map(|file| (file.path.clone(), file.digest)).collect()
    };
    if before.trust == TrustStatus::Trusted && others(before) == others(&after) {
        cx.trust_store()?.trust(&after).map_err(|error| {
            Fault::new("the lock is written, but the trust in the file can't be recorded")
                .cause(&error)
                .advice("run `haft trust`")
        })?;
        return Ok(());
    }
    report::remarks(cx, &after);
    Ok(())
}
