//! A file's sections besides its toolboxes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use haft_http::{AddressGuard, IpNet};
use haft_registry::{
    AskRules, AskSettings, EntryError, EntryFault, PermissionSettings, Permissions, Recipient, SecretOrigin, Secrets,
};
use haft_schema::nearest;
use haft_tools::standard::StandardToolbox;

use super::build::Trusted;
use super::caller::{self, Callers};
use super::document::{TextFault, member};
use super::entry::UnlocatedEntry;
use super::privilege::{PrivilegeKind, Privileges};
use super::settings::{FileSettings, GuardSettings, LimitSettings, SecretSetting, StandardChoice, StandardSetting};
use super::tree::FilePart;

/// The remark on a part of an organisation's file that does not count for its users.
const NOT_OF_ORGS: &str =
    "left out: this counts only in the file that is loaded itself, not in that of an organisation";

/// The JSON Pointer to the standard tools' folder.
const FILES: &str = "/workspace/standard/files";

/// The standard tool that has its own key in the choice.
const FETCH: &str = "fetch";

/// The settings from all files.
#[derive(Debug)]
pub(crate) struct LoadedSettings {
    pub(crate) standard: Option<StandardChoice>,
    pub(crate) secrets: Secrets,
    pub(crate) http: GuardSettings,
    pub(crate) files: FileSettings,
    pub(crate) guard: AddressGuard,
    pub(crate) fetch_guard: AddressGuard,
    pub(crate) limits: LimitSettings,
    pub(crate) permissions: Option<Permissions>,
    pub(crate) callers: Callers,
    /// Organisations' denying rules.
    pub(crate) narrowing: Vec<Permissions>,
    pub(crate) ask_rules: AskRules,
    /// Each file's rules, in file order.
    pub(crate) file_rules: Vec<(Option<Permissions>, AskRules)>,
    /// The secrets that are read from files: the workspace file's index, the name and the path.
    pub(crate) secret_files: Vec<(usize, String, PathBuf)>,
    /// The standard tools that the file chooses, including those that require trust.
    pub(crate) chosen_tools: Vec<String>,
    /// The chosen tools that are left out because the file is not trusted.
    pub(crate) left_out_tools: Vec<String>,
}

impl Default for LoadedSettings {
    fn default() -> Self {
        Self {
            standard: Some(StandardChoice::default()),
            secrets: Secrets::default(),
            http: GuardSettings::default(),
            files: FileSettings::default(),
            guard: AddressGuard::new(),
            fetch_guard: AddressGuard::new(),
            limits: LimitSettings::default(),
            permissions: None,
            callers: Callers::default(),
            narrowing: Vec::new(),
            ask_rules: AskRules::default(),
            file_rules: Vec::new(),
            secret_files: Vec::new(),
            chosen_tools: Vec::new(),
            left_out_tools: Vec::new(),
        }
    }
}

impl LoadedSettings {
    /// Returns a remark for every secret that a tool reads and no file defines. The program may define it.
    pub(crate) fn undefined_secrets(&self, entries: &[UnlocatedEntry]) -> Vec<TextFault> {
        let read = entries
            .iter()
            .flat_map(|entry| entry.reach.secret_names().into_iter().map(|name| (name, entry.pointer.as_str())));
        read.filter_map(|(name, pointer)| self.undefined_secret(name, pointer)).collect()
    }

    /// Returns a remark for every token of a caller that no file defines. The program may define it.
    pub(crate) fn undefined_tokens(&self) -> Vec<TextFault> {
        self.callers.token_names().filter_map(|(name, pointer)| self.undefined_secret(name, &pointer)).collect()
    }

    fn undefined_secret(&self, name: &str, pointer: &str) -> Option<TextFault> {
        if self.secrets.contains(name) {
            return None;
        }
        let advice = match nearest(name, self.secrets.names()).first() {
            Some(close) => format!("did you mean `{close}`?"),
            None => "define it in `[secrets]`".to_owned(),
        };
        Some(TextFault::at_key(pointer, format!("the secret `{name}` is not defined; {advice}")))
    }

    /// Returns a fault for every secret that the standard tools could read as a file, with its workspace file's index.
    pub(crate) fn readable_secrets(&self) -> Vec<(usize, TextFault)> {
        let Some(root) = self.standard.as_ref().and_then(|choice| choice.files.as_deref()) else { return Vec::new() };
        let readable = self.secret_files.iter().filter(|(_, _, path)| is_below(path, root));
        let fault = |(at, name, _): &(usize, String, PathBuf)| {
            let message = format!(
                "the file of the secret `{name}` is below the folder `workspace.standard.files`, so tools could read it; \
                 move the secret out of the folder, or choose another folder"
            );
            (*at, TextFault::at(member("/secrets", name), message))
        };
        readable.map(fault).collect()
    }
}

/// Reports whether a file is below a canonical folder. A missing file counts by its nearest existing folder.
fn is_below(path: &Path, root: &Path) -> bool {
    let existing = path.ancestors().find_map(|ancestor| fs::canonicalize(ancestor).ok());
    existing.is_none_or(|existing| existing.starts_with(root))
}

/// Reads one file's sections.
pub(crate) struct SectionReader<'a> {
    pub(crate) part: &'a mut FilePart,
    pub(crate) remarks: &'a mut Vec<TextFault>,
    pub(crate) privileges: &'a mut Privileges,
    pub(crate) trusted: Trusted,
}

impl SectionReader<'_> {
    /// Reads the sections that count in all files. `at` is the file's index.
    pub(crate) fn read_shared(&mut self, at: usize, settings: &mut LoadedSettings) {
        self.read_secrets(at, settings);
        self.read_http(settings);
        self.read_files(settings);
        let permissions = self.read_permissions(at, settings);
        let ask_rules = self.read_approval(at, settings);
        settings.file_rules.push((permissions, ask_rules));
    }

    /// Reads the sections that count only in the loaded file.
    pub(crate) fn read_own(&mut self, settings: &mut LoadedSettings) {
        settings.limits = self.part.section("limits").unwrap_or_default();
        let choice = match self.part.workspace.standard.take() {
            None | Some(StandardSetting::Enabled(true)) => Some(StandardChoice::default()),
            Some(StandardSetting::Enabled(false)) => None,
            Some(StandardSetting::Chosen(choice)) => Some(choice),
        };
        settings.chosen_tools = choice.as_ref().map(|choice| self.chosen_tools(choice)).unwrap_or_default();
        settings.standard = choice.map(|choice| self.standard(choice));
        let granted = settings.standard.as_ref().map(|choice| self.chosen_tools(choice)).unwrap_or_default();
        let left_out = settings.chosen_tools.iter().filter(|name| !granted.contains(name));
        settings.left_out_tools = left_out.cloned().collect();
    }

    /// Remarks on the sections that count only in the loaded file.
    pub(crate) fn ignore_own(&mut self) {
        let mut ignored = Vec::new();
        for (section, pointer) in [("limits", "/limits"), ("callers", "/callers")] {
            if self.part.take(section).is_some() {
                ignored.push(pointer);
            }
        }
        if self.part.workspace.standard.is_some() {
            ignored.push("/workspace/standard");
        }
        self.remarks.extend(ignored.into_iter().map(|pointer| TextFault::at_key(pointer, NOT_OF_ORGS)));
    }

    /// Reads the permissions, and returns those that count. An organisation denies, and allows nothing: its rules that
    /// allow are for those who load its file itself.
    fn read_permissions(&mut self, at: usize, all: &mut LoadedSettings) -> Option<Permissions> {
        let settings = self.part.section::<PermissionSettings>("permissions");
        if at == 0 {
            all.callers = caller::read(self.part, settings.as_ref(), self.remarks);
        }
        let settings = settings?;
        let permissions = match settings.build() {
            Ok(permissions) => permissions,
            Err(error) => {
                self.add_faults("/permissions", error);
                return None;
            }
        };
        if at == 0 {
            all.permissions = Some(permissions.clone());
            // The rules of callers' sets are checked like those in use.
            let settings = all.callers.sets().into_iter().fold(settings, PermissionSettings::uses);
            return Some(settings.build().unwrap_or(permissions));
        }
        if !settings.allow.is_empty() {
            self.remarks.push(TextFault::at_key("/permissions/allow", NOT_OF_ORGS));
        }
        let denials = permissions.denials();
        if denials.rules().is_empty() {
            return None;
        }
        all.narrowing.push(denials.of_file(&self.part.source.path.to_string_lossy()));
        Some(denials)
    }

    fn read_secrets(&mut self, at: usize, settings: &mut LoadedSettings) {
        let Some(secrets) = self.part.section::<BTreeMap<String, SecretSetting>>("secrets") else { return };
        let LoadedSettings { secrets: all, secret_files, .. } = settings;
        for (name, setting) in secrets {
            // Keep the file away from the tools even if its secret is withheld or left out.
            if let SecretSetting::File(path) = &setting {
                secret_files.push((at, name.clone(), self.part.source.resolved(path)));
            }
            if all.contains(&name) {
                let message = format!("left out: another file defines the secret `{name}` already");
                self.remarks.push(TextFault::at_key(member("/secrets", &name), message));
                continue;
            }
            let origin = match setting {
                SecretSetting::Env(variable) => SecretOrigin::Env(variable),
                SecretSetting::File(path) => SecretOrigin::File(self.part.source.resolved(&path)),
            };
            let privilege = PrivilegeKind::Secret { name: name.clone(), origin: origin.clone() };
            self.privileges.add_at_key(member("/secrets", &name), privilege);
            let origin = match self.trusted {
                Trusted::No => {
                    let path = self.part.source.path.display();
                    SecretOrigin::Withheld(format!("`{path}` is not trusted; review the file, and trust it"))
                }
                Trusted::Yes => origin,
            };
            *all = std::mem::take(all).with(name, origin);
        }
        if self.trusted == Trusted::No {
            let message = "withheld: secrets require that this file is trusted";
            self.remarks.push(TextFault::at_key("/secrets", message));
        }
    }

    fn read_http(&mut self, all: &mut LoadedSettings) {
        let Some(GuardSettings { allow_hosts, allow_nets, only_hosts }) = self.part.section("http") else { return };
        let mut guard = all.guard.clone();
        for (at, host) in allow_hosts.iter().enumerate() {
            self.privileges.add(format!("/http/allow-hosts/{at}"), PrivilegeKind::PrivateHost(host.clone()));
            match guard.clone().allow_host(host) {
                Ok(with_host) => guard = with_host,
                Err(error) => {
                    self.part.faults.push(TextFault::at(format!("/http/allow-hosts/{at}"), error.to_string()));
                }
            }
        }
        for (at, net) in allow_nets.iter().enumerate() {
            self.privileges.add(format!("/http/allow-nets/{at}"), PrivilegeKind::PrivateNetwork(net.clone()));
            match net.parse::<IpNet>() {
                Ok(net) => guard = guard.allow_net(net),
                Err(_) => {
                    let message = format!("`{net}` is not a network; write one such as `10.0.0.0/8`");
                    self.part.faults.push(TextFault::at(format!("/http/allow-nets/{at}"), message));
                }
            }
        }
        let mut fetch_guard = all.fetch_guard.clone();
        if let Some(hosts) = &only_hosts {
            let fault = |(at, host): (usize, &String)| {
                let error = AddressGuard::new().allow_only_hosts([host.as_str()]).err()?;
                Some(TextFault::at(format!("/http/only-hosts/{at}"), error.to_string()))
            };
            self.part.faults.extend(hosts.iter().enumerate().filter_map(fault));
            for (at, host) in hosts.iter().enumerate() {
                self.privileges.add(format!("/http/only-hosts/{at}"), PrivilegeKind::ListedHost(host.clone()));
            }
            // A list with a fault is not applied: its file is not loaded.
            let listed = |guard: &AddressGuard| guard.clone().allow_only_hosts(hosts.iter().map(String::as_str));
            guard = listed(&guard).unwrap_or(guard);
            fetch_guard = listed(&fetch_guard).unwrap_or(fetch_guard);
        }
        match self.trusted {
            Trusted::Yes => {
                (all.guard, all.fetch_guard) = (guard, fetch_guard);
                all.http.allow_hosts.extend(allow_hosts);
                all.http.allow_nets.extend(allow_nets);
                if let Some(hosts) = only_hosts {
                    all.http.only_hosts.get_or_insert_default().extend(hosts);
                }
            }
            Trusted::No => {
                if !allow_hosts.is_empty() || !allow_nets.is_empty() {
                    let message = "left out: hosts that are not public require that this file is trusted";
                    self.remarks.push(TextFault::at_key("/http", message));
                }
                if only_hosts.is_some() {
                    let message = "left out: behind a proxy, hosts of a list may be private, which requires that this \
                                   file is trusted";
                    self.remarks.push(TextFault::at_key("/http/only-hosts", message));
                }
            }
        }
    }

    /// Adds this file's denied files to the others', trusted or not: they can only deny more.
    fn read_files(&mut self, all: &mut LoadedSettings) {
        let Some(FileSettings { deny }) = self.part.section("files") else { return };
        for (at, pattern) in deny.iter().enumerate() {
            if let Err(error) = StandardToolbox::new().deny_files([pattern]) {
                self.part.faults.push(TextFault::at(format!("/files/deny/{at}"), error.to_string()));
            }
        }
        all.files.deny.extend(deny);
    }

    /// Adds this file's approval rules to the others': they can only require more.
    fn read_approval(&mut self, at: usize, all: &mut LoadedSettings) -> AskRules {
        let asks = self.part.section::<Vec<AskSettings>>("approval").unwrap_or_default();
        let rules = AskRules::new(&asks).unwrap_or_else(|error| {
            self.add_faults("/approval", error);
            AskRules::default()
        });
        let named = if at == 0 { rules.clone() } else { rules.of_file(&self.part.source.path.to_string_lossy()) };
        all.ask_rules = all.ask_rules.and(&named);
        rules
    }

    fn add_faults(&mut self, pointer: &str, error: EntryError) {
        let fault = |fault: EntryFault| TextFault::at(format!("{pointer}{}", fault.pointer), fault.message);
        self.part.faults.extend(error.faults.into_iter().map(fault));
    }

    /// Checks the chosen standard tools, and resolves the folder whose files they read.
    fn standard(&mut self, mut choice: StandardChoice) -> StandardChoice {
        let faults = self.unknown_tools(&choice);
        self.part.faults.extend(faults);
        if choice.fetch {
            self.privileges.add("/workspace/standard/fetch", PrivilegeKind::Fetch);
        }
        if choice.fetch && self.trusted == Trusted::No {
            choice.fetch = false;
            if let Some(only) = &mut choice.only {
                only.retain(|name| name != FETCH);
            }
            let message = "left out: what is read could be sent anywhere, which requires that this file is trusted";
            self.remarks.push(TextFault::at_key("/workspace/standard/fetch", message));
        }
        let Some(files) = choice.files.take() else { return choice };
        let folder = fs::canonicalize(self.part.source.folder().join(&files));
        if let Ok(folder) = &folder {
            let privilege = PrivilegeKind::Reach(Recipient::Files(folder.clone()));
            if folder.starts_with(self.part.source.folder()) {
                self.privileges.add_open(FILES, privilege);
            } else {
                self.privileges.add(FILES, privilege);
            }
        }
        match folder {
            Ok(folder) if !folder.is_dir() => {
                let message = format!("`{}` is not a folder; name the folder whose files may be read", files.display());
                self.part.faults.push(TextFault::at(FILES, message));
            }
            Ok(folder) if self.trusted == Trusted::No && !folder.starts_with(self.part.source.folder()) => {
                let message = "left out: files outside of this folder require that this file is trusted";
                self.remarks.push(TextFault::at_key(FILES, message));
                let plain = tool_names(&StandardToolbox::new());
                if let Some(only) = &mut choice.only {
                    only.retain(|name| name == FETCH || plain.contains(name));
                }
            }
            Ok(folder) => choice.files = Some(folder),
            Err(error) => {
                let message = format!("the folder `{}` can't be used: {error}", files.display());
                self.part.faults.push(TextFault::at(FILES, message));
            }
        }
        choice
    }

    /// Returns the chosen standard tools' names, whatever the trust.
    fn chosen_tools(&self, choice: &StandardChoice) -> Vec<String> {
        let StandardChoice { files, fetch, only } = choice;
        let plain = StandardToolbox::new();
        // Any folder will do: only the tools' names count.
        let toolbox = match files {
            Some(_) => StandardToolbox::new().files(self.part.source.folder()).unwrap_or(plain),
            None => plain,
        };
        let names = tool_names(&toolbox).into_iter().chain(fetch.then(|| FETCH.to_owned()));
        names.filter(|name| only.as_ref().is_none_or(|only| only.contains(name))).collect()
    }

    /// Returns the faults for names that no standard tool has, or no chosen one.
    fn unknown_tools(&self, choice: &StandardChoice) -> Vec<TextFault> {
        let Some(only) = &choice.only else { return Vec::new() };
        let plain = tool_names(&StandardToolbox::new());
        // Any folder will do: only the tools' names count.
        let with_files = StandardToolbox::new().files(self.part.source.folder());
        let with_files = with_files.map(|toolbox| tool_names(&toolbox)).unwrap_or_default();
        let is_chosen = |name: &String| match choice {
            _ if plain.contains(name) => true,
            StandardChoice { files: Some(_), .. } if with_files.contains(name) => true,
            StandardChoice { fetch, .. } => *fetch && name == FETCH,
        };
        let all = || with_files.iter().map(String::as_str).chain([FETCH]);
        let message = |name: &String| match nearest(name, all()).first() {
            _ if is_chosen(name) => None,
            _ if name == FETCH => Some("the tool `fetch` requires `fetch = true`".to_owned()),
            _ if with_files.contains(name) => {
                Some(format!("the tool `{name}` requires `files`, the folder that it reads"))
            }
            Some(close) => Some(format!("there is no standard tool `{name}`; did you mean `{close}`?")),
            None => {
                Some(format!("there is no standard tool `{name}`; they are {}", all().collect::<Vec<_>>().join(", ")))
            }
        };
        let fault = |(at, name)| Some(TextFault::at(format!("/workspace/standard/only/{at}"), message(name)?));
        only.iter().enumerate().filter_map(fault).collect()
    }
}

/// Returns the names of all standard tools, chosen or not. Returns `None` if they can't be determined.
pub(crate) fn standard_names(folder: &Path) -> Option<Vec<String>> {
    // Any folder will do: only the tools' names count.
    let tools = StandardToolbox::new().files(folder).ok()?.toolkit().ok()?;
    Some(tools.names().chain([FETCH]).map(str::to_owned).collect())
}

fn tool_names(toolbox: &StandardToolbox) -> Vec<String> {
    toolbox.toolkit().map(|tools| tools.names().map(str::to_owned).collect()).unwrap_or_default()
}
