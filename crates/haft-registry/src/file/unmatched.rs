//! Remarks on rules that match no tool.
//!
//! A misspelt rule that denies or asks is a hole that nobody sees, so every rule is compared with the names of all tools
//! that the files define. Tools that are left out because a file is not trusted count: a rule about them is right.

use std::collections::BTreeSet;

use haft_core::nearest;

use super::document::TextFault;
use crate::name::{FullName, Namespace, OrgName, SimpleName, ToolOrigin};
use crate::permission::{ToolPattern, UnmatchedRule};
use crate::workspace::Workspace;

/// The most rules of a section that get a remark: each is compared with all names.
const MAX_REMARKS: usize = 100;

/// The names of the tools that rules may be about.
#[derive(Debug, Default)]
pub(crate) struct RuleTargets {
    names: Vec<FullName>,
    /// The toolboxes of imports that are left out, so that the names of their tools are unknown.
    unknown: Vec<ToolOrigin>,
}

impl RuleTargets {
    /// Adds all tools of a workspace.
    pub(crate) fn add_workspace(&mut self, workspace: &Workspace) {
        for toolbox in workspace.toolboxes() {
            let Some(namespace) = toolbox.namespace() else { continue };
            let origin = origin(workspace.org(), namespace);
            let names = toolbox.toolkit().names().filter_map(|name| SimpleName::new(name).ok());
            self.names.extend(names.map(|name| FullName::new(origin.clone(), name)));
        }
    }

    /// Adds tools of the standard toolbox.
    pub(crate) fn add_standard<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) {
        let names = names.into_iter().filter_map(|name| SimpleName::new(name.as_str()).ok());
        self.names.extend(names.map(|name| FullName::new(ToolOrigin::Internal, name)));
    }

    /// Adds an entry that is left out: a tool, or an import whose tools have unknown names.
    pub(crate) fn add_left_out(&mut self, org: Option<&OrgName>, entry: &LeftOutEntry) {
        let Ok(namespace) = Namespace::new(entry.namespace.as_str()) else { return };
        let origin = origin(org, &namespace);
        match entry.tool.as_deref().map(SimpleName::new) {
            Some(Ok(tool)) => self.names.push(FullName::new(origin, tool)),
            Some(Err(_)) => {}
            None => self.unknown.push(origin),
        }
    }

    pub(crate) fn names(&self) -> &[FullName] {
        &self.names
    }

    /// Returns the remarks on the rules of a section.
    pub(crate) fn remarks(&self, section: &str, rules: &[UnmatchedRule<'_>]) -> Vec<TextFault> {
        if rules.is_empty() {
            return Vec::new();
        }
        let mut names: Vec<String> = self.names.iter().map(ToString::to_string).collect();
        let toolboxes: BTreeSet<&str> = names.iter().filter_map(|name| Some(name.rsplit_once('/')?.0)).collect();
        let toolboxes: Vec<String> = toolboxes.into_iter().map(str::to_owned).collect();
        names.extend(toolboxes.iter().map(|toolbox| format!("{toolbox}/*")));
        let unmatched = rules.iter().filter(|rule| !rule.patterns.iter().any(|pattern| self.may_match(pattern)));
        let remark = |rule: &UnmatchedRule<'_>| {
            let close = rule.patterns.iter().find_map(|pattern| closest(pattern.as_str(), &names, &toolboxes));
            let advice = close.map_or_else(
                || "check its patterns, or remove it".to_owned(),
                |close| format!("did you mean `{close}`?"),
            );
            TextFault::at(format!("{section}{}", rule.pointer), format!("matches no tool; {advice}"))
        };
        unmatched.take(MAX_REMARKS).map(remark).collect()
    }

    /// Reports whether a pattern may match a tool whose name is unknown.
    fn may_match(&self, pattern: &ToolPattern) -> bool {
        let tool = pattern.as_str().rsplit('/').next().unwrap_or_default();
        let Ok(tool) = SimpleName::new(tool.replace('*', "x")) else { return false };
        self.unknown.iter().any(|origin| pattern.matches(&FullName::new(origin.clone(), tool.clone())))
    }
}

/// An entry that is left out because its file is not trusted.
#[derive(Debug)]
pub(crate) struct LeftOutEntry {
    pub(crate) namespace: String,
    /// The name of the tool; unset for an import.
    pub(crate) tool: Option<String>,
}

fn origin(org: Option<&OrgName>, namespace: &Namespace) -> ToolOrigin {
    match org {
        Some(org) => ToolOrigin::Org(org.clone(), namespace.clone()),
        None => ToolOrigin::Project(namespace.clone()),
    }
}

/// Returns the pattern that was probably meant.
fn closest(pattern: &str, names: &[String], toolboxes: &[String]) -> Option<String> {
    let written = pattern.trim_start_matches('/');
    if let Some(toolbox) = toolboxes.iter().find(|toolbox| toolbox.eq_ignore_ascii_case(written)) {
        return Some(format!("{toolbox}/*"));
    }
    let org = |toolbox: &String| Some(toolbox.split_once('/')?.0.to_owned());
    if let Some(org) = toolboxes.iter().filter_map(org).find(|org| org.eq_ignore_ascii_case(written)) {
        return Some(format!("{org}/*/*"));
    }
    // A pattern for many tools is not meant for one, and the other way around.
    let of_its_kind = names.iter().filter(|name| name.contains('*') == written.contains('*'));
    nearest(written, of_its_kind.map(String::as_str)).first().map(|&name| name.to_owned())
}
