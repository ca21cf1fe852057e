//! Permissions of one run, beside those that its tools carry.

use haft_core::{Caller, ToolCall};
use haft_executor::{CallArguments, Cx, Permission, Permit, Permitting, Tool};

use super::Permissions;
use super::permit::ToolPermit;
use crate::name::FullName;

/// Permissions as a permit of a run: see [`Permissions::for_run`].
#[derive(Clone, Debug)]
pub struct RunPermit(Permissions);

impl RunPermit {
    pub(super) fn new(permissions: Permissions) -> Self {
        Self(permissions)
    }

    /// Returns the tool's permit; `None` for a tool that has no full name, which no rule can be about.
    fn of(&self, tool: &Tool) -> Option<ToolPermit> {
        let name: FullName = tool.name().parse().ok()?;
        Some(ToolPermit::new([&self.0], &name, tool))
    }
}

impl Permit for RunPermit {
    fn permit(&self, tool: &Tool, call: &ToolCall, cx: &Cx) -> Permitting {
        match self.of(tool) {
            Some(permit) => permit.permit(tool, call, cx),
            None => Permission::denied("this tool is not permitted").into(),
        }
    }

    fn permits_arguments(&self, tool: &Tool, call: &ToolCall, arguments: &CallArguments<'_>, cx: &Cx) -> Permitting {
        match self.of(tool) {
            Some(permit) => permit.permits_arguments(tool, call, arguments, cx),
            None => Permission::denied("this tool is not permitted").into(),
        }
    }

    fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
        self.of(tool).is_some_and(|permit| permit.sees(tool, caller))
    }
}
