//! One file's toolboxes, built from its entries.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_executor::{Tool, ToolSource};
use haft_registry::{
    Built, Entry, EntryError, EntryFault, Exported, ImplementationKind, LiveSource, Namespace, PinnedImport, Reach,
    Recipient, SimpleName, ToolSettings, Workspace, WorkspaceBuilder, WorkspaceFault, Yields,
};
use serde_json::{Map, Value};

use super::document::{self, TextFault, member};
use super::entry::UnlocatedEntry;
use super::entry_tools::EntryTools;
use super::format::FileFormat;
use super::kept::KeptSources;
use super::locked::{LoadedLock, import_name, withhold};
use super::privilege::{PrivilegeKind, Privileges};
use super::section::standard_names;
use super::set_aside::{DeclaredEntry, FaultyEntry, SetAsideEntry, take_faulty};
use super::settings::{CommonKeys, IMPORT_ENTRY, TOOL_ENTRY};
use super::source::{FileDigest, ReadFile};
use super::tree::FilePart;

/// The most imports in a file: each may read a large document, and an untrusted file can name any number.
const MAX_IMPORTS: usize = 256;

/// The trust in a file while it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trusted {
    Yes,
    No,
}

/// A file's toolboxes.
#[derive(Debug, Default)]
pub(crate) struct Toolboxes {
    /// Empty if the part has faults.
    pub(crate) workspace: Workspace,
    /// The entries that are set aside because of their faults.
    pub(crate) set_aside: Vec<SetAsideEntry>,
    pub(crate) remarks: Vec<TextFault>,
    /// All entries, including those left out because the file is not trusted.
    pub(crate) entries: Vec<UnlocatedEntry>,
    pub(crate) privileges: Privileges,
    /// The files that kinds read.
    pub(crate) files: Vec<ReadFile>,
    /// All paths that kinds read, or could not.
    pub(crate) paths: Vec<PathBuf>,
    /// The definitions of imports that were accepted.
    pub(crate) lock: LoadedLock,
}

/// Builds a file's toolboxes. Entries with a fault are set aside; other faults are added to the file's.
pub(crate) async fn build(part: &mut FilePart, format: &FileFormat, trusted: Trusted, kept: &KeptSources) -> Toolboxes {
    let mut built = Toolboxes::default();
    part.list_outside(&mut built.privileges, &mut built.remarks);
    built.lock = LoadedLock::read(part);
    built.files.extend(built.lock.file.clone());
    built.paths.push(built.lock.path.clone());
    let Some(Value::Object(sections)) = part.take("toolbox") else {
        return Toolboxes { workspace: finish(part, empty(part), &HashMap::new()), ..built };
    };
    let mut building = BuildingToolboxes {
        part,
        format,
        trusted,
        kept,
        built,
        owners: HashMap::new(),
        declared: Vec::new(),
        imports: 0,
        standard: OnceLock::new(),
    };
    let mut toolboxes = Vec::with_capacity(sections.len());
    for (namespace, section) in sections {
        let pointer = member("/toolbox", &namespace);
        if let Err(error) = Namespace::new(namespace.as_str()) {
            building.part.faults.push(TextFault::at_key(&pointer, error.to_string()));
        }
        let Value::Object(section) = section else { continue };
        let toolbox = building.toolbox(&namespace, &pointer, section).await;
        toolboxes.push((namespace, toolbox));
    }
    let BuildingToolboxes { part, mut built, owners, declared, .. } = building;
    let faulty = take_faulty(declared, &mut part.faults);
    let pointers: HashSet<&str> = faulty.iter().map(FaultyEntry::pointer).collect();
    built.forget(&pointers);
    for (_, toolbox) in &mut toolboxes {
        toolbox.tools.retain(|tool| !pointers.contains(&*tool.entry));
        toolbox.live.retain(|live| !pointers.contains(&*live.entry));
    }
    // Check all tools together, so that their faults are known before the file is trusted.
    let whole = workspace(part, &toolboxes, |tool| Some(tool.exported));
    built.workspace = finish(part, whole, &owners);
    if trusted == Trusted::No && part.faults.is_empty() {
        let granted = workspace(part, &toolboxes, |tool| tool.granted);
        built.workspace = finish(part, granted, &owners);
    }
    built.set_aside = FaultyEntry::set_aside(faulty, part, &mut built.workspace);
    built
}

impl Toolboxes {
    /// Removes what entries contributed, except the files they read: these are watched, and the trust covers them.
    fn forget(&mut self, entries: &HashSet<&str>) {
        self.remarks.retain(|remark| !remark.place.entry().is_some_and(|entry| entries.contains(entry)));
        self.entries.retain(|entry| !entries.contains(&*entry.pointer));
        self.privileges.forget(entries);
    }
}

/// Starts a workspace with the tools that a function selects.
fn workspace(
    part: &FilePart,
    toolboxes: &[(String, DraftToolbox)],
    select: impl Fn(&DraftTool) -> Option<Exported>,
) -> WorkspaceBuilder {
    toolboxes.iter().fold(empty(part), |workspace, (namespace, DraftToolbox { description, tools, live })| {
        let mut toolbox = workspace.toolbox(namespace.as_str());
        if let Some(text) = description {
            toolbox = toolbox.describe(text);
        }
        let selected = tools.iter().filter_map(|tool| Some((tool.tool.clone(), select(tool)?)));
        let toolbox = selected.fold(toolbox, |toolbox, (tool, exported)| toolbox.add(tool, exported));
        live.iter().fold(toolbox, |toolbox, live| toolbox.live(Arc::clone(&live.source))).done()
    })
}

fn empty(part: &FilePart) -> WorkspaceBuilder {
    part.org.as_ref().map_or_else(Workspace::builder, |org| Workspace::org_builder(org.as_str()))
}

/// Builds the workspace. A fault gets the place of the entry that caused it.
fn finish(part: &mut FilePart, builder: WorkspaceBuilder, owners: &Owners) -> Workspace {
    let error = match builder.build() {
        Ok(workspace) => return workspace,
        Err(error) => error,
    };
    for fault in error.faults {
        let message = fault.to_string();
        let owner = |namespace: &str, tool: &str| owners.get(&(namespace.to_owned(), tool.to_owned()));
        match &fault {
            // Names are checked before, where their places are known.
            WorkspaceFault::Name(_) => {}
            WorkspaceFault::DuplicateToolbox(namespace) => {
                part.faults.push(TextFault::at_key(member("/toolbox", namespace), message));
            }
            WorkspaceFault::DuplicateTool { namespace, tool } => {
                let place = owner(namespace.as_deref().unwrap_or_default(), tool).cloned();
                part.faults.push(TextFault::at_key(place.unwrap_or_else(|| "/toolbox".to_owned()), message));
            }
            WorkspaceFault::DuplicateExport { name, namespaces } => {
                let namespace = namespaces.last().map(|namespace| namespace.trim_matches('`')).unwrap_or_default();
                let place = owner(namespace, name).map(|entry| format!("{entry}/export"));
                part.faults.push(TextFault::at(place.unwrap_or_else(|| "/toolbox".to_owned()), message));
            }
            _ => part.faults.push(TextFault::at("/toolbox", message)),
        }
    }
    Workspace::default()
}

/// The entry that a tool comes from, by namespace and name.
type Owners = HashMap<(String, String), String>;

/// The paths that a kind read, with the digests of those that it could read.
type FileReads = Vec<(PathBuf, Option<FileDigest>)>;

/// A toolbox in progress.
#[derive(Default)]
struct DraftToolbox {
    description: Option<String>,
    tools: Vec<DraftTool>,
    live: Vec<DraftLive>,
}

/// A live source in a toolbox in progress.
struct DraftLive {
    source: Arc<dyn ToolSource>,
    /// The JSON Pointer to its entry.
    entry: String,
}

/// A tool in a toolbox in progress.
struct DraftTool {
    tool: Tool,
    /// The JSON Pointer to its entry.
    entry: String,
    /// The export that the entry asks for.
    exported: Exported,
    /// The granted export; unset if the tool is left out because the file is not trusted.
    granted: Option<Exported>,
}

struct BuildingToolboxes<'a> {
    part: &'a mut FilePart,
    format: &'a FileFormat,
    trusted: Trusted,
    kept: &'a KeptSources,
    built: Toolboxes,
    owners: Owners,
    /// All entries.
    declared: Vec<DeclaredEntry>,
    /// The number of imports so far.
    imports: usize,
    /// The standard tools' names, once an export needs them; `None` if they can't be determined.
    standard: OnceLock<Option<Vec<String>>>,
}

impl BuildingToolboxes<'_> {
    async fn toolbox(&mut self, namespace: &str, pointer: &str, section: Map<String, Value>) -> DraftToolbox {
        let mut toolbox = DraftToolbox::default();
        for (key, value) in section {
            let entries = match (key.as_str(), value) {
                (TOOL_ENTRY | IMPORT_ENTRY, Value::Object(entries)) => entries,
                ("description", Value::String(text)) => {
                    toolbox.description = Some(text);
                    continue;
                }
                _ => continue,
            };
            let pointer = member(pointer, &key);
            for (name, entry) in entries {
                let pointer = member(&pointer, &name);
                self.declared.push(DeclaredEntry::new(&pointer, namespace, &key, &name, &entry));
                if let Value::Object(entry) = entry
                    && !self.part.is_faulty(&pointer)
                    && self.check_name(&key, &name, &pointer)
                    && self.check_number(&key, &pointer)
                {
                    self.entry(&mut toolbox, namespace, &name, &pointer, entry).await;
                }
            }
        }
        toolbox
    }

    /// Checks a tool's name. An import may have any name.
    fn check_name(&mut self, sort: &str, name: &str, pointer: &str) -> bool {
        let checked = if sort == TOOL_ENTRY { SimpleName::new(name).map(drop) } else { Ok(()) };
        let fault = checked.err().map(|error| TextFault::at_key(pointer, error.to_string()));
        let is_valid = fault.is_none();
        self.part.faults.extend(fault);
        is_valid
    }

    /// Counts imports, and reports the first one too many.
    fn check_number(&mut self, sort: &str, pointer: &str) -> bool {
        if sort != IMPORT_ENTRY {
            return true;
        }
        self.imports += 1;
        if self.imports == MAX_IMPORTS + 1 {
            let message = format!("there are more than {MAX_IMPORTS} imports; remove some, or divide the file");
            // This is a fault of the file: the other imports beyond the limit are not built either.
            let section = pointer.rsplit_once('/').map_or(pointer, |(section, _)| section);
            self.part.faults.push(TextFault::at_key(section, message));
        }
        self.imports <= MAX_IMPORTS
    }

    /// Builds an entry's tools, whether the file is trusted or not. Tools that it may not have are left out later.
    async fn entry(
        &mut self,
        toolbox: &mut DraftToolbox,
        namespace: &str,
        name: &str,
        pointer: &str,
        keys: Map<String, Value>,
    ) {
        let format = self.format;
        let Some(kind) = keys.get("kind").and_then(Value::as_str).and_then(|kind| format.kinds.get(kind)) else {
            return;
        };
        let settings = keys.clone();
        let pinned = self.built.lock.import(namespace, name);
        let outcome = self.tools(&**kind, name, pointer, keys, pinned.clone()).await;
        let at = |fault: EntryFault| TextFault::at(format!("{pointer}{}", fault.pointer), fault.message);
        let (Built { tools, live, remarks, reach, probe, lister, login, log, .. }, finish) = match outcome {
            Ok(built) => built,
            Err(error) => {
                self.part.faults.extend(error.faults.into_iter().map(at));
                return;
            }
        };
        self.built.remarks.extend(remarks.into_iter().map(at));
        for (recipient, _) in reach.recipients() {
            self.built.privileges.add_at_key(pointer, PrivilegeKind::Reach(recipient.clone()));
        }
        let is_left_out = self.trusted == Trusted::No && !reach.is_nothing();
        if is_left_out {
            let message = format!("left out: {} requires that this file is trusted", activity(&reach));
            self.built.remarks.push(TextFault::at_key(pointer, message));
        }
        let listed = live.as_ref().map(|live| live.snapshot().into_toolkit()).unwrap_or_default();
        self.part.faults.extend(finish.unused(&tools.iter().chain(&listed).collect::<Vec<_>>()).into_iter().map(at));
        let listed = tools.iter().chain(&listed).map(|tool| tool.name().to_owned()).collect();
        let built_from = live.is_some().then(|| finish.built_from(&self.part.source.canonical, pinned.as_deref()));
        let live = live.filter(|_| !is_left_out).map(|live| self.kept_or(live, built_from.as_ref()));
        self.built.entries.push(UnlocatedEntry {
            pointer: pointer.to_owned(),
            kind: kind.name().to_owned(),
            settings,
            namespace: namespace.to_owned(),
            tools: listed,
            reach,
            is_left_out,
            live: live.clone(),
            built_from,
            probe,
            import: lister.as_ref().map(|_| import_name(namespace, name)),
            lister,
            login,
            log,
        });
        let exported = finish.exported();
        for tool in tools {
            self.owners.insert((namespace.to_owned(), tool.name().to_owned()), pointer.to_owned());
            let granted = self.granted(tool.name(), exported, pointer);
            match finish.tool(&tool) {
                Ok(tool) => toolbox.tools.push(DraftTool {
                    tool,
                    entry: pointer.to_owned(),
                    exported,
                    granted: (!is_left_out).then_some(granted),
                }),
                Err(error) => self.part.faults.extend(error.faults.into_iter().map(at)),
            }
        }
        if let Some(source) = live {
            let source = Arc::new(source.adapted(move |tool| Ok(finish.tool(tool)?)));
            toolbox.live.push(DraftLive { source, entry: pointer.to_owned() });
        }
    }

    /// Returns the earlier load's source if it was built from the same as this one.
    fn kept_or(&self, built: Arc<dyn LiveSource>, built_from: Option<&FileDigest>) -> Arc<dyn LiveSource> {
        let kept = built_from.filter(|_| self.trusted == Trusted::Yes).and_then(|digest| self.kept.get(digest));
        kept.map_or(built, Arc::clone)
    }

    /// Returns the export that a tool gets: an untrusted file never replaces a standard tool.
    fn granted(&mut self, name: &str, exported: Exported, pointer: &str) -> Exported {
        if exported == Exported::No || !self.is_standard_name(name) {
            return exported;
        }
        let pointer = format!("{pointer}/export");
        self.built.privileges.add(pointer.clone(), PrivilegeKind::Replacement { name: name.to_owned() });
        match self.trusted {
            Trusted::Yes => Exported::Yes,
            Trusted::No => {
                let message =
                    format!("`{name}` is not exported: replacing the standard tool requires that this file is trusted");
                self.built.remarks.push(TextFault::at(pointer, message));
                Exported::No
            }
        }
    }

    /// Reports whether a standard tool may have this name.
    fn is_standard_name(&self, name: &str) -> bool {
        let is_known = |names: &Vec<String>| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        self.standard.get_or_init(|| standard_names(self.part.source.folder())).as_ref().is_none_or(is_known)
    }

    /// Builds an entry's tools. The common keys are not applied yet.
    async fn tools(
        &mut self,
        kind: &dyn ImplementationKind,
        name: &str,
        pointer: &str,
        keys: Map<String, Value>,
        pinned: Option<Arc<PinnedImport>>,
    ) -> Result<(Built, EntryTools), EntryError> {
        let common_keys = self.format.common_keys(kind.yields());
        let (common, settings): (Map<_, _>, Map<_, _>) =
            keys.into_iter().partition(|(key, _)| common_keys.contains(key));
        let mut common: CommonKeys =
            serde_json::from_value(Value::Object(common)).map_err(|error| EntryError::at("", error.to_string()))?;
        let reads: Arc<Mutex<FileReads>> = Arc::default();
        let seen = Arc::clone(&reads);
        let written = settings.clone();
        let toolbox = document::keys(pointer).nth(1).unwrap_or_default();
        let import = if kind.yields() == Yields::ManyTools { import_name(&toolbox, name) } else { String::new() };
        let entry = Entry::new(name, Value::Object(settings)).folder(self.part.source.folder());
        let entry = entry.tool(tool_settings(&mut common)).import(import).pinned(pinned.clone()).observe_reads(
            move |path, content| {
                seen.lock().unwrap_or_else(PoisonError::into_inner).push((path, content.map(FileDigest::of)));
            },
        );
        let built = kind.build(entry).await;
        let mut digests = Vec::new();
        for (path, digest) in reads.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            digests.extend(digest);
            self.built.files.extend(digest.map(|digest| ReadFile { path: path.clone(), digest }));
            self.built.paths.push(path);
        }
        let mut built = built?;
        if let Some(pinned) = &pinned {
            withhold(&mut built, pinned)?;
        }
        let file = (self.trusted == Trusted::No).then(|| Arc::clone(&self.part.source.path));
        let finish = EntryTools::new(kind.name(), pointer, &written, &digests, common, file);
        let message = match (kind.yields(), built.tools.as_slice(), &built.live) {
            (Yields::ManyTools, _, Some(_)) if finish.exported() == Exported::Yes => {
                let message = "tools that may change can't be exported; remove `export`, and call them by full names";
                return Err(EntryError::at("/export", message));
            }
            (Yields::ManyTools, ..) => return Ok((built, finish.for_import())),
            (Yields::OneTool, [only], None) if only.name() == name => return Ok((built, finish)),
            (Yields::OneTool, ..) => "did not build one tool with the name of the entry",
        };
        Err(EntryError::at("", format!("the kind `{}` {message}", kind.name())))
    }
}

/// Returns the first activity of an entry's tools that requires trust.
fn activity(reach: &Reach) -> &'static str {
    match reach.recipients().next() {
        Some((Recipient::Host(_), _)) => "sending requests",
        Some((Recipient::Command(_), _)) => "starting commands",
        Some((Recipient::Files(_), _)) => "using files",
        _ => "using secrets",
    }
}

/// Takes the settings that a kind applies itself.
fn tool_settings(common: &mut CommonKeys) -> ToolSettings {
    let mut settings = ToolSettings::default();
    settings.title = common.title.take();
    settings.description = common.description.take();
    settings.parameters = common.parameters.take();
    settings.output = common.output.take();
    settings.examples = std::mem::take(&mut common.examples);
    settings.readonly = common.readonly;
    settings.destructive = common.destructive;
    settings.idempotent = common.idempotent;
    settings.open_world = common.open_world;
    settings
}
