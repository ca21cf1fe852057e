//! A registry's tools at one moment, and the lookup by name.

use std::collections::HashMap;
use std::sync::Arc;

use haft_executor::{DefinitionError, SourceFault, Tool, Toolkit};

use crate::error::{LookupError, RegistryFault};
use crate::layers::Layers;
use crate::listing::RegisteredTool;
use crate::name::{FullName, SimpleName, ToolOrigin};
use crate::seed::RandomState;
use crate::similar;
use crate::toolbox::{Exported, LiveTools, SetAsideTool, Toolbox};

/// The prefix that asks for a full name only.
const EXACTLY: char = '/';

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// All tools, in layer order.
    tools: Vec<Arc<RegisteredTool>>,
    by_full_name: HashMap<Box<str>, NamedTool, RandomState>,
    /// The tools that a name with one or two segments may mean.
    by_shorter_name: HashMap<Box<str>, Vec<NamedTool>, RandomState>,
    /// The tools that are set aside, with the reasons.
    set_aside: Vec<(FullName, Arc<str>)>,
    /// The toolboxes in which tools with unknown names are set aside, with the reasons.
    incomplete: Vec<(ToolOrigin, Arc<str>)>,
    /// All tools under their full names.
    all: Toolkit,
    /// The tools that models see.
    visible: Toolkit,
    /// The sources whose tools change.
    live: Vec<LiveTools>,
    /// The tools of live sources that are left out.
    faults: Vec<SourceFault>,
}

/// A tool that a name may mean, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NamedTool {
    Tool(usize),
    /// A tool that is set aside: its name never means another one instead.
    SetAside(usize),
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
        let (listed, faults) = toolbox.listed();
        self.faults.extend(faults);
        self.live.extend_from_slice(toolbox.live());
        let mut names = Vec::with_capacity(listed.len());
        for tool in &listed {
            let simple = SimpleName::new(tool.name()).map_err(|error| RegistryFault::Toolbox(error.into()))?;
            names.push((FullName::new(origin.clone(), simple), toolbox.exports(tool.name())));
        }
        let mut full = names.iter().map(|(name, _)| name.to_string());
        let renamed = listed.map(|tool| with_full_name(tool, full.next().unwrap_or_default()));
        // A toolbox must not find what another one was given.
        let kit = renamed.map_err(|error| RegistryFault::Tools(error.faults))?.with_private_services();
        drop(full);
        for (tool, (name, exported)) in kit.iter().zip(names) {
            let at = self.tools.len();
            self.by_full_name.insert(tool.name().into(), NamedTool::Tool(at));
            for shorter in shorter_names(&name, exported) {
                self.by_shorter_name.entry(shorter.into()).or_default().push(NamedTool::Tool(at));
            }
            let (hides, hidden_by) = (Vec::new(), Vec::new());
            self.tools.push(Arc::new(RegisteredTool { name, tool: tool.clone(), exported, hides, hidden_by }));
        }
        self.all = std::mem::take(&mut self.all).merge(kit);
        for SetAsideTool { name, exported, reason } in toolbox.set_aside() {
            let name = FullName::new(origin.clone(), name.clone());
            let candidate = NamedTool::SetAside(self.set_aside.len());
            self.by_full_name.insert(name.to_string().into(), candidate);
            for shorter in shorter_names(&name, *exported == Exported::Yes) {
                self.by_shorter_name.entry(shorter.into()).or_default().push(candidate);
            }
            self.set_aside.push((name, Arc::clone(reason)));
        }
        self.incomplete.extend(toolbox.incomplete().map(|reason| (origin.clone(), Arc::clone(reason))));
        Ok(())
    }

    /// Records which tools a name means instead of others.
    fn find_hidden(&mut self) {
        let mut pairs = Vec::new();
        for candidates in self.by_shorter_name.values().filter(|candidates| candidates.len() > 1) {
            let winner = match self.best(candidates) {
                Ok(winner) => winner,
                // The name means none of them, and must not mean a tool below them either.
                Err(tied) => match tied.into_iter().find(|one| matches!(one, NamedTool::SetAside(_))) {
                    Some(set_aside) => set_aside,
                    None => continue,
                },
            };
            let rank = precedence(self.name_of(winner));
            let is_hidden = |candidate: &NamedTool| precedence(self.name_of(*candidate)) > rank;
            let hidden = candidates.iter().filter(|candidate| is_hidden(candidate));
            pairs.extend(hidden.map(|hidden| (winner, *hidden)));
        }
        // A hash table has no order; the listing has.
        pairs.sort_unstable();
        pairs.dedup();
        for (winner, hidden) in pairs {
            let names = (self.name_of(winner).clone(), self.name_of(hidden).clone());
            if let NamedTool::Tool(winner) = winner {
                Arc::make_mut(&mut self.tools[winner]).hides.push(names.1);
            }
            if let NamedTool::Tool(hidden) = hidden {
                Arc::make_mut(&mut self.tools[hidden]).hidden_by.push(names.0);
            }
        }
    }

    fn name_of(&self, candidate: NamedTool) -> &FullName {
        match candidate {
            NamedTool::Tool(at) => &self.tools[at].name,
            NamedTool::SetAside(at) => &self.set_aside[at].0,
        }
    }

    /// Returns the tool with the highest precedence, or all tools that share it.
    fn best(&self, candidates: &[NamedTool]) -> Result<NamedTool, Vec<NamedTool>> {
        if let [only] = candidates {
            return Ok(*only);
        }
        let rank = |candidate: &NamedTool| precedence(self.name_of(*candidate));
        let highest = candidates.iter().map(rank).min();
        let best: Vec<NamedTool> = candidates.iter().filter(|at| Some(rank(at)) == highest).copied().collect();
        if let [only] = best.as_slice() { Ok(*only) } else { Err(best) }
    }

    /// Finds a tool by its full or a shorter name.
    ///
    /// A tool that the caller does not see is as good as missing, except that its name does not mean another tool
    /// instead: a name must not mean different tools to different callers. The same holds for a tool that is set aside,
    /// which is reported to callers that may know about it.
    pub(crate) fn find_among(
        &self,
        name: &str,
        sees: impl Fn(&RegisteredTool) -> bool,
        may_know: impl Fn(&FullName) -> bool,
    ) -> Result<&Arc<RegisteredTool>, LookupError> {
        let full_name = name.strip_prefix(EXACTLY);
        let found = match full_name {
            Some(full_name) => self.by_full_name.get(full_name).copied(),
            None => match self.by_shorter_name.get(name).map(|candidates| self.best(candidates)) {
                Some(Ok(candidate)) => Some(candidate),
                Some(Err(tied)) => {
                    let tied = tied.iter().filter(|candidate| match candidate {
                        NamedTool::Tool(at) => sees(&self.tools[*at]),
                        NamedTool::SetAside(at) => may_know(&self.set_aside[*at].0),
                    });
                    let candidates: Vec<_> = tied.map(|candidate| self.name_of(*candidate).clone()).collect();
                    if candidates.len() > 1 {
                        return Err(LookupError::Ambiguous { name: name.to_owned(), candidates });
                    }
                    None
                }
                None => self.by_full_name.get(name).copied(),
            },
        };
        let found = match found {
            Some(NamedTool::Tool(at)) => Some(&self.tools[at]),
            Some(NamedTool::SetAside(at)) => {
                let (full, reason) = &self.set_aside[at];
                return Err(self.set_aside_or_unknown(name, full, reason, sees, may_know));
            }
            None => None,
        };
        let asked = full_name.unwrap_or(name);
        if let Some((full, reason)) = self.incomplete_origin(asked, found.map(|tool| &tool.name)) {
            return Err(self.set_aside_or_unknown(name, &full, reason, sees, may_know));
        }
        found.filter(|tool| sees(tool)).ok_or_else(|| self.not_found(name, asked, sees))
    }

    /// Returns the full name that a tool would have in a toolbox with unknown tools, and why those are set aside. The
    /// name means a tool in that toolbox, or one with a higher precedence.
    fn incomplete_origin(&self, name: &str, found: Option<&FullName>) -> Option<(FullName, &Arc<str>)> {
        if self.incomplete.is_empty() {
            return None;
        }
        let tool = SimpleName::new(name.rsplit('/').next()?).ok()?;
        self.incomplete.iter().find_map(|(origin, reason)| {
            let full = FullName::new(origin.clone(), tool.clone());
            let is_meant = full.to_string() == name || shorter_names(&full, false).any(|shorter| shorter == name);
            let is_other = |found: &FullName| found.origin() != origin && precedence(&full) <= precedence(found);
            (is_meant && found.is_none_or(is_other)).then_some((full, reason))
        })
    }

    fn set_aside_or_unknown(
        &self,
        name: &str,
        full: &FullName,
        reason: &str,
        sees: impl Fn(&RegisteredTool) -> bool,
        may_know: impl Fn(&FullName) -> bool,
    ) -> LookupError {
        if may_know(full) {
            LookupError::SetAside { name: full.to_string(), reason: reason.to_owned() }
        } else {
            self.not_found(name, name.strip_prefix(EXACTLY).unwrap_or(name), sees)
        }
    }

    pub(crate) fn exact(&self, full_name: &str) -> Option<&Arc<RegisteredTool>> {
        match self.by_full_name.get(full_name)? {
            NamedTool::Tool(at) => Some(&self.tools[*at]),
            NamedTool::SetAside(_) => None,
        }
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

    pub(crate) fn live(&self) -> &[LiveTools] {
        &self.live
    }

    /// Returns the tools of live sources that are left out, with the reasons.
    pub(crate) fn faults(&self) -> &[SourceFault] {
        &self.faults
    }
}

/// Returns the names with one and two segments that find a tool.
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
/// Returns the tool under its full name, which is also its id unless it has its own.
fn with_full_name(tool: &Tool, full: String) -> Result<Tool, DefinitionError> {
    let named = tool.with_name(full.clone())?;
    if tool.id().as_str() == tool.name() && !tool.is_provider_defined() { named.with_id(full) } else { Ok(named) }
}
