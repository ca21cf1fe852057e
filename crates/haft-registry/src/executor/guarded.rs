//! The tools of a registry with their permissions, approval rules and services, made once for each generation.

use std::sync::{Arc, PoisonError, RwLock};

use haft_core::{DefinitionError, Services, Snapshot, Tool, Toolkit, ToolkitError};

use crate::index::Index;
use crate::listing::RegisteredTool;
use crate::permission::{AmbientPermissions, AskRules, Permissions};
use crate::registry::Registry;

/// The rules and services of an executor, and the tools that have them.
pub(super) struct GuardedTools {
    /// Unset if only the permissions of the scope around a call apply.
    permissions: Option<Permissions>,
    ask_rules: AskRules,
    services: Services,
    newest: RwLock<Option<Arc<GuardedGeneration>>>,
}

/// The tools of one generation.
pub(super) struct GuardedGeneration {
    index: Arc<Index>,
    /// All tools, including those that others replace.
    all: Snapshot,
    /// The tools that models see.
    visible: Snapshot,
}

impl GuardedTools {
    pub(super) fn new(permissions: Option<Permissions>, ask_rules: AskRules, services: Services) -> Self {
        Self { permissions, ask_rules, services, newest: RwLock::new(None) }
    }

    /// Returns the current tools.
    pub(super) fn current(&self, registry: &Registry) -> Arc<GuardedGeneration> {
        let (index, generation) = registry.current();
        let is_current = |known: &&Arc<GuardedGeneration>| known.all.generation() >= generation;
        if let Some(known) = self.newest.read().unwrap_or_else(PoisonError::into_inner).as_ref().filter(is_current) {
            return Arc::clone(known);
        }
        // Tools are copied without the lock, as that drops values of others. Two threads may do so at the same time.
        let made = Arc::new(self.guard(index, generation));
        let mut newest = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = newest.as_ref().filter(is_current) {
            return Arc::clone(known);
        }
        let before = newest.replace(Arc::clone(&made));
        drop(newest);
        drop(before);
        made
    }

    fn guard(&self, index: Arc<Index>, generation: u64) -> GuardedGeneration {
        let all = index.all().clone().map(|tool| self.guarded(&index, tool)).map(|kit| self.provide(kit));
        // A tool whose copy is invalid must not be available without its rules.
        let all = all.unwrap_or_else(|error| none_available(&error));
        let visible = all.clone().filter(|tool| index.visible().get(tool.name()).is_some());
        let snapshot = |kit: Toolkit| Snapshot::new(kit, generation);
        GuardedGeneration { index, all: snapshot(all), visible: snapshot(visible) }
    }

    fn guarded(&self, index: &Index, tool: &Tool) -> Result<Tool, DefinitionError> {
        let Some(registered) = index.exact(tool.name()) else { return Ok(tool.clone()) };
        let permit = match &self.permissions {
            Some(permissions) => permissions.permit_for(&registered.name, tool),
            None => AmbientPermissions::permit_for(&registered.name, tool),
        };
        let guarded = tool.guard(permit);
        match self.ask_rules.policy_for(&registered.name, tool) {
            Some(policy) => guarded.set_needs_approval(tool.approval().clone().or(policy)),
            None => Ok(guarded),
        }
    }

    /// Adds the services of the executor behind those that tools have of their own.
    fn provide(&self, kit: Toolkit) -> Toolkit {
        Toolkit::new().with_services(self.services.clone()).merge(kit)
    }
}

fn none_available(error: &ToolkitError) -> Toolkit {
    tracing::error!(%error, "the tools of the registry can't be guarded, so none is available");
    Toolkit::new()
}

impl GuardedGeneration {
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    pub(super) fn all(&self) -> &Snapshot {
        &self.all
    }

    pub(super) fn visible(&self) -> &Snapshot {
        &self.visible
    }

    /// Returns a tool with its rules.
    pub(super) fn get(&self, registered: &RegisteredTool) -> Option<&Tool> {
        self.all.toolkit().get(registered.tool.name())
    }
}
