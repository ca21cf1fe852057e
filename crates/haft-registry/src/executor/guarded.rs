//! A registry's tools with their permissions, approval rules and services, made once per generation.

use std::sync::Arc;

use haft_core::{Annotations, ToolCall};
use haft_executor::{
    Cx, DefinitionError, Permission, Permit, Permitting, RunOptions, Snapshot, Tool, Toolkit, ToolkitError,
};

use super::builder::ExecutorBuilder;
use crate::index::Index;
use crate::listing::RegisteredTool;
use crate::name::FullName;
use crate::permission::{AmbientPermissions, PermissionExplanation, Permissions, ToolPermit};

/// One generation's tools, with what they run with.
pub(super) struct GuardedTools {
    index: Arc<Index>,
    settings: Arc<ExecutorBuilder>,
    /// All tools, including those that others replace.
    all: Snapshot,
    /// The tools that models see.
    visible: Snapshot,
}

impl GuardedTools {
    pub(super) fn new(index: Arc<Index>, generation: u64, settings: Arc<ExecutorBuilder>) -> Self {
        let all = index.all().clone().map(|tool| guarded(tool, &index, &settings));
        // A tool whose copy is invalid must not be available without its rules.
        let all = all.unwrap_or_else(|error| none_available(&error));
        // The executor's services come after the tools' own.
        let all = Toolkit::new().with_services(settings.services.clone()).merge(all);
        let visible = all.clone().filter(|tool| index.visible().get(tool.name()).is_some());
        let snapshot = |kit: Toolkit| Snapshot::new(kit, generation).with_faults(index.faults().iter().cloned());
        let (all, visible) = (snapshot(all), snapshot(visible));
        Self { index, settings, all, visible }
    }

    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    pub(super) fn options(&self) -> &RunOptions {
        &self.settings.options
    }

    pub(super) fn all(&self) -> &Snapshot {
        &self.all
    }

    pub(super) fn visible(&self) -> &Snapshot {
        &self.visible
    }

    /// Returns what the permissions decide about a tool, or `None` without permissions.
    pub(super) fn explain(&self, tool: &RegisteredTool) -> Option<PermissionExplanation> {
        let ExecutorBuilder { permissions, narrowing, .. } = &*self.settings;
        let all = permissions.iter().chain(narrowing);
        all.map(|one| one.explain(&tool.name, tool.tool.annotations())).reduce(PermissionExplanation::and)
    }

    /// Reports whether the caller may know that a tool has this name, although it can't be used.
    pub(super) fn may_know(&self, name: &FullName) -> bool {
        let ExecutorBuilder { permissions, narrowing, .. } = &*self.settings;
        let hides = |one: &Permissions| one.hides_denied() && one.explain(name, &Annotations::new()).is_denied();
        let ambient = AmbientPermissions::current();
        !permissions.iter().chain(narrowing).chain(ambient.iter()).any(hides)
    }

    /// Returns the names of the approval rules that match a tool.
    pub(super) fn asks(&self, tool: &RegisteredTool) -> Vec<String> {
        self.settings.ask_rules.matching(&tool.name, &tool.tool).map(str::to_owned).collect()
    }

    /// Returns a tool with its rules.
    pub(super) fn get(&self, registered: &RegisteredTool) -> Option<&Tool> {
        self.all.toolkit().get(registered.tool.name())
    }
}

fn guarded(tool: &Tool, index: &Index, settings: &ExecutorBuilder) -> Result<Tool, DefinitionError> {
    let Some(registered) = index.exact(tool.name()) else { return Ok(tool.guard(NotRegistered)) };
    let permissions = settings.permissions.iter().chain(&settings.narrowing);
    let guarded = tool.guard(ToolPermit::new(permissions, &registered.name, tool));
    match settings.ask_rules.policy_for(&registered.name, tool) {
        // The rules come first, as they may say who decides.
        Some(policy) => guarded.set_needs_approval(policy.or(tool.approval().clone())),
        None => Ok(guarded),
    }
}

/// The permit for a tool without a full name to decide by. It denies.
struct NotRegistered;

impl Permit for NotRegistered {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::denied("this tool is not registered").into()
    }
}

fn none_available(error: &ToolkitError) -> Toolkit {
    tracing::error!(%error, "the tools of the registry can't be guarded, so none is available");
    Toolkit::new()
}
