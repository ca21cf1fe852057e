//! A toolbox: tools with a common namespace.

use std::collections::HashSet;
use std::sync::Arc;

use haft_executor::{Snapshot, SourceFault, Tool, ToolSource, Toolkit};

use crate::name::{Namespace, SimpleName};
use crate::workspace::WorkspaceFault;

/// Tools with a common namespace, in the order they were added.
///
/// The tools have simple names here. A registry gives them their full names.
#[derive(Clone, Debug)]
pub struct Toolbox {
    /// Unset for the standard toolbox, and while a toolbox in progress has an invalid name.
    namespace: Option<Namespace>,
    description: Option<String>,
    kit: Toolkit,
    /// The sources whose tools change, with the tools that they listed last.
    live: Vec<LiveTools>,
    /// The names of the tools that are found without the namespace.
    exported: HashSet<Box<str>>,
    /// All names in lower case: names that differ only in case count as equal.
    taken: HashSet<String>,
    /// The tools that are set aside.
    set_aside: Vec<SetAsideTool>,
    /// The reason why some tools with unknown names are set aside.
    incomplete: Option<Arc<str>>,
}

/// A source whose tools change.
#[derive(Clone, Debug)]
pub(crate) struct LiveTools {
    pub(crate) source: Arc<dyn ToolSource>,
    /// The tools that are registered.
    pub(crate) listed: Snapshot,
}

/// A tool that can't be used. It keeps its name, so that the name does not mean another tool instead.
#[derive(Clone, Debug)]
pub(crate) struct SetAsideTool {
    pub(crate) name: SimpleName,
    pub(crate) exported: Exported,
    pub(crate) reason: Arc<str>,
}

impl Toolbox {
    /// Creates an empty toolbox.
    pub(crate) fn new(namespace: Option<Namespace>) -> Self {
        Self {
            namespace,
            description: None,
            kit: Toolkit::new(),
            live: Vec::new(),
            exported: HashSet::new(),
            taken: HashSet::new(),
            set_aside: Vec::new(),
            incomplete: None,
        }
    }

    /// Returns the namespace, which every workspace toolbox has.
    #[must_use]
    pub fn namespace(&self) -> Option<&Namespace> {
        self.namespace.as_ref()
    }

    /// Returns the description.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    pub(crate) fn set_description(&mut self, text: Option<String>) {
        self.description = text;
    }

    /// Returns the tools, under their simple names. Those of live sources are not among them.
    pub fn toolkit(&self) -> &Toolkit {
        &self.kit
    }

    /// Returns all tools under their simple names, with those that live sources have listed and the names allow, and
    /// the reasons why others are left out.
    pub fn listed(&self) -> (Toolkit, Vec<SourceFault>) {
        let (mut all, mut faults, mut taken) = (self.kit.clone(), Vec::new(), None);
        for LiveTools { listed, .. } in &self.live {
            faults.extend(listed.faults().iter().cloned());
            let taken = taken.get_or_insert_with(|| self.taken.clone());
            let kit = listed.toolkit().clone().filter(|tool| match self.take(taken, tool.name()) {
                Ok(()) => true,
                Err(fault) => {
                    faults.push(SourceFault::new(tool.name(), fault));
                    false
                }
            });
            // The tools of one source must not find what another one was given.
            all = all.with_private_services().merge(kit.with_private_services());
        }
        (all, faults)
    }

    /// Returns the sources whose tools change.
    pub(crate) fn live(&self) -> &[LiveTools] {
        &self.live
    }

    /// Adds a source whose tools change.
    pub(crate) fn add_live(&mut self, source: Arc<dyn ToolSource>) {
        let listed = source.snapshot();
        self.live.push(LiveTools { source, listed });
    }

    /// Registers newer tools of a source, and reports whether there was anything to change.
    pub(crate) fn relist(&mut self, newer: &LiveTools) -> bool {
        let is_older = |live: &LiveTools| {
            Arc::ptr_eq(&live.source, &newer.source) && live.listed.generation() < newer.listed.generation()
        };
        let mut is_changed = false;
        for live in self.live.iter_mut().filter(|live| is_older(live)) {
            live.listed = newer.listed.clone();
            is_changed = true;
        }
        is_changed
    }

    /// Reports whether a tool is found by its simple name alone.
    #[must_use]
    pub fn exports(&self, tool: &str) -> bool {
        self.exported.contains(tool)
    }

    /// Returns the tools that are set aside.
    pub(crate) fn set_aside(&self) -> &[SetAsideTool] {
        &self.set_aside
    }

    /// Returns the reason why tools with unknown names are set aside, if there are any.
    pub(crate) fn incomplete(&self) -> Option<&Arc<str>> {
        self.incomplete.as_ref()
    }

    /// Takes the name of a tool that can't be used.
    pub(crate) fn set_aside_tool(&mut self, tool: SetAsideTool) -> Result<(), WorkspaceFault> {
        self.take_name(tool.name.as_str())?;
        self.set_aside.push(tool);
        Ok(())
    }

    /// Marks the toolbox as lacking tools with unknown names.
    pub(crate) fn set_incomplete(&mut self, reason: Arc<str>) {
        self.incomplete.get_or_insert(reason);
    }

    /// Adds a tool.
    pub(crate) fn add(&mut self, tool: Tool, exported: Exported) -> Result<(), WorkspaceFault> {
        self.take_name(tool.name())?;
        let name = Box::from(tool.name());
        self.kit = std::mem::take(&mut self.kit).with(tool).map_err(|error| WorkspaceFault::Tools(error.faults))?;
        if exported == Exported::Yes {
            self.exported.insert(name);
        }
        Ok(())
    }

    /// Adds a toolkit's tools and services. Skips tools that can't be added and returns their faults.
    pub(crate) fn add_kit(&mut self, tools: Toolkit) -> Vec<WorkspaceFault> {
        let mut faults = Vec::new();
        if !tools.definition_errors().is_empty() {
            faults.push(WorkspaceFault::Tools(tools.definition_errors().to_vec()));
        }
        let added = tools.filter(|tool| self.take_name(tool.name()).map_err(|fault| faults.push(fault)).is_ok());
        self.kit = std::mem::take(&mut self.kit).merge(added);
        faults
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Tool> {
        let removed = self.kit.get(name).cloned()?;
        self.kit = std::mem::take(&mut self.kit).filter(|tool| tool.name() != name);
        self.exported.remove(name);
        self.taken.remove(&name.to_ascii_lowercase());
        Some(removed)
    }

    /// Checks a new tool's name.
    fn take_name(&mut self, name: &str) -> Result<(), WorkspaceFault> {
        let mut taken = std::mem::take(&mut self.taken);
        let outcome = self.take(&mut taken, name);
        self.taken = taken;
        outcome
    }

    /// Adds a new tool's name to those that are taken.
    fn take(&self, taken: &mut HashSet<String>, name: &str) -> Result<(), WorkspaceFault> {
        SimpleName::new(name)?;
        if taken.insert(name.to_ascii_lowercase()) {
            return Ok(());
        }
        let namespace = self.namespace.as_ref().map(Namespace::to_string);
        Err(WorkspaceFault::DuplicateTool { namespace, tool: name.to_owned() })
    }
}

/// The names that find a tool: its simple name alone, or only with the namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exported {
    /// By their simple names, and with the namespace.
    Yes,
    /// Only with the namespace.
    No,
}
