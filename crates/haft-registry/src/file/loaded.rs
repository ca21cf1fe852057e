//! A workspace as it was loaded from files.

use std::path::PathBuf;

use haft_core::{RunOptions, Services, Toolkit};
use haft_http::{AddressGuard, HttpClientBuilder};

use super::entry::LoadedEntry;
use super::error::FileFault;
use super::privilege::Privilege;
use super::settings::{GuardSettings, LimitSettings, StandardChoice};
use super::source::{FileDigest, ReadFile};
use super::trust::TrustStatus;
use crate::executor::{Executor, ExecutorBuilder};
use crate::permission::{AskRules, Permissions};
use crate::registry::{Registry, RegistryBuilder};
use crate::secrets::Secrets;
use crate::standard::{StandardToolbox, StandardToolboxError};
use crate::workspace::{Workspace, WorkspaceBuilder, WorkspaceError};

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
    /// The settings of the guard of HTTP requests. A file that is not trusted has none.
    pub http: GuardSettings,
    /// The guard of HTTP requests with these settings.
    pub guard: AddressGuard,
    /// The guard of the tool `fetch`: with the only hosts of the settings, and without their exceptions.
    pub fetch_guard: AddressGuard,
    /// The limits of a run.
    pub limits: LimitSettings,
    /// The permissions; unset if the file sets none.
    pub permissions: Option<Permissions>,
    /// The approval rules of all files.
    pub ask_rules: AskRules,
    /// The entries of all files, also those that were left out because the files are not trusted.
    pub entries: Vec<LoadedEntry>,
    /// The privileges that the files have, or would have, if they are trusted.
    pub privileges: Vec<Privilege>,
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
    /// The settings of the HTTP clients.
    pub(super) client: HttpClientBuilder,
}

impl Loaded {
    /// Adds toolboxes of the application to the project's: tools in Rust beside those of the file.
    ///
    /// ```
    /// use haft_core::Tool;
    /// use haft_registry::Kinds;
    /// use haft_registry::file::{LoadOptions, load};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("haft.toml");
    /// # std::fs::write(&path, "")?;
    /// let mut loaded = load(&path, &LoadOptions::new(Kinds::builtin())?).await?;
    /// let greet = Tool::new("greet").handler(|name: String, _cx| async move { format!("Hello, {name}!") })?;
    /// loaded.extend(|workspace| workspace.toolbox("mine").tool(greet).done())?;
    ///
    /// let executor = loaded.executor().build(loaded.registry()?.build()?);
    /// assert_eq!(executor.run("mine/greet", "Ana").await?, "Hello, Ana!");
    /// # Ok(())
    /// # }
    /// ```
    pub fn extend(&mut self, add: impl FnOnce(WorkspaceBuilder) -> WorkspaceBuilder) -> Result<(), WorkspaceError> {
        self.workspace = add(self.workspace.clone().into_builder()).build()?;
        Ok(())
    }

    /// Starts a registry with the tools of the workspace and the standard tools that it chooses.
    pub fn registry(&self) -> Result<RegistryBuilder, StandardToolboxError> {
        let builder = Registry::builder().internal(self.standard_tools()?).workspace(self.workspace.clone());
        Ok(self.orgs.iter().cloned().fold(builder, RegistryBuilder::workspace))
    }

    /// Starts an executor with the secrets, the guard, the rules and the limits of the workspace.
    pub fn executor(&self) -> ExecutorBuilder {
        let client = self.client.clone().guarded_on_use(self.guard.clone());
        let builder = Executor::builder().secrets(self.secrets.clone()).http_client(client);
        let builder = builder.ask_rules(self.ask_rules.clone()).options(self.limits.apply(RunOptions::new()));
        match &self.permissions {
            Some(permissions) => builder.permissions(permissions.clone()),
            None => builder,
        }
    }

    fn standard_tools(&self) -> Result<Toolkit, StandardToolboxError> {
        let Some(StandardChoice { files, fetch, only }) = &self.standard else { return Ok(Toolkit::new()) };
        let mut toolbox = StandardToolbox::new();
        if let Some(root) = files {
            toolbox = toolbox.files(root)?;
        }
        if *fetch {
            toolbox = toolbox.fetch();
        }
        // A model chooses what is fetched, so that hosts which are exempt for tools of the file are not for this one.
        let public = self.client.clone().guarded_on_use(self.fetch_guard.clone());
        if let Some(only) = only {
            toolbox = toolbox.only(only);
        }
        Ok(toolbox.toolkit()?.with_services(Services::new().with(public)))
    }
}
