//! The toolboxes of one file, built from its entries.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_core::{DefinitionError, Tool, Version};
use serde_json::{Map, Value};

use super::confined::ConfinedTool;
use super::document::{TextFault, member};
use super::entry::UnlocatedEntry;
use super::format::FileFormat;
use super::privilege::{PrivilegeKind, Privileges};
use super::section::standard_names;
use super::settings::{CommonKeys, IMPORT_ENTRY, TOOL_ENTRY};
use super::source::{FileDigest, ReadFile};
use super::tree::FilePart;
use super::unmatched::LeftOutEntry;
use crate::implementation::reading::ReadObserver;
use crate::implementation::{
    Built, Entry, EntryError, EntryFault, ImplementationKind, ToolSettings, TrustNeed, Yields,
};
use crate::name::{Namespace, SimpleName};
use crate::workspace::{ToolboxBuilder, Workspace, WorkspaceBuilder, WorkspaceFault};

/// The maximum number of imports of a file: each may read a large document, and an untrusted file can name any number.
const MAX_IMPORTS: usize = 256;

/// The trust in a file while it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trusted {
    Yes,
    No,
}

/// The toolboxes of a file.
#[derive(Debug, Default)]
pub(crate) struct Toolboxes {
    /// Empty if there are faults, which are those of the part.
    pub(crate) workspace: Workspace,
    pub(crate) remarks: Vec<TextFault>,
    /// The entries that are left out because the file is not trusted.
    pub(crate) left_out: Vec<LeftOutEntry>,
    pub(crate) entries: Vec<UnlocatedEntry>,
    pub(crate) privileges: Privileges,
    /// The secrets that tools read, with the JSON Pointers of their entries.
    pub(crate) secrets: Vec<(String, String)>,
    /// The files that kinds read which need no trust.
    pub(crate) files: Vec<ReadFile>,
    /// All paths that kinds read, or could not.
    pub(crate) paths: Vec<PathBuf>,
}

/// Builds the toolboxes of a file. Faults are added to those of the file, whose other entries are built nevertheless.
pub(crate) async fn build(part: &mut FilePart, format: &FileFormat, trusted: Trusted) -> Toolboxes {
    let Some(Value::Object(sections)) = part.take("toolbox") else {
        return Toolboxes { workspace: finish(part, empty(part), &HashMap::new()), ..Toolboxes::default() };
    };
    let mut building = BuildingToolboxes {
        part,
        format,
        trusted,
        built: Toolboxes::default(),
        owners: HashMap::new(),
        imports: 0,
        standard: OnceLock::new(),
    };
    let mut workspace = empty(building.part);
    for (namespace, section) in sections {
        let pointer = member("/toolbox", &namespace);
        if let Err(error) = Namespace::new(namespace.as_str()) {
            building.part.faults.push(TextFault::at_key(&pointer, error.to_string()));
        }
        let Value::Object(section) = section else { continue };
        let toolbox = workspace.toolbox(namespace.as_str());
        workspace = building.toolbox(toolbox, &namespace, &pointer, section).await.done();
    }
    let BuildingToolboxes { part, mut built, owners, .. } = building;
    built.workspace = finish(part, workspace, &owners);
    built
}

fn empty(part: &FilePart) -> WorkspaceBuilder {
    part.org.as_ref().map_or_else(Workspace::builder, |org| Workspace::org_builder(org.as_str()))
}

/// Builds the workspace. Faults get the places of the entries that caused them.
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
            WorkspaceFault::Tools(_) => part.faults.push(TextFault::at("/toolbox", message)),
        }
    }
    Workspace::default()
}

/// The entry that a tool is from, by namespace and name.
type Owners = HashMap<(String, String), String>;

/// The paths that a kind read, with the digests of those that it could.
type FileReads = Vec<(PathBuf, Option<FileDigest>)>;

struct BuildingToolboxes<'a> {
    part: &'a mut FilePart,
    format: &'a FileFormat,
    trusted: Trusted,
    built: Toolboxes,
    owners: Owners,
    /// The number of imports so far.
    imports: usize,
    /// The names of the standard tools, once an export needs them; `None` if they can't be determined.
    standard: OnceLock<Option<Vec<String>>>,
}

impl BuildingToolboxes<'_> {
    async fn toolbox(
        &mut self,
        mut toolbox: ToolboxBuilder,
        namespace: &str,
        pointer: &str,
        section: Map<String, Value>,
    ) -> ToolboxBuilder {
        for (key, value) in section {
            let entries = match (key.as_str(), value) {
                (TOOL_ENTRY | IMPORT_ENTRY, Value::Object(entries)) => entries,
                ("description", Value::String(text)) => {
                    toolbox = toolbox.describe(text);
                    continue;
                }
                _ => continue,
            };
            let pointer = member(pointer, &key);
            for (name, entry) in entries {
                let pointer = member(&pointer, &name);
                if let Value::Object(entry) = entry
                    && !self.part.is_faulty(&pointer)
                    && self.check_name(&key, &name, &pointer)
                    && self.check_number(&key, &pointer)
                {
                    toolbox = self.entry(toolbox, namespace, &name, &pointer, entry).await;
                }
            }
        }
        toolbox
    }

    /// Checks the name of a tool. An import may have any.
    fn check_name(&mut self, sort: &str, name: &str, pointer: &str) -> bool {
        let checked = if sort == TOOL_ENTRY { SimpleName::new(name).map(drop) } else { Ok(()) };
        let fault = checked.err().map(|error| TextFault::at_key(pointer, error.to_string()));
        let is_valid = fault.is_none();
        self.part.faults.extend(fault);
        is_valid
    }

    /// Checks the number of imports, and reports the first one that is too many.
    fn check_number(&mut self, sort: &str, pointer: &str) -> bool {
        if sort != IMPORT_ENTRY {
            return true;
        }
        self.imports += 1;
        if self.imports == MAX_IMPORTS + 1 {
            let message = format!("there are more than {MAX_IMPORTS} imports; remove some, or divide the file");
            self.part.faults.push(TextFault::at_key(pointer, message));
        }
        self.imports <= MAX_IMPORTS
    }

    async fn entry(
        &mut self,
        mut toolbox: ToolboxBuilder,
        namespace: &str,
        name: &str,
        pointer: &str,
        keys: Map<String, Value>,
    ) -> ToolboxBuilder {
        let format = self.format;
        let Some(kind) = keys.get("kind").and_then(Value::as_str).and_then(|kind| format.kinds.get(kind)) else {
            return toolbox;
        };
        let mut listed = UnlocatedEntry {
            pointer: pointer.to_owned(),
            kind: kind.name().to_owned(),
            settings: keys.clone(),
            namespace: namespace.to_owned(),
            tools: Vec::new(),
            secrets: Vec::new(),
            is_left_out: false,
        };
        if kind.trust() == TrustNeed::Required {
            let privilege = PrivilegeKind::Entry { kind: kind.name().to_owned(), settings: keys.clone() };
            self.built.privileges.add_at_key(pointer, privilege);
        }
        if self.trusted == Trusted::No && kind.trust() == TrustNeed::Required {
            self.leave_out(&**kind, name, listed);
            return toolbox;
        }
        let outcome = self.tools(&**kind, name, pointer, keys).await;
        let at = |fault: EntryFault| TextFault::at(format!("{pointer}{}", fault.pointer), fault.message);
        let (built, common) = match outcome {
            Ok(built) => built,
            Err(error) => {
                self.part.faults.extend(error.faults.into_iter().map(at));
                return toolbox;
            }
        };
        self.built.remarks.extend(built.remarks.into_iter().map(at));
        listed.secrets.clone_from(&built.secrets);
        listed.tools = built.tools.iter().map(|tool| tool.name().to_owned()).collect();
        self.built.entries.push(listed);
        self.built.secrets.extend(built.secrets.into_iter().map(|secret| (secret, pointer.to_owned())));
        for tool in built.tools {
            self.owners.insert((namespace.to_owned(), tool.name().to_owned()), pointer.to_owned());
            let tool = match self.trusted {
                Trusted::Yes => tool,
                Trusted::No => tool.wrap(ConfinedTool::new(&self.part.source)),
            };
            if common.export && self.is_standard_name(tool.name()) {
                let privilege = PrivilegeKind::Replacement { name: tool.name().to_owned() };
                self.built.privileges.add(format!("{pointer}/export"), privilege);
            }
            match configured(tool, &common) {
                Ok(tool) if common.export && self.may_export(tool.name()) => toolbox = toolbox.exported(tool),
                Ok(tool) if common.export => {
                    let message = format!(
                        "`{name}` is not exported: replacing the standard tool requires that this file is trusted",
                        name = tool.name()
                    );
                    self.built.remarks.push(TextFault::at(format!("{pointer}/export"), message));
                    toolbox = toolbox.tool(tool);
                }
                Ok(tool) => toolbox = toolbox.tool(tool),
                Err(error) => self.part.faults.extend(EntryError::from(error).faults.into_iter().map(at)),
            }
        }
        toolbox
    }

    /// Records an entry of an untrusted file whose kind requires trust.
    fn leave_out(&mut self, kind: &dyn ImplementationKind, name: &str, mut listed: UnlocatedEntry) {
        let message = format!("left out: the kind `{}` requires that this file is trusted", kind.name());
        self.built.remarks.push(TextFault::at_key(&listed.pointer, message));
        let tool = match kind.yields() {
            Yields::OneTool => Some(name.to_owned()),
            Yields::ManyTools => None,
        };
        if let (Some(name), Some(Value::Bool(true))) = (&tool, listed.settings.get("export"))
            && self.is_standard_name(name)
        {
            let privilege = PrivilegeKind::Replacement { name: name.clone() };
            self.built.privileges.add(format!("{}/export", listed.pointer), privilege);
        }
        listed.tools.extend(tool.clone());
        listed.is_left_out = true;
        self.built.left_out.push(LeftOutEntry { namespace: listed.namespace.clone(), tool });
        self.built.entries.push(listed);
    }

    /// Reports whether a tool may be found by its name alone: an untrusted file takes over no standard tool.
    fn may_export(&self, name: &str) -> bool {
        match self.trusted {
            Trusted::Yes => true,
            Trusted::No => !self.is_standard_name(name),
        }
    }

    /// Reports whether a standard tool may have this name.
    fn is_standard_name(&self, name: &str) -> bool {
        let is_known = |names: &Vec<String>| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        self.standard.get_or_init(|| standard_names(self.part.source.folder())).as_ref().is_none_or(is_known)
    }

    /// Builds the tools of an entry. They are not configured by its common keys yet.
    async fn tools(
        &mut self,
        kind: &dyn ImplementationKind,
        name: &str,
        pointer: &str,
        keys: Map<String, Value>,
    ) -> Result<(Built, CommonKeys), EntryError> {
        let common_keys = self.format.common_keys(kind.yields());
        let (common, settings): (Map<_, _>, Map<_, _>) =
            keys.into_iter().partition(|(key, _)| common_keys.contains(key));
        let mut common: CommonKeys =
            serde_json::from_value(Value::Object(common)).map_err(|error| EntryError::at("", error.to_string()))?;
        let reads: Arc<Mutex<FileReads>> = Arc::default();
        let seen = Arc::clone(&reads);
        let written = settings.clone();
        let mut entry = Entry::new(name, Value::Object(settings)).folder(self.part.source.folder());
        entry.tool = tool_settings(&mut common);
        entry.reads = ReadObserver::new(move |path, content| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push((path, content.map(FileDigest::of)));
        });
        let built = kind.build(entry).await;
        let mut digests = Vec::new();
        for (path, digest) in reads.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            digests.extend(digest);
            if let (Some(digest), TrustNeed::None) = (digest, kind.trust()) {
                self.built.files.push(ReadFile { path: path.clone(), digest });
            }
            self.built.paths.push(path);
        }
        let mut built = built?;
        for tool in &mut built.tools {
            let place = format!("{pointer} {}", tool.name());
            *tool = tool.with_id(implementation_id(kind.name(), &place, &written, &digests))?;
        }
        match (kind.yields(), built.tools.as_slice()) {
            (Yields::ManyTools, _) => Ok((built, common)),
            (Yields::OneTool, [only]) if only.name() == name => Ok((built, common)),
            (Yields::OneTool, _) => {
                let message = format!("the kind `{}` did not build one tool with the name of the entry", kind.name());
                Err(EntryError::at("", message))
            }
        }
    }
}

/// Returns the id of a tool: the digest of its place, of its settings, and of the files that its kind has read.
///
/// Approvals are bound to the id. The definition of a function does not depend on its code, but an approval of one command
/// or request must not run another.
fn implementation_id(kind: &str, place: &str, settings: &Map<String, Value>, files: &[FileDigest]) -> String {
    let files: Vec<Value> = files.iter().map(|file| file.to_string().into()).collect();
    let text = Value::from(vec![place.into(), Value::Object(settings.clone()), files.into()]).to_string();
    format!("{kind}.{}", &FileDigest::of(text.as_bytes()).to_string()[..32])
}

/// Takes the settings that a kind applies itself.
fn tool_settings(common: &mut CommonKeys) -> ToolSettings {
    ToolSettings {
        title: common.title.take(),
        description: common.description.take(),
        parameters: common.parameters.take(),
        output: common.output.take(),
        examples: std::mem::take(&mut common.examples),
        readonly: common.readonly,
        destructive: common.destructive,
        idempotent: common.idempotent,
        open_world: common.open_world,
    }
}

/// Applies the settings that are the same for every kind.
fn configured(mut tool: Tool, common: &CommonKeys) -> Result<Tool, DefinitionError> {
    if let Some(limits) = common.limits(tool.limits()) {
        tool = tool.with_limits(limits)?;
    }
    if let Some(approval) = common.approval {
        tool = tool.set_needs_approval(approval.policy())?;
    }
    if let Some(version) = &common.version {
        tool = tool.annotate(Version(version.clone()));
    }
    Ok(tool)
}
