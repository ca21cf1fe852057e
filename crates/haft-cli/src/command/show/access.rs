//! A tool's permissions, and the rules that require approval for its calls.

use haft::registry::{PermissionExplanation, PermissionOutcome, RegisteredTool};
use serde_json::{Value, json};

use crate::workspace::OpenWorkspace;

/// The rules about one tool.
#[derive(Debug)]
pub(super) struct ToolAccess {
    /// The permissions' explanation; unset without permissions.
    permission: Option<PermissionExplanation>,
    /// The tool's own policy.
    own: OwnPolicy,
    /// The names of the matching approval rules.
    asks: Vec<String>,
}

/// The calls for which a tool itself requires approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnPolicy {
    Never,
    Always,
    Sometimes,
}

impl ToolAccess {
    pub(super) fn new(tool: &RegisteredTool, workspace: &OpenWorkspace) -> Self {
        let permission = workspace.executor.explain(tool);
        // The executor's tool has the approval rules as well; the registry's has only its own policy.
        let own = workspace.executor.registry().find(&format!("/{}", tool.name));
        let own = own.map_or(OwnPolicy::Sometimes, |own| match own.tool.approval() {
            policy if policy.is_never() => OwnPolicy::Never,
            policy if policy.is_always() => OwnPolicy::Always,
            _ => OwnPolicy::Sometimes,
        });
        Self { permission, own, asks: workspace.executor.approval_rules(tool) }
    }

    /// Returns a sentence about who may call the tool.
    pub(super) fn permission_text(&self) -> String {
        match &self.permission {
            None => "everybody may call it: the workspace has no permissions".to_owned(),
            Some(explanation) => explanation.to_string(),
        }
    }

    /// Returns sentences about the calls that require approval.
    pub(super) fn approval_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = match self.own {
            OwnPolicy::Never => Vec::new(),
            OwnPolicy::Always => vec!["the tool itself requires it for every call".to_owned()],
            OwnPolicy::Sometimes => vec!["the tool itself requires it for some calls".to_owned()],
        };
        lines.extend(self.asks.iter().map(|rule| format!("by the rule `{rule}`")));
        if lines.is_empty() {
            lines.push("not required".to_owned());
        }
        lines
    }

    pub(super) fn permission_json(&self) -> Value {
        let Some(PermissionExplanation { outcome, rules, .. }) = &self.permission else {
            return json!({"outcome": "allowed", "rules": []});
        };
        let rules: Vec<&str> = rules.iter().map(haft::registry::PermissionRule::name).collect();
        match outcome {
            PermissionOutcome::Allowed => json!({"outcome": "allowed", "rules": rules}),
            PermissionOutcome::Denied { rule } => json!({"outcome": "denied", "by": rule, "rules": rules}),
            PermissionOutcome::ByArguments { rules: by } => {
                json!({"outcome": "by_arguments", "by": by, "rules": rules})
            }
            _ => json!({"outcome": self.permission_text(), "rules": rules}),
        }
    }

    pub(super) fn approval_json(&self) -> Value {
        let own = match self.own {
            OwnPolicy::Never => "never",
            OwnPolicy::Always => "always",
            OwnPolicy::Sometimes => "sometimes",
        };
        json!({"own": own, "rules": self.asks})
    }
}
