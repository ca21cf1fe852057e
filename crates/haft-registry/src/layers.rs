//! A registry's sources: the standard toolbox, the project and organisations.

use haft_executor::{Tool, Toolkit};

use crate::error::RegistryFault;
use crate::name::{FullName, OrgName, ToolOrigin};
use crate::toolbox::{Exported, LiveTools, Toolbox};
use crate::workspace::{Workspace, WorkspaceFault};

/// The sources. If a shorter name means several tools, earlier sources win: the project, then organisations, then the
/// standard toolbox.
#[derive(Clone, Debug)]
pub(crate) struct Layers {
    internal: Toolbox,
    project: Workspace,
    orgs: Vec<Workspace>,
}

impl Default for Layers {
    fn default() -> Self {
        Self { internal: Toolbox::new(None), project: Workspace::default(), orgs: Vec::new() }
    }
}

impl Layers {
    /// Returns all toolboxes, each with its tools' origin.
    pub(crate) fn toolboxes(&self) -> impl Iterator<Item = (ToolOrigin, &Toolbox)> {
        let owned = std::iter::once(&self.project).chain(&self.orgs).flat_map(|workspace| {
            workspace.toolboxes().iter().filter_map(|toolbox| {
                let namespace = toolbox.namespace()?.clone();
                let origin = match workspace.org() {
                    Some(org) => ToolOrigin::Org(org.clone(), namespace),
                    None => ToolOrigin::Project(namespace),
                };
                Some((origin, toolbox))
            })
        });
        std::iter::once((ToolOrigin::Internal, &self.internal)).chain(owned)
    }

    /// Registers newer tools of live sources, and reports whether there was anything to change.
    pub(crate) fn relist(&mut self, newer: &[LiveTools]) -> bool {
        let workspaces = std::iter::once(&mut self.project).chain(&mut self.orgs);
        let mut is_changed = false;
        for toolbox in workspaces.flat_map(Workspace::toolboxes_mut) {
            for live in newer {
                is_changed |= toolbox.relist(live);
            }
        }
        is_changed
    }

    pub(crate) fn set_internal(&mut self, tools: Toolkit) -> Vec<WorkspaceFault> {
        let mut internal = Toolbox::new(None);
        let faults = internal.add_kit(tools);
        self.internal = internal;
        faults
    }

    /// Adds a workspace, replacing the one with the same owner. Rejects an organisation whose name differs from another
    /// one only in case.
    pub(crate) fn set_workspace(&mut self, workspace: Workspace) -> Result<(), RegistryFault> {
        let Some(org) = workspace.org() else {
            self.project = workspace;
            return Ok(());
        };
        let like = |known: &&mut Workspace| known.org().is_some_and(|known| known.is_like(org));
        match self.orgs.iter_mut().find(like) {
            Some(known) if known.org() == Some(org) => *known = workspace,
            Some(_) => return Err(RegistryFault::DuplicateOrg(org.to_string())),
            None => self.orgs.push(workspace),
        }
        Ok(())
    }

    pub(crate) fn has_org(&self, org: &OrgName) -> bool {
        self.orgs.iter().filter_map(Workspace::org).any(|known| known.is_like(org))
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

    /// Removes a tool and returns it. Does nothing if there is none.
    pub(crate) fn remove(&mut self, name: &FullName) -> Option<(Tool, Exported)> {
        let toolbox = match name.origin() {
            ToolOrigin::Internal => &mut self.internal,
            ToolOrigin::Project(namespace) => self.project.existing_toolbox_mut(namespace)?,
            ToolOrigin::Org(org, namespace) => {
                let workspace = self.orgs.iter_mut().find(|known| known.org() == Some(org))?;
                workspace.existing_toolbox_mut(namespace)?
            }
        };
        let exported = if toolbox.exports(name.tool().as_str()) { Exported::Yes } else { Exported::No };
        Some((toolbox.remove(name.tool().as_str())?, exported))
    }

    /// Returns an origin's toolbox, adding it if it is missing.
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
