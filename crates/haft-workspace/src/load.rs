//! Loads workspace files: reads them, decides about trust, builds the tools and reports the outcome.
//!
//! Nothing here is started, sent or revealed, whatever a file contains.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_http::{HttpClient, HttpClientBuilder};
use haft_registry::{FullName, Kinds, SimpleName, ToolOrigin};

use super::build::{self, Toolboxes, Trusted};
use super::entry::UnlocatedEntry;
use super::error::{FileError, FileFault};
use super::format::{FileFormat, KindFormatError};
use super::kept::KeptSources;
use super::loaded::Loaded;
use super::locked::LoadedPins;
use super::policy::UserPolicy;
use super::rule::{FileRules, RuleAudience};
use super::section::{LoadedSettings, SectionReader};
use super::set_aside::SetAsideEntry;
use super::source::{FileDigest, FileSource, ReadFile};
use super::tree::{FilePart, FileTree};
use super::trust::{Trust, TrustRecord, TrustStatus};
use super::unmatched::RuleTargets;

/// The most redirects that tools follow.
const MAX_REDIRECTS: usize = 5;

/// Load settings.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    format: Arc<FileFormat>,
    trust: Trust,
    purpose: LoadPurpose,
    policy: Option<PathBuf>,
    client: HttpClientBuilder,
}

/// A load's purpose, which decides about the paths in untrusted files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadPurpose {
    /// You use the tools: nothing outside an untrusted file's folder is opened.
    Use,
    /// A person reviews the files to decide whether to trust them all.
    Review,
}

impl LoadOptions {
    /// Creates options for files with entries of these kinds. No file is trusted. Fails for a kind whose settings can't
    /// be an entry's keys.
    pub fn new(kinds: Kinds) -> Result<Self, KindFormatError> {
        let client = HttpClient::builder().redirects(MAX_REDIRECTS);
        Ok(Self {
            format: Arc::new(FileFormat::new(kinds)?),
            trust: Trust::default(),
            purpose: LoadPurpose::Use,
            policy: None,
            client,
        })
    }

    /// Sets the trust in the files.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Reads organisations' files wherever they are, even if the file that names them is not trusted.
    ///
    /// Use it to review everything that trust would grant. The files still count as untrusted, and nothing from a file
    /// that does not belong to an organisation is shown.
    #[must_use]
    pub fn review(mut self) -> Self {
        self.purpose = LoadPurpose::Review;
        self
    }

    /// Sets the file with the user's own rules, which narrow every workspace's: see [`UserPolicy`]. The file may be
    /// missing. If it can't be read or has faults, the load fails.
    #[must_use]
    pub fn policy(mut self, path: impl Into<PathBuf>) -> Self {
        self.policy = Some(path.into());
        self
    }

    pub(super) fn policy_path(&self) -> Option<&Path> {
        self.policy.as_deref()
    }

    /// Sets the tools' HTTP client: its proxy, certificates, timeouts and redirects. By default the environment decides
    /// about a proxy, and five redirects are followed. The guard always comes from the file.
    #[must_use]
    pub fn http_client(mut self, client: HttpClientBuilder) -> Self {
        self.client = client;
        self
    }
}

/// Loads a workspace from a file.
///
/// Files are read while this future is polled. Nothing is started, no host is contacted and no secret is read. An entry
/// with a fault is [set aside](Loaded::set_aside), and the others load.
///
/// # Errors
///
/// Any other fault, with all faults in all files.
pub async fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Loaded, FileError> {
    load_keeping(path.as_ref(), options, &KeptSources::default()).await
}

/// Loads a workspace again. Live sources of the earlier load whose entries are the same go on, and so does its HTTP
/// client if the guard is the same.
pub(crate) async fn load_again(options: &LoadOptions, path: &Path, earlier: &Loaded) -> Result<Loaded, FileError> {
    let mut loaded = load_keeping(path, options, &KeptSources::of(earlier)).await?;
    if loaded.guard == earlier.guard {
        loaded.guarded = earlier.guarded.clone();
    }
    Ok(loaded)
}

async fn load_keeping(path: &Path, options: &LoadOptions, kept: &KeptSources) -> Result<Loaded, FileError> {
    let format = &*options.format;
    let policy = options.policy.as_deref().map(UserPolicy::read).transpose()?.flatten();
    let record = match &options.trust {
        Trust::Recorded(store) => fs::canonicalize(path).ok().and_then(|canonical| store.record(&canonical)),
        Trust::Never | Trust::Always => None,
    };
    let may_leave = |source: &FileSource| match (options.purpose, &options.trust) {
        (LoadPurpose::Review, _) | (LoadPurpose::Use, Trust::Always) => true,
        (LoadPurpose::Use, Trust::Never) => false,
        (LoadPurpose::Use, Trust::Recorded(_)) => {
            record.as_ref().is_some_and(|record| record.covers(&source.as_read()))
        }
    };
    let tree = FileTree::read(path, format, &may_leave);
    if tree.parts.is_empty() {
        return Err(FileError { path: path.to_owned(), faults: tree.faults, files: tree.missing });
    }
    let sources: Vec<ReadFile> = tree.parts.iter().map(|part| part.source.as_read()).collect();
    let grant = TrustGrant::new(&options.trust, record, &sources);

    let loading = LoadInProgress::build(tree, format, grant.trusted(), kept).await;
    let TrustGrant::Recorded(record) = &grant else {
        return LoadInProgress { status: grant.status(), ..loading }.finish(path, options, policy);
    };
    // A file that a kind has read may have changed, which is known only now. Building had no effect yet.
    if loading.is_without_faults() && !loading.is_as_recorded(record) {
        let tree = FileTree { parts: loading.reread(format), ..FileTree::default() };
        return LoadInProgress::build_changed(tree, format).await.finish(path, options, policy);
    }
    let loaded = LoadInProgress { status: grant.status(), ..loading }.finish(path, options, policy.clone())?;
    if record.is_for(&loaded.privileges) {
        return Ok(loaded);
    }
    let tree = FileTree::read(path, format, &|_: &FileSource| false);
    if tree.parts.is_empty() {
        return Err(FileError { path: path.to_owned(), faults: tree.faults, files: tree.missing });
    }
    LoadInProgress::build_changed(tree, format).await.finish(path, options, policy)
}

/// The trust in a workspace's files, before it is known which files its kinds read.
enum TrustGrant {
    /// The files are trusted, whatever they contain.
    Always,
    /// The files are trusted if the kinds read exactly the recorded files.
    Recorded(TrustRecord),
    /// The files are not trusted.
    Denied(TrustStatus),
}

impl TrustGrant {
    fn new(trust: &Trust, record: Option<TrustRecord>, sources: &[ReadFile]) -> Self {
        match trust {
            Trust::Always => Self::Always,
            Trust::Never => Self::Denied(TrustStatus::Unknown),
            Trust::Recorded(_) => match record {
                Some(record) if sources.iter().all(|source| record.covers(source)) => Self::Recorded(record),
                Some(_) => Self::Denied(TrustStatus::Changed),
                None => Self::Denied(TrustStatus::Unknown),
            },
        }
    }

    fn trusted(&self) -> Trusted {
        match self {
            Self::Always | Self::Recorded(_) => Trusted::Yes,
            Self::Denied(_) => Trusted::No,
        }
    }

    fn status(&self) -> TrustStatus {
        match self {
            Self::Always | Self::Recorded(_) => TrustStatus::Trusted,
            Self::Denied(status) => *status,
        }
    }
}

/// A workspace's files with their toolboxes.
struct LoadInProgress {
    parts: Vec<(FilePart, Toolboxes)>,
    faults: Vec<FileFault>,
    missing: Vec<PathBuf>,
    trusted: Trusted,
    status: TrustStatus,
    /// The files that count for the trust.
    files: Vec<ReadFile>,
}

impl LoadInProgress {
    async fn build(tree: FileTree, format: &FileFormat, trusted: Trusted, kept: &KeptSources) -> Self {
        let FileTree { parts, faults, missing } = tree;
        let mut built = Vec::with_capacity(parts.len());
        for mut part in parts {
            let toolboxes = build::build(&mut part, format, trusted, kept).await;
            built.push((part, toolboxes));
        }
        let sources = built.iter().map(|(part, _)| part.source.as_read());
        let read_by_kinds = built.iter().flat_map(|(_, toolboxes)| toolboxes.files.iter().cloned());
        let mut files: Vec<ReadFile> = Vec::new();
        for file in sources.chain(read_by_kinds) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        Self { parts: built, faults, missing, trusted, status: TrustStatus::Unknown, files }
    }

    /// Builds files that are not what was trusted.
    async fn build_changed(tree: FileTree, format: &FileFormat) -> Self {
        Self { status: TrustStatus::Changed, ..Self::build(tree, format, Trusted::No, &KeptSources::default()).await }
    }

    fn is_without_faults(&self) -> bool {
        self.faults.is_empty() && self.parts.iter().all(|(part, _)| part.faults.is_empty())
    }

    /// Reports whether what was loaded is what was trusted: the same files, and no entry works that was shown as
    /// faulty.
    fn is_as_recorded(&self, record: &TrustRecord) -> bool {
        let mut entries = self.parts.iter().flat_map(|(part, toolboxes)| {
            toolboxes.entries.iter().map(|entry| (part.source.canonical.as_path(), entry.pointer.as_str()))
        });
        record.is_of(&self.files) && entries.all(|(file, pointer)| !record.was_set_aside(file, pointer))
    }

    /// Returns the files as they were read, before they were built.
    fn reread(self, format: &FileFormat) -> Vec<FilePart> {
        self.parts.into_iter().map(|(part, _)| part.reread(format)).collect()
    }

    /// Adds a remark for every rule that matches none of these files' tools.
    fn remark_on_rules(&mut self, settings: &LoadedSettings) {
        let mut targets = RuleTargets::default();
        targets.add_standard(&settings.chosen_tools);
        for (part, toolboxes) in &self.parts {
            for entry in &toolboxes.entries {
                targets.add_tools(entry.full_names(part.org.as_ref()));
                // What an import with a lister offers was accepted, so all of it is known.
                if entry.live.is_some() && entry.lister.is_none() {
                    targets.add_live(entry.origin(part.org.as_ref()));
                }
            }
            targets.add_tools(toolboxes.set_aside.iter().filter_map(|entry| entry.tool.clone()).collect());
        }
        for (at, ((part, toolboxes), (permissions, asks))) in
            self.parts.iter_mut().zip(&settings.file_rules).enumerate()
        {
            let org = part.org.as_ref().filter(|_| at > 0);
            let unmatched = asks.unmatched_rules(targets.names());
            toolboxes.remarks.extend(targets.remarks("/approval", &unmatched, org));
            if let Some(permissions) = permissions {
                let unmatched = permissions.unmatched_rules(targets.names());
                toolboxes.remarks.extend(targets.remarks("/permissions", &unmatched, org));
            }
        }
    }

    /// Adds a remark for every secret that is not defined, and a fault for every one that tools could read.
    fn check_secrets(&mut self, settings: &LoadedSettings) {
        for (_, toolboxes) in &mut self.parts {
            toolboxes.remarks.extend(settings.undefined_secrets(&toolboxes.entries));
        }
        if let Some((_, toolboxes)) = self.parts.first_mut() {
            toolboxes.remarks.extend(settings.undefined_tokens());
        }
        for (at, fault) in settings.readable_secrets() {
            self.parts[at].0.faults.push(fault);
        }
    }

    /// Returns the paths of all files and of links to them.
    fn watched(&self, options: &LoadOptions) -> Vec<PathBuf> {
        let paths = self.parts.iter().flat_map(|(part, toolboxes)| {
            let own = [part.source.path.to_path_buf(), part.source.canonical.clone()];
            own.into_iter().chain(toolboxes.paths.iter().cloned())
        });
        let mut watched: Vec<PathBuf> = paths.chain(self.missing.clone()).chain(options.policy.clone()).collect();
        watched.sort_unstable();
        watched.dedup();
        watched
    }

    fn finish(mut self, path: &Path, options: &LoadOptions, policy: Option<UserPolicy>) -> Result<Loaded, FileError> {
        let mut settings = LoadedSettings::default();
        for (at, (part, toolboxes)) in self.parts.iter_mut().enumerate() {
            let Toolboxes { remarks, privileges, .. } = toolboxes;
            let mut reader = SectionReader { part, remarks, privileges, trusted: self.trusted };
            reader.read_shared(at, &mut settings);
            if at == 0 { reader.read_own(&mut settings) } else { reader.ignore_own() }
        }
        self.check_secrets(&settings);
        self.remark_on_rules(&settings);
        let (is_failed, watched) = (!self.is_without_faults(), self.watched(options));
        let (mut faults, mut remarks) = (self.faults, Vec::new());
        let (mut workspaces, mut canonical) = (Vec::with_capacity(self.parts.len()), None);
        let (mut entries, mut privileges, mut set_aside) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rules, mut locks) = (Vec::with_capacity(self.parts.len()), Vec::new());
        for ((part, toolboxes), (permissions, ask_rules)) in self.parts.into_iter().zip(settings.file_rules) {
            let listed = if is_failed { toolboxes.set_aside.as_slice() } else { &[] };
            faults.extend(with_entries(part.source.located(part.faults), listed));
            remarks.extend(part.source.located(toolboxes.remarks));
            entries.extend(UnlocatedEntry::located(&part.source, part.org.as_ref(), toolboxes.entries));
            privileges.extend(toolboxes.privileges.located(&part.source));
            set_aside.extend(toolboxes.set_aside);
            locks.push(LoadedPins::new(&part.source.path, toolboxes.lock));
            workspaces.push(toolboxes.workspace);
            canonical.get_or_insert_with(|| part.source.canonical.clone());
            let audience = match part.org {
                Some(org) if !rules.is_empty() => RuleAudience::UsersOf(org),
                _ => RuleAudience::ThisWorkspace,
            };
            rules.push(FileRules { source: Arc::new(part.source), audience, permissions, ask_rules });
        }
        if !faults.is_empty() {
            return Err(FileError { path: path.to_owned(), faults, files: watched });
        }
        let mut workspaces = workspaces.into_iter();
        let LoadedSettings { standard, secrets, http, guard, fetch_guard, limits, permissions, .. } = settings;
        let LoadedSettings { files: file_settings, mut narrowing, mut ask_rules, callers, .. } = settings;
        let left_out = settings.left_out_tools.iter().filter_map(|name| SimpleName::new(name.as_str()).ok());
        let left_out_standard = left_out.map(|name| FullName::new(ToolOrigin::Internal, name)).collect();
        if let Some(policy) = &policy {
            narrowing.extend(policy.permissions.clone());
            ask_rules = ask_rules.and(&policy.ask_rules);
            rules.push(policy.as_rules());
        }
        Ok(Loaded {
            path: canonical.unwrap_or_default(),
            workspace: workspaces.next().unwrap_or_default(),
            orgs: workspaces.collect(),
            standard,
            file_settings,
            secrets,
            http,
            guard: guard.clone(),
            fetch_guard,
            limits,
            permissions,
            callers: callers.of_file(rules.first()),
            narrowing,
            ask_rules,
            policy,
            entries,
            set_aside,
            privileges,
            locks,
            remarks,
            trust: self.status,
            digest: FileDigest::of_all(&self.files),
            files: self.files,
            watched,
            guarded: options.client.clone().guarded_on_use(guard),
            client: options.client.clone(),
            closed: Arc::default(),
            rules,
            left_out_standard,
        })
    }
}

/// Adds entry faults to their file's faults, in file order.
fn with_entries(mut faults: Vec<FileFault>, set_aside: &[SetAsideEntry]) -> Vec<FileFault> {
    if !set_aside.is_empty() {
        faults.extend(set_aside.iter().flat_map(|entry| entry.faults.clone()));
        faults.sort_by_key(|fault| (fault.position.is_none(), fault.position));
    }
    faults
}
