//! A workspace as it was loaded from files.

use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use haft_executor::{RunOptions, Services, Tool, Toolkit};
use haft_http::{AddressGuard, GuardedClient, HttpClientBuilder};
use haft_registry::{
    AskRules, Closing, Executor, ExecutorBuilder, FullName, Permissions, Registry, RegistryBuilder, Secrets,
    SimpleName, ToolOrigin, Workspace, WorkspaceBuilder, WorkspaceError,
};
use haft_tools::standard::{StandardToolbox, StandardToolboxError};

use super::caller::Callers;
use super::entry::LoadedEntry;
use super::error::{FileError, FileFault};
use super::locked::LoadedPins;
use super::policy::UserPolicy;
use super::privilege::Privilege;
use super::rule::{FileRules, RuleFinding, named_tools};
use super::set_aside::SetAsideEntry;
use super::settings::{FileSettings, GuardSettings, LimitSettings, StandardChoice};
use super::source::{FileDigest, ReadFile};
use super::trust::TrustStatus;

/// A workspace as loaded from files, with the settings it runs with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The file's path, without symbolic links.
    pub path: PathBuf,
    /// The file's own toolboxes.
    pub workspace: Workspace,
    /// The workspaces of the organisations that it names.
    pub orgs: Vec<Workspace>,
    /// The chosen standard tools; unset for none.
    pub standard: Option<StandardChoice>,
    /// The files that the standard tools may not read, including those denied by organisations' files.
    pub file_settings: FileSettings,
    /// The secrets. An untrusted file's secrets are withheld.
    pub secrets: Secrets,
    /// The HTTP guard settings. An untrusted file has none.
    pub http: GuardSettings,
    /// The HTTP guard with these settings.
    pub guard: AddressGuard,
    /// The guard for the tool `fetch`: it has the settings' `only-hosts`, but not their exceptions.
    pub fetch_guard: AddressGuard,
    /// A run's limits.
    pub limits: LimitSettings,
    /// The permissions; unset if the file sets none.
    pub permissions: Option<Permissions>,
    /// The callers, when the tools are served.
    pub callers: Callers,
    /// Permissions that must also allow a call: denying rules from organisations, and the user's policy.
    pub narrowing: Vec<Permissions>,
    /// All files' approval rules, the user's policy last.
    pub ask_rules: AskRules,
    /// The user's policy, unset without one. It is not one of the trusted [files](Self::files).
    pub policy: Option<UserPolicy>,
    /// All files' entries, including those left out because the files are not trusted.
    pub entries: Vec<LoadedEntry>,
    /// All files' entries that are set aside because they have faults. Their tools are missing, and their names mean no
    /// other tool.
    pub set_aside: Vec<SetAsideEntry>,
    /// The privileges that the files have, or would have if you trusted them. The list is the same either way.
    pub privileges: Vec<Privilege>,
    /// The lock of each file, the workspace file's first.
    pub locks: Vec<LoadedPins>,
    /// Remarks about what was left out.
    pub remarks: Vec<FileFault>,
    /// The trust by which the files were loaded.
    pub trust: TrustStatus,
    /// The digest over all files.
    pub digest: FileDigest,
    /// The files that were read, the workspace file first.
    pub files: Vec<ReadFile>,
    /// The paths to watch for changes: all files, and links to them.
    pub watched: Vec<PathBuf>,
    /// The HTTP client settings.
    pub(super) client: HttpClientBuilder,
    /// The client of all tools.
    pub(super) guarded: GuardedClient,
    /// True once the live sources were closed.
    pub(super) closed: Arc<AtomicBool>,
    /// Each file's rules.
    pub(super) rules: Vec<FileRules>,
    /// The standard tools that are left out because the file is not trusted.
    pub(super) left_out_standard: Vec<FullName>,
}

impl Loaded {
    /// Adds your application's toolboxes to the project's: tools in Rust beside those from the file.
    ///
    /// ```
    /// use haft_executor::Tool;
    /// use haft_workspace::{LoadOptions, load};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("haft.toml");
    /// # std::fs::write(&path, "")?;
    /// let mut loaded = load(&path, &LoadOptions::new(haft_tools::kinds())?).await?;
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

    /// Reports whether the files contain anything that requires trust.
    #[must_use]
    pub fn needs_trust(&self) -> bool {
        self.privileges.iter().any(|privilege| privilege.needs_trust)
    }

    /// Returns the tools that are left out because the files are not trusted, including standard ones.
    pub fn left_out(&self) -> impl Iterator<Item = &FullName> {
        let entries = self.entries.iter().filter(|entry| entry.is_left_out);
        entries.flat_map(|entry| &entry.tools).chain(&self.left_out_standard)
    }

    /// Ends what the live sources have started, all at the same time. Calls under way get a result, and later calls to
    /// their tools fail.
    ///
    /// Without it everything ends as well, when the last tool is dropped; but nobody waits for that.
    pub async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let sources = self.entries.iter().filter_map(|entry| entry.live.as_ref());
        let mut closing: Vec<Closing<'_>> = sources.map(|live| live.close()).collect();
        poll_fn(|task| {
            closing.retain_mut(|one| one.as_mut().poll(task).is_pending());
            if closing.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Checks that no entry is set aside. The error has the faults of all that are.
    pub fn ensure_complete(&self) -> Result<(), FileError> {
        let faults: Vec<FileFault> = self.set_aside.iter().flat_map(|entry| entry.faults.clone()).collect();
        if faults.is_empty() {
            return Ok(());
        }
        Err(FileError { path: self.path.clone(), faults, files: self.watched.clone() })
    }

    /// Starts a registry with the workspace's tools and the standard tools that it chooses.
    pub fn registry(&self) -> Result<RegistryBuilder, StandardToolboxError> {
        let builder = Registry::builder().internal(self.standard_tools()?).workspace(self.workspace.clone());
        Ok(self.orgs.iter().cloned().fold(builder, RegistryBuilder::workspace))
    }

    /// Returns the services that calls get: the secrets, and the HTTP client with its guard.
    #[must_use]
    pub fn services(&self) -> Services {
        Services::new().with(self.secrets.clone()).with(self.guarded.clone())
    }

    /// Starts an executor with the workspace's secrets, guard, rules and limits.
    pub fn executor(&self) -> ExecutorBuilder {
        let builder = Executor::builder().secrets(self.secrets.clone()).service(self.guarded.clone());
        let builder = builder.ask_rules(self.ask_rules.clone()).options(self.limits.apply(RunOptions::new()));
        let builder = match &self.permissions {
            Some(permissions) => builder.permissions(permissions.clone()),
            None => builder,
        };
        self.narrowing.iter().cloned().fold(builder, ExecutorBuilder::narrowed_by)
    }

    /// Compares all rules' conditions with the tools that they match, including those you [added](Self::extend).
    /// Returns the conditions that can't be right: hints that no such tool has, and members of `args` that none
    /// declares.
    ///
    /// ```
    /// use haft_registry::{ConditionSeverity, Kinds};
    /// use haft_workspace::{LoadOptions, load};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("haft.toml");
    /// std::fs::write(&path, "[[approval]]\nask = 'hash'\nwhen = 'has(args.txt)'\n")?;
    /// let loaded = load(&path, &LoadOptions::new(Kinds::empty())?).await?;
    /// let findings = loaded.rule_findings();
    /// assert_eq!(findings[0].severity, ConditionSeverity::Fault);
    /// assert_eq!(
    ///     findings[0].fault.in_file("haft.toml"),
    ///     "haft.toml:3:8: approval[0].when: the test for `args.txt` is never true: `hash` accepts no `txt`; \
    ///      did you mean `text`?",
    /// );
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn rule_findings(&self) -> Vec<RuleFinding> {
        // Without the standard tools nothing is certain; the registry reports why they are missing.
        let Ok(standard) = self.standard_tools() else { return Vec::new() };
        let standard = standard.iter().filter_map(|tool| {
            let name = SimpleName::new(tool.name()).ok()?;
            Some((FullName::new(ToolOrigin::Internal, name), tool.clone()))
        });
        let workspaces = std::iter::once(&self.workspace).chain(&self.orgs);
        let tools: Vec<(FullName, Tool)> = standard.chain(workspaces.flat_map(named_tools)).collect();
        let set_aside = self.set_aside.iter().filter_map(|entry| entry.tool.as_ref());
        let left_out: Vec<&FullName> = self.left_out().chain(set_aside).collect();
        self.rules.iter().flat_map(|file| file.findings(&tools, &left_out)).collect()
    }

    fn standard_tools(&self) -> Result<Toolkit, StandardToolboxError> {
        let Some(StandardChoice { files, fetch, only }) = &self.standard else { return Ok(Toolkit::new()) };
        let mut toolbox = StandardToolbox::new();
        if let Some(root) = files {
            toolbox = toolbox.files(root)?.deny_files(&self.file_settings.deny)?;
        }
        if *fetch {
            toolbox = toolbox.fetch();
        }
        // A model chooses what to fetch, so exceptions for the file's tools do not apply here.
        let public = self.client.clone().guarded_on_use(self.fetch_guard.clone());
        if let Some(only) = only {
            toolbox = toolbox.only(only);
        }
        Ok(toolbox.toolkit()?.with_services(Services::new().with(public)))
    }
}
