//! The sources of a registry: the standard toolbox, the project, and organisations.

use haft_core::{Tool, Toolkit};

use crate::error::RegistryFault;
use crate::name::{FullName, Namespace, ToolOrigin};
use crate::toolbox::{Exported, Toolbox};
use crate::workspace::{Workspace, WorkspaceFault};

/// The sources. Those that come first have precedence where a shorter name means tools of several: the project, then
/// organisations, then the standard toolbox.
#[derive(Clone, Debug)]
pub(crate) struct Layers {
    /// Its namespace is not part of any name.
    internal: Toolbox,
    project: Workspace,
    orgs: Vec<Workspace>,
}

impl Default for Layers {
    fn default() -> Self {
        Self { internal: Toolbox::new(Namespace::placeholder()), project: Workspace::default(), orgs: Vec::new() }
    }
}

impl Layers {
    /// Returns all toolboxes with the origin of their tools.
    pub(crate) fn toolboxes(&self) -> impl Iterator<Item = (ToolOrigin, &Toolbox)> {
        let project = self.project.toolboxes().iter();
        let orgs = self.orgs.iter().filter_map(|workspace| Some((workspace.org()?, workspace.toolboxes())));
        let orgs = orgs.flat_map(|(org, toolboxes)| toolboxes.iter().map(move |toolbox| (org, toolbox)));
        let project = project.map(|toolbox| (ToolOrigin::Project(toolbox.namespace().clone()), toolbox));
        let orgs = orgs.map(|(org, toolbox)| (ToolOrigin::Org(org.clone(), toolbox.namespace().clone()), toolbox));
        std::iter::once((ToolOrigin::Internal, &self.internal)).chain(project).chain(orgs)
    }

    pub(crate) fn set_internal(&mut self, tools: Toolkit) -> Vec<WorkspaceFault> {
        let mut internal = Toolbox::new(Namespace::placeholder());
        let faults = internal.add_kit(tools);
        self.internal = internal;
        faults
    }

    /// Adds a workspace, in place of the one with the same owner.
    pub(crate) fn set_workspace(&mut self, workspace: Workspace) {
        let Some(org) = workspace.org() else {
            self.project = workspace;
            return;
        };
        match self.orgs.iter_mut().find(|known| known.org() == Some(org)) {
            Some(known) => *known = workspace,
            None => self.orgs.push(workspace),
        }
    }

    pub(crate) fn has_org(&self, name: &str) -> bool {
        self.orgs.iter().filter_map(Workspace::org).any(|org| org.as_str().eq_ignore_ascii_case(name))
    }

    pub(crate) fn add(&mut self, origin: &ToolOrigin, tool: Tool, exported: Exported) -> Result<(), RegistryFault> {
        let toolbox = self.toolbox_mut(origin)?;
        toolbox.add(tool, exported)?;
        let workspace = match origin {
            ToolOrigin::Internal => return Ok(()),
            ToolOrigin::Project(_) => Some(&self.project),
            ToolOrigin::Org(org, _) => self.orgs.iter().find(|known| known.org() == Some(org)),
        };
        match workspace.and_then(|workspace| workspace.common_faults().into_iter().next()) {
            Some(fault) => Err(fault.into()),
            None => Ok(()),
        }
    }

    pub(crate) fn remove(&mut self, name: &FullName) -> Option<(Tool, Exported)> {
        let toolbox = self.toolbox_mut(name.origin()).ok()?;
        let exported = if toolbox.exports(name.tool().as_str()) { Exported::Yes } else { Exported::No };
        Some((toolbox.remove(name.tool().as_str())?, exported))
    }

    fn toolbox_mut(&mut self, origin: &ToolOrigin) -> Result<&mut Toolbox, RegistryFault> {
        match origin {
            ToolOrigin::Internal => Ok(&mut self.internal),
            ToolOrigin::Project(namespace) => Ok(self.project.toolbox_mut(namespace)),
            ToolOrigin::Org(org, namespace) => {
                let workspace = self.orgs.iter_mut().find(|known| known.org() == Some(org));
                let workspace = workspace.ok_or_else(|| RegistryFault::UnknownOrg(org.to_string()))?;
                Ok(workspace.toolbox_mut(namespace))
            }
        }
    }
}
