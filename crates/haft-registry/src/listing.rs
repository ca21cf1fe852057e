//! A tool of a registry, with where it comes from and what it hides.

use haft_core::Tool;

use crate::name::{FullName, ToolOrigin};

/// A tool of a registry.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RegisteredTool {
    /// The full name.
    pub name: FullName,
    /// The tool, under its full name.
    pub tool: Tool,
    /// True if the tool is found by its simple name alone.
    pub exported: bool,
    /// The tools that a shorter name of this one would otherwise mean.
    pub hides: Vec<FullName>,
    /// The tools that a shorter name of this one means instead.
    pub hidden_by: Vec<FullName>,
}

impl RegisteredTool {
    /// Returns the place that the tool comes from.
    #[must_use]
    pub fn origin(&self) -> &ToolOrigin {
        self.name.origin()
    }

    /// Reports whether another tool is found by the full name of this one. Models do not see it, and it is run only
    /// when its name is written with a slash at the start.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        *self.origin() == ToolOrigin::Internal && !self.hidden_by.is_empty()
    }
}
