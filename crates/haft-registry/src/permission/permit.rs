//! One tool's permit.
//!
//! It knows its tool's canonical full name and what its own permissions decide about it, so a call costs one comparison
//! unless expressions remain. The permissions from the scope around a call are matched when first met, and the result
//! is kept for the next calls.

use std::sync::{Arc, Mutex, PoisonError};

use haft_core::{Annotations, Caller, ToolCall};
use haft_executor::{CallArguments, Cx, Permission, Permit, Permitting, Tool};

use super::ambient::AmbientPermissions;
use super::expression::ExpressionInput;
use super::rule::PermissionRule;
use super::verdict::ArgumentDenial;
use super::verdict::Verdict;
use super::{PermissionTable, Permissions, Visibility};
use crate::name::FullName;

/// The reason for a denial whatever the arguments. It contains nothing about the rules.
const NOT_PERMITTED: &str = "this tool is not permitted";

/// The reason for a denial because of the arguments.
const ARGUMENTS_NOT_PERMITTED: &str = "this tool is not permitted with these arguments";

/// The number of scope permissions whose decisions are kept.
const KEPT: usize = 4;

/// One tool's permit. See [`Permissions::permit_for`].
#[derive(Debug)]
pub struct ToolPermit {
    name: FullName,
    annotations: Annotations,
    /// The decisions by the permit's own permissions, without those that allow every call.
    own: Box<[Arc<Judgement>]>,
    /// The decisions by scope permissions, the most recent last. The entry holds the permissions, so that another value
    /// never takes over their address.
    ambient: Mutex<Vec<(Permissions, Arc<Judgement>)>>,
}

/// The permissions' decision about one tool.
#[derive(Debug)]
struct Judgement {
    verdict: Verdict,
    visibility: Visibility,
    /// The name for a missing rule, for a denial that no rule causes.
    default_rule: Box<str>,
}

/// A permit without argument rules: it decides about arguments by default.
struct NoArgumentRules;

impl ToolPermit {
    /// Creates a tool's permit from permissions that must all allow a call.
    pub(crate) fn new<'p>(
        permissions: impl IntoIterator<Item = &'p Permissions>,
        name: &FullName,
        tool: &Tool,
    ) -> Self {
        let annotations = tool.annotations().clone();
        let judgements = permissions.into_iter().map(|permissions| Judgement::new(permissions, name, &annotations));
        let own = judgements.filter(|judgement| !matches!(judgement.verdict, Verdict::Allowed)).map(Arc::new).collect();
        Self { name: name.clone(), annotations, own, ambient: Mutex::default() }
    }

    /// Returns the tool's full name.
    #[must_use]
    pub fn name(&self) -> &FullName {
        &self.name
    }

    /// Returns the decisions that apply to a call made now: the permit's own and the current scopes'.
    fn judgements(&self) -> impl Iterator<Item = Arc<Judgement>> {
        let ambient = AmbientPermissions::current();
        let outer: Vec<_> = ambient.iter().map(|permissions| self.judgement(permissions)).collect();
        self.own.iter().map(Arc::clone).chain(outer)
    }

    /// Returns the decision by a scope's permissions.
    fn judgement(&self, permissions: &Permissions) -> Arc<Judgement> {
        // A panic in between can't leave a wrong decision behind.
        let mut kept = self.ambient.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, judgement)) = kept.iter().find(|(known, _)| known.is_same(permissions)) {
            return Arc::clone(judgement);
        }
        let judgement = Arc::new(Judgement::new(permissions, &self.name, &self.annotations));
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((permissions.clone(), Arc::clone(&judgement)));
        judgement
    }
}

impl Permit for ToolPermit {
    fn permit(&self, _: &Tool, call: &ToolCall, _: &Cx) -> Permitting {
        let denied = self.judgements().find_map(|judgement| judgement.denies(call));
        denied.unwrap_or(Permission::Allowed).into()
    }

    fn permits_arguments(&self, tool: &Tool, call: &ToolCall, arguments: &CallArguments<'_>, cx: &Cx) -> Permitting {
        let mut is_decided = false;
        for judgement in self.judgements() {
            let rules = match &judgement.verdict {
                Verdict::Allowed => continue,
                // The call was denied before, unless another scope was current then.
                Verdict::Denied(_) => {
                    return judgement.denies(call).unwrap_or(Permission::denied(NOT_PERMITTED)).into();
                }
                Verdict::ByArguments(rules) => rules,
            };
            is_decided = true;
            let decided = match arguments.tree() {
                Ok(tree) => {
                    let name = self.name.to_string();
                    let input = ExpressionInput::new(tree).tool(&name).caller(cx.caller().map(Caller::as_str));
                    rules.decide(&input.groups(cx.extension()))
                }
                Err(error) => Err(ArgumentDenial { rule: rules.names(), detail: Some(error.to_string()) }),
            };
            if let Err(ArgumentDenial { rule, detail }) = decided {
                let denied = Permission::denied(ARGUMENTS_NOT_PERMITTED).by_rule(rule);
                return detail.into_iter().fold(denied, Permission::detail).into();
            }
        }
        if is_decided {
            Permission::Allowed.into()
        } else {
            NoArgumentRules.permits_arguments(tool, call, arguments, cx)
        }
    }

    fn sees(&self, _: &Tool, _: Option<&Caller>) -> bool {
        !self.judgements().any(|judgement| judgement.hides())
    }
}

impl Judgement {
    fn new(permissions: &Permissions, name: &FullName, annotations: &Annotations) -> Self {
        let PermissionTable { visibility, default_rule, .. } = &*permissions.0;
        let verdict = permissions.verdict(name, annotations);
        Self { verdict, visibility: *visibility, default_rule: default_rule.clone() }
    }

    /// Returns the denial for a call whose arguments are not known yet.
    fn denies(&self, call: &ToolCall) -> Option<Permission> {
        match &self.verdict {
            Verdict::Denied(rule) => {
                let rule = rule.as_ref().map_or(&*self.default_rule, PermissionRule::name);
                Some(Permission::denied(NOT_PERMITTED).by_rule(rule))
            }
            // If the provider executes a call, its arguments are never checked, so they are never allowed.
            Verdict::ByArguments(rules) if call.provider_executed => {
                Some(Permission::denied(NOT_PERMITTED).by_rule(rules.names()))
            }
            Verdict::Allowed | Verdict::ByArguments(_) => None,
        }
    }

    /// Reports whether the tool is hidden from everybody.
    fn hides(&self) -> bool {
        match self.visibility {
            Visibility::Shown => false,
            Visibility::Hidden => matches!(self.verdict, Verdict::Denied(_)),
        }
    }
}

impl Permit for NoArgumentRules {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }
}
