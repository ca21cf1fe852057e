//! Remarks on rules that match no tool.
//!
//! A misspelt rule that denies or asks is a hole that nobody sees, so every rule is compared with the names of all
//! tools that the files define. Tools that are left out because a file is not trusted count: a rule about them is
//! right.

use std::collections::BTreeSet;

use haft_registry::{FullName, OrgName, SimpleName, ToolOrigin, ToolPattern, UnmatchedRule};
use haft_schema::nearest;

use super::document::TextFault;

/// The most rules per section that get a remark: each is compared with all names.
const MAX_REMARKS: usize = 100;

/// The names of the tools that rules may be about.
#[derive(Debug, Default)]
pub(crate) struct RuleTargets {
    names: Vec<FullName>,
    /// The toolboxes whose tools may change.
    live: Vec<ToolOrigin>,
}

impl RuleTargets {
    /// Adds an entry's tools.
    pub(crate) fn add_tools(&mut self, names: Vec<FullName>) {
        self.names.extend(names);
    }

    /// Adds a toolbox whose tools may change.
    pub(crate) fn add_live(&mut self, toolbox: Option<ToolOrigin>) {
        self.live.extend(toolbox);
    }

    /// Reports whether a pattern may be about a tool that is not listed yet.
    fn may_match(&self, pattern: &ToolPattern) -> bool {
        // Every tool name that the last segment matches will do.
        let example = pattern.as_str().rsplit('/').next().unwrap_or_default().replace('*', "x");
        let Ok(example) = SimpleName::new(example) else { return false };
        self.live.iter().any(|toolbox| pattern.matches(&FullName::new(toolbox.clone(), example.clone())))
    }

    /// Adds standard tools.
    pub(crate) fn add_standard<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) {
        let names = names.into_iter().filter_map(|name| SimpleName::new(name.as_str()).ok());
        self.names.extend(names.map(|name| FullName::new(ToolOrigin::Internal, name)));
    }

    pub(crate) fn names(&self) -> &[FullName] {
        &self.names
    }

    /// Returns the remarks on a section's rules. An organisation's rules about other owners' tools are meant for many
    /// workspaces, so this one need not have such a tool.
    pub(crate) fn remarks(&self, section: &str, rules: &[UnmatchedRule<'_>], org: Option<&OrgName>) -> Vec<TextFault> {
        let is_own = |rule: &&UnmatchedRule<'_>| org.is_none_or(|org| rule.patterns.iter().all(|one| is_of(one, org)));
        let is_final = |rule: &&UnmatchedRule<'_>| !rule.patterns.iter().any(|pattern| self.may_match(pattern));
        let rules: Vec<&UnmatchedRule<'_>> = rules.iter().filter(is_own).filter(is_final).collect();
        if rules.is_empty() {
            return Vec::new();
        }
        let mut names: Vec<String> = self.names.iter().map(ToString::to_string).collect();
        let toolboxes: BTreeSet<&str> = names.iter().filter_map(|name| Some(name.rsplit_once('/')?.0)).collect();
        let toolboxes: Vec<String> = toolboxes.into_iter().map(str::to_owned).collect();
        names.extend(toolboxes.iter().map(|toolbox| format!("{toolbox}/*")));
        let remark = |rule: &UnmatchedRule<'_>| {
            let close = rule.patterns.iter().find_map(|pattern| closest(pattern.as_str(), &names, &toolboxes));
            let advice = close.map_or_else(
                || "check its patterns, or remove it".to_owned(),
                |close| format!("did you mean `{close}`?"),
            );
            TextFault::at(format!("{section}{}", rule.pointer), format!("matches no tool; {advice}"))
        };
        rules.into_iter().take(MAX_REMARKS).map(remark).collect()
    }
}

/// Reports whether a pattern is only about this organisation's tools.
pub(crate) fn is_of(pattern: &ToolPattern, org: &OrgName) -> bool {
    let first = pattern.as_str().trim_start_matches('/').split_once('/').map(|(first, _)| first);
    first.is_some_and(|first| first.eq_ignore_ascii_case(org.as_str()))
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
