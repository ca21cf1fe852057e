//! The tools of a registry at one moment, and how each name is found.

use std::collections::HashMap;
use std::sync::Arc;

use haft_core::{DefinitionError, Tool, Toolkit};

use crate::error::{LookupError, RegistryFault};
use crate::layers::Layers;
use crate::listing::RegisteredTool;
use crate::name::{FullName, SimpleName, ToolOrigin};
use crate::seed::RandomState;
use crate::similar;
use crate::toolbox::Toolbox;

/// The prefix that asks for a full name, and never for a shorter one.
const EXACTLY: char = '/';

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// All tools, in the order of the layers.
    tools: Vec<Arc<RegisteredTool>>,
    by_full_name: HashMap<Box<str>, usize, RandomState>,
    /// The tools that a name of one or two segments may mean.
    by_shorter_name: HashMap<Box<str>, Vec<usize>, RandomState>,
    /// All tools under their full names.
    all: Toolkit,
    /// Those of them that models see.
    visible: Toolkit,
}

impl Index {
    pub(crate) fn new(layers: &Layers) -> Result<Self, Vec<RegistryFault>> {
        let mut index = Self::default();
        let mut faults = Vec::new();
        for (origin, toolbox) in layers.toolboxes() {
            if let Err(fault) = index.add(&origin, toolbox) {
                faults.push(fault);
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        index.find_hidden();
        index.visible = index.all.clone();
        if index.tools.iter().any(|tool| tool.is_replaced()) {
            let is_replaced = |name: &str| index.exact(name).is_some_and(|tool| tool.is_replaced());
            index.visible = index.all.clone().filter(|tool| !is_replaced(tool.name()));
        }
        Ok(index)
    }

    fn add(&mut self, origin: &ToolOrigin, toolbox: &Toolbox) -> Result<(), RegistryFault> {
        let mut names = Vec::with_capacity(toolbox.toolkit().len());
        for tool in toolbox.toolkit() {
            let simple = SimpleName::new(tool.name()).map_err(|error| RegistryFault::Toolbox(error.into()))?;
            names.push((FullName::new(origin.clone(), simple), toolbox.exports(tool.name())));
        }
        let mut full = names.iter().map(|(name, _)| name.to_string());
        let renamed = toolbox.toolkit().clone().map(|tool| with_full_name(tool, full.next().unwrap_or_default()));
        // A toolbox must not find what another one was given.
        let kit = renamed.map_err(|error| RegistryFault::Tools(error.faults))?.with_private_services();
        drop(full);
        for (tool, (name, exported)) in kit.iter().zip(names) {
            let at = self.tools.len();
            self.by_full_name.insert(tool.name().into(), at);
            for shorter in shorter_names(&name, exported) {
                self.by_shorter_name.entry(shorter.into()).or_default().push(at);
            }
            let (hides, hidden_by) = (Vec::new(), Vec::new());
            self.tools.push(Arc::new(RegisteredTool { name, tool: tool.clone(), exported, hides, hidden_by }));
        }
        self.all = std::mem::take(&mut self.all).merge(kit);
        Ok(())
    }

    /// Records which tools a name means instead of others.
    fn find_hidden(&mut self) {
        let mut pairs = Vec::new();
        for candidates in self.by_shorter_name.values().filter(|candidates| candidates.len() > 1) {
            let Ok(winner) = self.best(candidates) else { continue };
            let rank = precedence(&self.tools[winner].name);
            let hidden = candidates.iter().filter(|at| precedence(&self.tools[**at].name) > rank);
            pairs.extend(hidden.map(|hidden| (winner, *hidden)));
        }
        // A hash table has no order; the listing has.
        pairs.sort_unstable();
        pairs.dedup();
        for (winner, hidden) in pairs {
            let names = (self.tools[winner].name.clone(), self.tools[hidden].name.clone());
            Arc::make_mut(&mut self.tools[winner]).hides.push(names.1);
            Arc::make_mut(&mut self.tools[hidden]).hidden_by.push(names.0);
        }
    }

    /// Returns the tool with the highest precedence, or all of those that share it.
    fn best(&self, candidates: &[usize]) -> Result<usize, Vec<usize>> {
        if let [only] = candidates {
            return Ok(*only);
        }
        let rank = |at: &usize| precedence(&self.tools[*at].name);
        let highest = candidates.iter().map(rank).min();
        let best: Vec<usize> = candidates.iter().filter(|at| Some(rank(at)) == highest).copied().collect();
        if let [only] = best.as_slice() { Ok(*only) } else { Err(best) }
    }

    /// Finds a tool by its full or a shorter name. A tool that is not seen is as good as missing, except that its name
    /// does not mean another tool instead: a name must not mean different tools to different callers.
    pub(crate) fn find_among(
        &self,
        name: &str,
        sees: impl Fn(&RegisteredTool) -> bool,
    ) -> Result<&Arc<RegisteredTool>, LookupError> {
        let full_name = name.strip_prefix(EXACTLY);
        let found = match full_name {
            Some(full_name) => self.exact(full_name),
            None => match self.by_shorter_name.get(name).map(|candidates| self.best(candidates)) {
                Some(Ok(at)) => Some(&self.tools[at]),
                Some(Err(tied)) => {
                    let tied = tied.iter().map(|at| &self.tools[*at]).filter(|tool| sees(tool));
                    let candidates: Vec<_> = tied.map(|tool| tool.name.clone()).collect();
                    if candidates.len() > 1 {
                        return Err(LookupError::Ambiguous { name: name.to_owned(), candidates });
                    }
                    None
                }
                None => self.exact(name),
            },
        };
        let found = found.filter(|tool| sees(tool));
        found.ok_or_else(|| self.not_found(name, full_name.unwrap_or(name), sees))
    }

    pub(crate) fn exact(&self, full_name: &str) -> Option<&Arc<RegisteredTool>> {
        self.by_full_name.get(full_name).map(|at| &self.tools[*at])
    }

    fn not_found(&self, name: &str, full_name: &str, sees: impl Fn(&RegisteredTool) -> bool) -> LookupError {
        if let Err(error) = full_name.parse::<FullName>() {
            return error.into();
        }
        let seen = self.tools.iter().filter(|tool| sees(tool) && tool.name.to_string() != full_name);
        let similar = similar::of(full_name, seen.map(|tool| &tool.name));
        LookupError::NotFound { name: name.to_owned(), similar }
    }

    pub(crate) fn tools(&self) -> &[Arc<RegisteredTool>] {
        &self.tools
    }

    pub(crate) fn all(&self) -> &Toolkit {
        &self.all
    }

    pub(crate) fn visible(&self) -> &Toolkit {
        &self.visible
    }
}

/// Returns the names of one and two segments by which a tool is found.
fn shorter_names(name: &FullName, exported: bool) -> impl Iterator<Item = String> {
    let tool = name.tool().to_string();
    let in_namespace = name.namespace().map(|namespace| format!("{namespace}/{tool}"));
    let is_found_alone = exported || name.namespace().is_none();
    in_namespace.into_iter().chain(is_found_alone.then_some(tool))
}

fn precedence(name: &FullName) -> u8 {
    match name.origin() {
        ToolOrigin::Project(_) => 0,
        ToolOrigin::Org(..) => 1,
        ToolOrigin::Internal => 2,
    }
}
/// Returns the tool under its full name, which is its id as well unless it has an id of its own.
fn with_full_name(tool: &Tool, full: String) -> Result<Tool, DefinitionError> {
    let named = tool.with_name(full.clone())?;
    if tool.id().as_str() == tool.name() && !tool.is_provider_defined() { named.with_id(full) } else { Ok(named) }
}
