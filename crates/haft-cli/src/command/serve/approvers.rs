//! Calls that others have to approve: their runs wait in files, where `haft pending` answers them.
//!
//! A file is named by its call, so the same call of the same caller finds its run. A run is taken out of the store before it
//! goes on: it never runs twice, even if the server ends meanwhile.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use haft::conversation::Timestamp;
use haft::mcp::serve::{Approvers, CallKey, EarlierRun, PendingRun};
use haft::tool::BoxError;

use crate::command::pending::SERVED;
use crate::context::Context;
use crate::error::Fault;
use crate::suspended_run::{KeptRun, Ledger, SuspendedRun};

/// A store of runs.
#[derive(Clone, Debug)]
pub(super) struct FileApprovers {
    folder: PathBuf,
    ledger: Ledger,
    /// The workspace file.
    workspace: Option<PathBuf>,
}

/// A run that can't be stored or found.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct StoreError(String);

impl FileApprovers {
    pub(super) fn new(cx: &Context, workspace: Option<PathBuf>) -> Result<Self, Fault> {
        Ok(Self { folder: cx.state_folder()?.join(SERVED), ledger: Ledger::of(cx)?, workspace })
    }

    /// Returns the file of a call.
    fn path(&self, key: &CallKey) -> PathBuf {
        let digest = key.digest();
        self.folder.join(format!("{}.json", digest.rsplit(':').next().unwrap_or(&digest)))
    }

    fn store(&self, run: PendingRun) -> Result<(), Fault> {
        let PendingRun { key, run_id, suspended, .. } = run;
        let caller = key.caller.as_ref().map(|caller| caller.as_str().to_owned());
        let kept = KeptRun { suspended: suspended.with_run_id(&run_id), workspace: self.workspace.clone(), caller };
        SuspendedRun::keep(&self.path(&key), kept, &self.ledger)
    }

    fn find(&self, path: &Path) -> Result<Option<EarlierRun>, Fault> {
        if !path.is_file() {
            return Ok(None);
        }
        let stored = SuspendedRun::open(path, self.ledger.clone())?;
        let Some(suspended) = stored.suspended()? else {
            stored.remove()?;
            return Ok(None);
        };
        let verdicts = stored.verdicts();
        let now = Timestamp::from(SystemTime::now());
        let waits = |id| !verdicts.iter().any(|verdict| verdict.request_id == id);
        if suspended.pending().any(|request| waits(request.request_id.clone()) && request.is_expired(now)) {
            // Nobody can decide about it any more: the call is asked about anew.
            stored.remove()?;
            return Ok(None);
        }
        if suspended.pending().any(|request| waits(request.request_id.clone())) {
            return Ok(suspended.run_id().cloned().map(EarlierRun::Pending));
        }
        stored.remove()?;
        Ok(Some(EarlierRun::Decided { suspended: Box::new(suspended), verdicts }))
    }
}

impl Approvers for FileApprovers {
    async fn keep(&self, run: PendingRun) -> Result<(), BoxError> {
        let store = self.clone();
        let stored = tokio::task::spawn_blocking(move || store.store(run)).await?;
        stored.map_err(|fault| StoreError(text(&fault)).into())
    }

    async fn earlier(&self, key: &CallKey) -> Result<Option<EarlierRun>, BoxError> {
        let (store, path) = (self.clone(), self.path(key));
        let found = tokio::task::spawn_blocking(move || store.find(&path)).await?;
        found.map_err(|fault| StoreError(text(&fault)).into())
    }
}

fn text(fault: &Fault) -> String {
    std::iter::once(&fault.message).chain(&fault.causes).cloned().collect::<Vec<_>>().join(": ")
}
