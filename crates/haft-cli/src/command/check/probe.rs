//! Failures that only a call would show: missing secrets, programs and hosts, and remarks about the file.

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use haft::http::{GuardRejection, HostCheckError};
use haft::registry::{ConditionSeverity, EntryFault, Probe, Recipient, RegisteredTool, SecretOrigin, StartedCommand};
use haft::workspace::{
    FileFault, FilePosition, Loaded, LoadedEntry, Privilege, PrivilegeKind, RuleFinding, TrustStatus,
};
use tokio::task::JoinSet;

use super::finding::{CheckFinding, CheckSeverity};
use crate::command::tools::EntryIndex;
use crate::command::trust::grant::{origin_text, status_text};
use crate::workspace::OpenWorkspace;

/// The time to resolve a host's name.
const RESOLUTION: Duration = Duration::from_secs(5);

/// Returns the faults in entries that are set aside, and the remarks about the file.
pub(super) fn file(workspace: &OpenWorkspace) -> Vec<CheckFinding> {
    let Some(loaded) = &workspace.loaded else { return Vec::new() };
    let faults = loaded.set_aside.iter().flat_map(|entry| &entry.faults);
    let faults = faults.map(|fault| of_file(CheckSeverity::Fault, "file", fault));
    let remarks = loaded.remarks.iter().map(|remark| of_file(CheckSeverity::Warning, "file", remark));
    faults.chain(remarks).collect()
}

/// Returns what could not be checked because the file is not trusted.
pub(super) fn unchecked(workspace: &OpenWorkspace, severity: CheckSeverity) -> Option<CheckFinding> {
    let loaded = workspace.loaded.as_ref()?;
    if loaded.trust == TrustStatus::Trusted || !loaded.needs_trust() {
        return None;
    }
    let message = format!("{}, so parts of it are left out and not checked", status_text(loaded.trust));
    let found = CheckFinding::new(severity, "trust", loaded.path.display().to_string(), message);
    Some(found.advice("read it and run `haft trust`, or accept the gap with `--allow-unchecked`"))
}

/// Returns the rule conditions that can't be right for the tools that the rules match.
pub(super) fn rules(workspace: &OpenWorkspace) -> Vec<CheckFinding> {
    let Some(loaded) = &workspace.loaded else { return Vec::new() };
    let finding = |RuleFinding { severity, fault, .. }: &RuleFinding| {
        let severity = match severity {
            ConditionSeverity::Warning => CheckSeverity::Warning,
            // Also what a later version may add: it is not less.
            _ => CheckSeverity::Fault,
        };
        of_file(severity, "rule", fault)
    };
    loaded.rule_findings().iter().map(finding).collect()
}

fn of_file(severity: CheckSeverity, check: &'static str, fault: &FileFault) -> CheckFinding {
    CheckFinding::new(severity, check, &fault.key, &fault.message).at(place(&fault.path, fault.position))
}

/// Returns the secrets that can't be read now. They are named, and never read into a message.
pub(super) fn secrets(workspace: &OpenWorkspace) -> Vec<CheckFinding> {
    let Some(loaded) = &workspace.loaded else { return Vec::new() };
    loaded.privileges.iter().filter_map(|privilege| secret(loaded, privilege)).collect()
}

fn secret(loaded: &Loaded, privilege: &Privilege) -> Option<CheckFinding> {
    let PrivilegeKind::Secret { name, origin } = &privilege.kind else { return None };
    let advice = match origin {
        SecretOrigin::Env(variable) if env::var_os(variable).is_none_or(|value| value.is_empty()) => {
            format!("set the variable {variable}")
        }
        SecretOrigin::File(path) if !path.is_file() => format!("write it to the file `{}`", path.display()),
        _ => return None,
    };
    let reads = |entry: &&LoadedEntry| entry.reach.recipients_of(name).next().is_some();
    let users: Vec<&str> = loaded.entries.iter().filter(reads).map(|entry| entry.key.as_str()).collect();
    let used = if users.is_empty() { String::new() } else { format!(", which {} reads,", users.join(" and ")) };
    let message = format!("the secret `{name}`{used} is missing from {}", origin_text(origin));
    Some(warning("secret", &privilege.key, message).at(place(&privilege.path, privilege.position)).advice(advice))
}

/// Returns what the entries' kinds find.
pub(super) fn entries(workspace: &OpenWorkspace) -> Vec<CheckFinding> {
    let entries = workspace.loaded.iter().flat_map(|loaded| &loaded.entries);
    let findings = |entry: &LoadedEntry| -> Vec<CheckFinding> {
        let place = place(&entry.path, entry.position);
        let finding = |fault: EntryFault| {
            let key = format!("{}{}", entry.key, fault.pointer.replace('/', "."));
            warning("entry", &key, fault.message).at(&place)
        };
        let faults = entry.probe.as_ref().map(Probe::faults).unwrap_or_default();
        faults.into_iter().map(finding).collect()
    };
    entries.flat_map(findings).collect()
}

/// Returns the commands whose programs are not found.
pub(super) fn programs(workspace: &OpenWorkspace) -> Vec<CheckFinding> {
    let Some(loaded) = &workspace.loaded else { return Vec::new() };
    loaded.privileges.iter().filter_map(missing_program).collect()
}

fn missing_program(privilege: &Privilege) -> Option<CheckFinding> {
    let PrivilegeKind::Reach(Recipient::Command(StartedCommand { argv, folder, env: variables, .. })) = &privilege.kind
    else {
        return None;
    };
    let program = argv.first()?;
    // A command with its own search path finds other programs.
    let search = variables.get("PATH").map(Into::into).or_else(|| env::var_os("PATH")).unwrap_or_default();
    if is_found(program, folder, &search) {
        return None;
    }
    let found = warning("program", &privilege.key, format!("the program `{program}` is not found"))
        .at(place(&privilege.path, privilege.position));
    Some(found.advice(if program.contains('/') { "check the path" } else { "install it, or add its folder to PATH" }))
}

fn is_found(program: &str, folder: &Path, search: &std::ffi::OsStr) -> bool {
    if program.contains(['/', std::path::MAIN_SEPARATOR]) {
        return is_program(&folder.join(program));
    }
    env::split_paths(search).any(|path| is_program(&path.join(program)))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}

/// Resolves all hosts that the tools send requests to at the same time, and asks the guard about their addresses.
pub(super) async fn hosts(workspace: &OpenWorkspace, tools: &[Arc<RegisteredTool>]) -> Vec<CheckFinding> {
    let Some(Loaded { guard, .. }) = &workspace.loaded else { return Vec::new() };
    let entries = EntryIndex::new(workspace);
    let mut users: HashMap<*const LoadedEntry, (&LoadedEntry, &RegisteredTool, usize)> = HashMap::new();
    let mut order = Vec::new();
    for tool in tools {
        let Some(entry) = entries.of(tool) else { continue };
        let key = std::ptr::from_ref(entry);
        users.entry(key).or_insert_with(|| {
            order.push(key);
            (entry, tool, 0)
        });
        users.entry(key).and_modify(|(.., count)| *count += 1);
    }
    // The first tool that uses a host, and their number.
    let mut origins: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for (entry, tool, count) in order.iter().filter_map(|key| users.get(key)) {
        for (recipient, _) in entry.reach.recipients() {
            if let Recipient::Host(origin) = recipient {
                origins.entry(origin.clone()).or_insert_with(|| (tool.name.to_string(), 0)).1 += count;
            }
        }
    }
    let mut checks = JoinSet::new();
    for (origin, (first, users)) in origins {
        let guard = guard.clone();
        checks.spawn(async move {
            let checked = tokio::time::timeout(RESOLUTION, guard.check_host_of(&origin)).await;
            let (message, advice) = match checked {
                Ok(Ok(())) => return None,
                Ok(Err(error)) => (message_for(&error), advice_for(&error, &origin)),
                Err(_) => {
                    let seconds = RESOLUTION.as_secs();
                    let advice = "check the network, or use `--offline`".to_owned();
                    (format!("the name of the host is not resolved within {seconds} s"), advice)
                }
            };
            let others = users.saturating_sub(1);
            let more = if others == 0 { String::new() } else { format!(" and {others} more") };
            let subject = format!("{first}{more}");
            Some(warning("host", &subject, message).at(origin).advice(advice))
        });
    }
    let mut findings: Vec<CheckFinding> = checks.join_all().await.into_iter().flatten().collect();
    findings.sort_by_key(CheckFinding::text);
    findings
}

fn message_for(error: &HostCheckError) -> String {
    // The guard's texts are for Rust programmers.
    match error {
        HostCheckError::Rejected(GuardRejection::Address(_)) => "its host is an address that is not public".to_owned(),
        HostCheckError::Rejected(GuardRejection::ResolvedAddress(_)) => {
            "the name of its host stands for an address that is not public".to_owned()
        }
        error => chain(error),
    }
}

fn advice_for(error: &HostCheckError, origin: &str) -> String {
    match error {
        HostCheckError::Rejected(_) => {
            let host = origin.split_once("://").map_or(origin, |(_, host)| host);
            format!("if the tool is meant to reach it, add `{host}` to `http.allow-hosts` and trust the file")
        }
        _ => "check the URL and the network, or use `--offline`".to_owned(),
    }
}

/// Returns an error with its sources.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(&format!(": {source}"));
        next = source.source();
    }
    text
}

fn warning(check: &'static str, subject: &str, message: impl Into<String>) -> CheckFinding {
    CheckFinding::new(CheckSeverity::Warning, check, subject, message)
}

fn place(path: &Path, position: Option<FilePosition>) -> String {
    let line = position.map(|position| format!(":{}", position.line)).unwrap_or_default();
    format!("{}{line}", path.display())
}
