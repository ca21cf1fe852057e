//! Replacing all tools of a toolkit by changed copies.

use crate::tool::{DefinitionError, Tool};
use crate::toolkit::{ToolSet, Toolkit, ToolkitError, ToolkitFault};

impl<S> Toolkit<S> {
    /// Replaces every tool by a copy that `map` returns. The copies have the order and the services of the originals. An
    /// error lists all copies that are invalid, and all names that two of them would share.
    ///
    /// ```
    /// use haft_executor::{ExecutionLimits, Tool, Toolkit};
    /// use std::time::Duration;
    ///
    /// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
    /// let kit: Toolkit = Toolkit::from_iter([tool("read")?, tool("write")?]);
    /// let limits = ExecutionLimits::new().timeout(Duration::from_secs(5));
    /// let limited = kit.map(|tool| tool.with_limits(limits.clone()))?;
    /// assert!(limited.iter().all(|tool| tool.limits().timeout.is_some()));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn map(mut self, mut map: impl FnMut(&Tool) -> Result<Tool, DefinitionError>) -> Result<Self, ToolkitError> {
        let set = self.set_mut();
        let mapped: Vec<_> = set.entries.iter().map(|entry| map(&entry.tool)).collect();
        set.set_tools(mapped)?;
        Ok(self)
    }
}

impl ToolSet {
    /// Replaces every tool by the one at its position. If there are faults, returns all of them and changes nothing.
    fn set_tools(&mut self, tools: Vec<Result<Tool, DefinitionError>>) -> Result<(), ToolkitError> {
        let mut faults = Vec::new();
        let mut index = std::collections::HashMap::with_capacity_and_hasher(tools.len(), self.index.hasher().clone());
        let mut renamed = Vec::with_capacity(tools.len());
        for tool in tools {
            match tool {
                Err(error) => faults.push(ToolkitFault::Definition(error)),
                Ok(tool) if index.insert(tool.shared_name().clone(), renamed.len()).is_some() => {
                    faults.push(ToolkitFault::DuplicateName { name: tool.name().to_owned() });
                }
                Ok(tool) => renamed.push(tool),
            }
        }
        if !faults.is_empty() {
            return Err(ToolkitError { faults });
        }
        let old = std::mem::take(&mut self.index);
        let shadowed = std::mem::take(&mut self.shadowed);
        self.shadowed = shadowed.renamed(|name| old.get(name).map(|at| renamed[*at].shared_name().clone()));
        self.index = index;
        for (entry, tool) in self.entries.iter_mut().zip(renamed) {
            entry.tool = tool;
        }
        Ok(())
    }
}
