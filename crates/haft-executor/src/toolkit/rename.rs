//! Renaming all tools of a toolkit.

use crate::tool::{DefinitionError, Tool};
use crate::toolkit::{Toolkit, ToolkitError};

impl<S> Toolkit<S> {
    /// Renames every tool, and gives it its new name as the id unless a provider defines it. The tools keep their order,
    /// services and middleware. An error lists all names that are invalid or that two tools would share.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
    /// let kit: Toolkit = Toolkit::from_iter([tool("read")?, tool("write")?]);
    /// let renamed = kit.clone().rename(|tool| format!("acme/files/{}", tool.name()))?;
    /// assert_eq!(renamed.names().collect::<Vec<_>>(), ["acme/files/read", "acme/files/write"]);
    /// assert!(kit.rename(|_| "same".to_owned()).is_err());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn rename(self, mut name: impl FnMut(&Tool) -> String) -> Result<Self, ToolkitError> {
        self.map(|tool| with_name_and_id(tool, name(tool)))
    }
}

fn with_name_and_id(tool: &Tool, name: String) -> Result<Tool, DefinitionError> {
    if tool.is_provider_defined() { tool.with_name(name) } else { tool.with_name(name.clone())?.with_id(name) }
}
