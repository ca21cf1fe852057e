//! The rules in a workspace's files, compared with its tools.
//!
//! `haft check` and workspace tests need this, so it is done on request: a load only keeps the text in which the
//! findings are located.

use std::sync::Arc;

use haft_executor::Tool;
use haft_registry::{
    AskRules, ConditionFinding, ConditionSeverity, FullName, OrgName, Permissions, SimpleName, ToolOrigin, ToolPattern,
    Toolbox, Workspace,
};

use super::document::TextPlace;
use super::error::{FileFault, FilePosition};
use super::source::FileSource;
use super::unmatched::is_of;

/// A rule whose condition can't be right for the tools that it is about, with its place.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuleFinding {
    /// The finding's severity.
    pub severity: ConditionSeverity,
    /// The condition's place, and the finding.
    pub fault: FileFault,
}

/// One file's rules.
#[derive(Clone, Debug)]
pub(crate) struct FileRules {
    pub(crate) source: Arc<FileSource>,
    pub(crate) audience: RuleAudience,
    pub(crate) permissions: Option<Permissions>,
    pub(crate) ask_rules: AskRules,
}

/// The workspaces that a file's rules are meant for.
#[derive(Clone, Debug)]
pub(crate) enum RuleAudience {
    /// This workspace alone: a rule that can't apply here is wrong.
    ThisWorkspace,
    /// Every workspace that uses this organisation. Only rules about its own tools can be judged here.
    UsersOf(OrgName),
    /// All of a user's workspaces.
    AllOfUser,
}

impl RuleAudience {
    /// Reports whether one workspace's tools are enough to judge a rule with these patterns. They are if it names its
    /// tools without a wildcard.
    fn is_here(&self, patterns: &[ToolPattern]) -> bool {
        let is_exact = || !patterns.iter().any(|pattern| pattern.as_str().contains('*'));
        match self {
            Self::ThisWorkspace => true,
            Self::UsersOf(org) => is_exact() || patterns.iter().all(|pattern| is_of(pattern, org)),
            Self::AllOfUser => is_exact(),
        }
    }
}

impl FileRules {
    /// Returns the findings about the rules. If a rule may be about a tool that is left out, it may be right.
    pub(crate) fn findings(&self, tools: &[(FullName, Tool)], left_out: &[&FullName]) -> Vec<RuleFinding> {
        let is_left_out =
            |patterns: &[ToolPattern]| patterns.iter().any(|pattern| left_out.iter().any(|name| pattern.matches(name)));
        let pairs = || tools.iter().map(|(name, tool)| (name, tool));
        let of_permissions = self.permissions.iter().flat_map(|rules| rules.condition_findings(pairs()));
        let of_permissions = of_permissions.map(|finding| ("/permissions", finding));
        let of_approval = self.ask_rules.condition_findings(pairs()).into_iter().map(|finding| ("/approval", finding));
        let found: Vec<(&str, ConditionFinding<'_>)> = of_permissions
            .chain(of_approval)
            .filter(|(_, finding)| self.audience.is_here(finding.patterns) && !is_left_out(finding.patterns))
            .collect();
        if found.is_empty() {
            return Vec::new();
        }
        let place = |(section, finding): &(&str, ConditionFinding<'_>)| {
            TextPlace::Value(format!("{section}{}", finding.pointer))
        };
        let located = |(position, key, (_, finding)): (Option<FilePosition>, String, (&str, ConditionFinding<'_>))| {
            let ConditionFinding { severity, message, .. } = finding;
            RuleFinding { severity, fault: FileFault { path: Arc::clone(&self.source.path), position, key, message } }
        };
        self.source.placed(found, place).into_iter().map(located).collect()
    }
}

/// Returns a workspace's tools with their full names.
pub(crate) fn named_tools(workspace: &Workspace) -> impl Iterator<Item = (FullName, Tool)> {
    let origin = |toolbox: &Toolbox| {
        let namespace = toolbox.namespace()?.clone();
        Some(match workspace.org() {
            Some(org) => ToolOrigin::Org(org.clone(), namespace),
            None => ToolOrigin::Project(namespace),
        })
    };
    let toolboxes =
        workspace.toolboxes().iter().filter_map(move |toolbox| Some((origin(toolbox)?, toolbox.listed().0)));
    toolboxes.flat_map(|(origin, tools)| {
        let named =
            move |tool: &Tool| Some((FullName::new(origin.clone(), SimpleName::new(tool.name()).ok()?), tool.clone()));
        tools.iter().filter_map(named).collect::<Vec<_>>()
    })
}
