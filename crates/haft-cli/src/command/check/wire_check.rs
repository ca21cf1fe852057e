//! The tools against the wires.

use std::collections::HashMap;
use std::sync::Arc;

use haft::registry::RegisteredTool;
use haft::wire::{Finding, Severity};

use super::finding::{CheckFinding, CheckSeverity};
use crate::wire::ProfileName;

/// Returns what the wires can't take or express. What several wires share is one finding.
pub(super) fn findings(tools: &[Arc<RegisteredTool>], profiles: &[ProfileName]) -> Vec<CheckFinding> {
    let sent = tools.iter().filter(|tool| !tool.is_replaced());
    let descriptors: Vec<_> = sent.map(|tool| tool.tool.descriptor()).collect();
    let mut all: Vec<CheckFinding> = Vec::new();
    let mut places: HashMap<CheckFinding, usize> = HashMap::new();
    for profile in profiles {
        for finding in profile.profile().render(&descriptors).findings() {
            let found = of_wire(finding);
            let at = *places.entry(found.clone()).or_insert(all.len());
            if at == all.len() {
                all.push(found);
            }
            if !all[at].wires.contains(&profile.as_str()) {
                all[at].wires.push(profile.as_str());
            }
        }
    }
    all
}

fn of_wire(finding: &Finding) -> CheckFinding {
    let severity = match finding.severity() {
        Severity::Warning => CheckSeverity::Warning,
        Severity::Loss => CheckSeverity::Loss,
        Severity::Fault => CheckSeverity::Fault,
    };
    let Finding { tool, pointer, message, advice, .. } = finding;
    CheckFinding::new(severity, "wire", tool, message).at(pointer).advice(advice)
}
