//! The services of the tools of a combined set.
//!
//! A tool keeps the services of the toolkit it was added to, whatever that is combined with: its own services come
//! first, those of the whole set after. Both are stored separately, so the result does not depend on the order in which
//! toolkits are combined. Tools with the same services share one scope.

use std::collections::HashMap;
use std::sync::Arc;

use crate::scope::RunScope;
use crate::service::Services;
use crate::toolkit::ToolSet;

/// The services of one tool in a combined set.
#[derive(Clone)]
pub(super) struct Provision {
    /// The tool's own services.
    own: Arc<RunScope>,
    /// The tool's own services in front of those of the set.
    scope: Arc<RunScope>,
}

impl Provision {
    pub(super) fn scope(&self) -> &Arc<RunScope> {
        &self.scope
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        let Self { own, scope } = self;
        Arc::ptr_eq(own, &other.own) && Arc::ptr_eq(scope, &other.scope)
    }

    fn new(own: Arc<RunScope>, wide: Option<&Arc<RunScope>>) -> Self {
        let scope = match wide {
            Some(wide) if own.services.is_empty() => Arc::clone(wide),
            Some(wide) => over(&own, wide),
            None => Arc::clone(&own),
        };
        Self { own, scope }
    }
}

impl ToolSet {
    /// Adds services in front of those of every tool.
    pub(super) fn serve(&mut self, services: Services) {
        let given = Arc::new(RunScope::of_services(services));
        self.widen(Some(&given));
        self.rebuild_provisions(|own| over(&given, own));
    }

    /// Makes the services of the set those of its tools, before it is combined with others.
    pub(super) fn finish_provisioning(&mut self) {
        let own = self.scope.clone().unwrap_or_default();
        for entry in &mut self.entries {
            entry.provision.get_or_insert_with(|| Provision::new(Arc::clone(&own), None));
        }
    }

    /// Makes everything that the tools find now their own, and leaves nothing for other tools.
    pub(super) fn keep_services(&mut self) {
        self.finish_provisioning();
        self.scope = None;
        for provision in self.entries.iter_mut().filter_map(|entry| entry.provision.as_mut()) {
            provision.own = Arc::clone(&provision.scope);
        }
    }

    /// Adds services in front of those of the set, which its tools fall back to.
    pub(super) fn widen(&mut self, front: Option<&Arc<RunScope>>) {
        self.scope = match (front, self.scope.take()) {
            (Some(front), Some(wide)) => Some(over(front, &wide)),
            (front, wide) => front.cloned().or(wide),
        };
    }

    /// Changes the tools' own services and layers them over those of the set again.
    pub(super) fn rebuild_provisions(&mut self, change: impl Fn(&Arc<RunScope>) -> Arc<RunScope>) {
        let wide = self.scope.as_ref();
        let mut made: HashMap<*const RunScope, (Arc<RunScope>, Provision)> = HashMap::new();
        for provision in self.entries.iter_mut().filter_map(|entry| entry.provision.as_mut()) {
            // The old scope is kept alive during the loop, because its address is the key and must not be reused.
            let (_, anew) = made
                .entry(Arc::as_ptr(&provision.own))
                .or_insert_with(|| (Arc::clone(&provision.own), Provision::new(change(&provision.own), wide)));
            *provision = anew.clone();
        }
    }
}

/// Returns the services of one scope in front of those of another. Scopes of toolkits contain nothing else.
fn over(front: &RunScope, below: &RunScope) -> Arc<RunScope> {
    Arc::new(RunScope::of_services(front.services.clone().over(below.services.clone())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

    use super::*;
    use crate::tool::Tool;
    use crate::toolkit::Toolkit;

    fn kit(names: [&str; 2], service: u8) -> Toolkit {
        let tools = names.map(|name| Tool::new(name).handler(|(), _| async {}).unwrap());
        Toolkit::from_iter(tools).with_services(Services::new().with(service))
    }

    fn scope<'a>(kit: &'a Toolkit, name: &str) -> &'a Arc<RunScope> {
        kit.set.find(name).unwrap().1.unwrap()
    }

    #[test]
    fn tools_with_the_same_services_share_one_scope() {
        let merged = kit(["a", "b"], 1).merge(kit(["c", "d"], 2)).merge(kit(["e", "f"], 3));
        let served = merged.clone().with_services(Services::new().with('x'));
        for kit in [merged, served] {
            for (one, other) in [("a", "b"), ("c", "d"), ("e", "f")] {
                assert!(Arc::ptr_eq(scope(&kit, one), scope(&kit, other)), "{one} {other}");
            }
            assert!(!Arc::ptr_eq(scope(&kit, "a"), scope(&kit, "c")));
        }
    }

    #[test]
    fn tools_without_services_share_the_scope_of_the_set() {
        let bare: Toolkit = Toolkit::from_iter([Tool::signal("bare").define().unwrap()]);
        let merged = bare.merge(kit(["a", "b"], 1));
        assert!(Arc::ptr_eq(scope(&merged, "bare"), merged.set.scope.as_ref().unwrap()));
    }
}
