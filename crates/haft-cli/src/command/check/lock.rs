//! Imported tools that are not as they were accepted, and definitions that should be read closely.

use haft::workspace::TrustStatus;
use haft::workspace::pins::{PinFinding, ToolChange};

use super::finding::{CheckFinding, CheckSeverity};
use crate::command::mcp::{LiveImport, LockedImport, Unlistable, imports, listed_now};
use crate::workspace::OpenWorkspace;

/// Returns the accepted definitions that may deceive a person or the model.
pub(super) fn suspicions(workspace: &OpenWorkspace) -> Vec<CheckFinding> {
    let Some(loaded) = &workspace.loaded else { return Vec::new() };
    let findings = loaded.locks.iter().flat_map(|lock| lock.pins.findings());
    let finding = |PinFinding { import, tool, pointer, suspicion, .. }: PinFinding| {
        let subject = format!("{import}: {tool}");
        let found = CheckFinding::new(CheckSeverity::Warning, "definition", subject, suspicion.to_string());
        found.at(pointer).advice("read the definition in the lock file")
    };
    findings.map(finding).collect()
}

/// Lists all imports now, and returns their differences from what was accepted.
pub(super) async fn differences(workspace: &OpenWorkspace, unchecked: CheckSeverity) -> Vec<CheckFinding> {
    let Some(loaded) = &workspace.loaded else { return Vec::new() };
    let is_trusted = loaded.trust == TrustStatus::Trusted;
    // What is missing because of trust is reported once, for the file.
    let may_list = |import: &LockedImport<'_>| is_trusted || import.entry.reach.is_nothing();
    let chosen: Vec<LockedImport<'_>> = imports(loaded).into_iter().filter(may_list).collect();
    let mut findings = Vec::new();
    for (name, outcome) in listed_now(loaded, &chosen).await {
        match outcome {
            Ok(import) => findings.extend(of_import(&import)),
            Err(Unlistable { fault, .. }) => {
                let reason = std::iter::once(fault.message).chain(fault.causes).collect::<Vec<_>>().join(": ");
                let found = CheckFinding::new(unchecked, "lock", name, reason);
                findings.push(fault.advice.into_iter().fold(found, CheckFinding::advice));
            }
        }
    }
    findings
}

fn of_import(import: &LiveImport) -> Vec<CheckFinding> {
    let fault = |subject: String, message: &str| {
        let found = CheckFinding::new(CheckSeverity::Fault, "lock", subject, message);
        found.advice(format!("`haft mcp diff {}` shows the difference", import.name))
    };
    if import.is_new {
        return vec![fault(import.name.clone(), "nothing of it was accepted yet")];
    }
    let origin = import.difference.origin.iter().map(|_| fault(import.name.clone(), "it has another origin"));
    let tools = import.difference.tools.iter().map(|tool| {
        let message = match &tool.change {
            ToolChange::New(_) => "the tool is new",
            ToolChange::Removed(_) => "the tool is no longer offered",
            _ => "the definition has changed since it was accepted",
        };
        fault(format!("{}: {}", import.name, tool.name), message)
    });
    origin.chain(tools).collect()
}
