//! Renaming all tools of a toolkit.

use crate::tool::{DefinitionError, Tool};
use crate::toolkit::{ToolSet, Toolkit, ToolkitError, ToolkitFault};

impl<S> Toolkit<S> {
    /// Renames every tool, and gives it its new name as the id unless a provider defines it. The tools keep their order,
    /// services and middleware. An error lists all names that are invalid or that two tools would share.
    ///
    /// ```
    /// use haft_core::{Tool, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
    /// let kit: Toolkit = Toolkit::from_iter([tool("read")?, tool("write")?]);
    /// let renamed = kit.clone().rename(|tool| format!("acme/files/{}", tool.name()))?;
    /// assert_eq!(renamed.names().collect::<Vec<_>>(), ["acme/files/read", "acme/files/write"]);
    /// assert!(kit.rename(|_| "same".to_owned()).is_err());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn rename(mut self, mut name: impl FnMut(&Tool) -> String) -> Result<Self, ToolkitError> {
        let set = self.set_mut();
        let renamed: Vec<_> =
            set.entries.iter().map(|entry| with_name_and_id(&entry.tool, name(&entry.tool))).collect();
        set.set_tools(renamed)?;
        Ok(self)
    }
}

fn with_name_and_id(tool: &Tool, name: String) -> Result<Tool, DefinitionError> {
    if tool.is_provider_defined() { tool.with_name(name) } else { tool.with_name(name.clone())?.with_id(name) }
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
