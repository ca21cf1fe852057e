//! A workspace as it was loaded from files.

use std::path::PathBuf;

use haft_core::Toolkit;
use haft_http::AddressGuard;

use super::error::FileFault;
use super::settings::{GuardSettings, LimitSettings, StandardChoice};
use super::source::{FileDigest, ReadFile};
use super::trust::TrustStatus;
use crate::error::RegistryError;
use crate::permission::{AskRules, Permissions};
use crate::registry::{Registry, RegistryBuilder};
use crate::secrets::Secrets;
use crate::workspace::Workspace;

/// A workspace as it was loaded from files, with the settings that it runs with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The path of the file, without symbolic links.
    pub path: PathBuf,
    /// The toolboxes of the file itself.
    pub workspace: Workspace,
    /// The workspaces of the organisations that it names.
    pub orgs: Vec<Workspace>,
    /// The choice of standard tools; unset for none.
    pub standard: Option<StandardChoice>,
    /// The secrets. Those of a file that is not trusted are withheld.
    pub secrets: Secrets,
    /// The exceptions from the guard of HTTP requests. A file that is not trusted has none.
    pub http: GuardSettings,
    /// The guard of HTTP requests with these exceptions.
    pub guard: AddressGuard,
    /// The limits of a run.
    pub limits: LimitSettings,
    /// The permissions; unset if the file sets none.
    pub permissions: Option<Permissions>,
    /// The approval rules of all files.
    pub ask_rules: AskRules,
    /// Remarks about what was left out.
    pub remarks: Vec<FileFault>,
    /// The trust by which the files were loaded.
    pub trust: TrustStatus,
    /// The digest of all files.
    pub digest: FileDigest,
    /// The files that were read, the workspace file first.
    pub files: Vec<ReadFile>,
    /// The paths to watch for changes: those of the files, and of links to them.
    pub watched: Vec<PathBuf>,
}

impl Loaded {
    /// Starts a registry with the tools of the workspace, and with these tools as the standard toolbox.
    pub fn registry(&self, internal: Toolkit) -> RegistryBuilder {
        let builder = Registry::builder().internal(internal).workspace(self.workspace.clone());
        self.orgs.iter().cloned().fold(builder, RegistryBuilder::workspace)
    }

    /// Replaces all tools of a registry in one step, as one generation. Runs that have begun keep their tools.
    pub fn apply(&self, registry: &Registry, internal: Toolkit) -> Result<(), RegistryError> {
        registry.set_all(self.registry(internal))
    }
}
