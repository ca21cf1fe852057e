//! Permissions: which tools may be called, and with which arguments.
use crate::name::FullName;
use haft_core::*;
#[derive(Clone, Debug)]
pub struct Permissions;
#[derive(Clone, Debug, Default)]
pub struct AskRules;
impl Permissions {
    pub fn unrestricted() -> Self {
        Self
    }
    pub fn permit_for(&self, _: &FullName, _: &Tool) -> impl Permit {
        |_: &Tool, _: &ToolCall, _: &Cx| Permission::Allowed
    }
}
impl AskRules {
    pub fn policy_for(&self, _: &FullName, _: &Tool) -> Option<ApprovalPolicy> {
        None
    }
}
