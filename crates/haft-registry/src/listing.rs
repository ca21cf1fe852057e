//! A registry tool, with its origin and what it hides.

use haft_executor::Tool;

use crate::name::{FullName, ToolOrigin};

/// A registry tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RegisteredTool {
    /// The full name.
    pub name: FullName,
    /// The tool, under its full name.
    pub tool: Tool,
    /// True if the tool is found by its simple name alone.
    pub exported: bool,
    /// The tools that this tool's shorter names would otherwise mean.
    pub hides: Vec<FullName>,
    /// The tools that this tool's shorter names mean instead.
    pub hidden_by: Vec<FullName>,
}

impl RegisteredTool {
    /// Returns the place that the tool comes from.
    #[must_use]
    pub fn origin(&self) -> &ToolOrigin {
        self.name.origin()
    }

    /// Reports whether this tool's full name finds another tool. Then models do not see this one, and you run it by
    /// writing its name with a leading slash.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        *self.origin() == ToolOrigin::Internal && !self.hidden_by.is_empty()
    }
}
