//! What the tools of a set were provided with.
//!
//! A tool keeps the services of the toolkit it came with, whatever that toolkit is put together with: what it brought
//! along stands in front, and what the whole set has comes after. Both are kept apart, so that it makes no difference
//! in which steps toolkits were put together. Tools that brought the same share one scope.

use std::collections::HashMap;
use std::sync::Arc;

use crate::scope::RunScope;
use crate::service::Services;
use crate::toolkit::ToolSet;

/// What one tool was provided with, in a set that was put together.
#[derive(Clone)]
pub(super) struct Provision {
    /// What it brought along.
    own: Arc<RunScope>,
    /// What it brought along, in front of what the set has.
    scope: Arc<RunScope>,
}

impl Provision {
    pub(super) fn scope(&self) -> &Arc<RunScope> {
        &self.scope
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
    /// Puts services in front of those that every tool has.
    pub(super) fn serve(&mut self, services: Services) {
        let given = Arc::new(RunScope::of_services(services));
        self.widen(Some(&given));
        self.rebuild_provisions(|own| over(&given, own));
    }

    /// Makes what the set has its tools' own, before it is put together with others.
    pub(super) fn finish_provisioning(&mut self) {
        let own = self.scope.clone().unwrap_or_default();
        for entry in &mut self.entries {
            entry.provision.get_or_insert_with(|| Provision::new(Arc::clone(&own), None));
        }
    }

    /// Puts something in front of what the set has, for its tools to fall back on.
    pub(super) fn widen(&mut self, front: Option<&Arc<RunScope>>) {
        self.scope = match (front, self.scope.take()) {
            (Some(front), Some(wide)) => Some(over(front, &wide)),
            (front, wide) => front.cloned().or(wide),
        };
    }

    /// Joins anew what tools brought along, after a change, with what the set has now.
    pub(super) fn rebuild_provisions(&mut self, change: impl Fn(&Arc<RunScope>) -> Arc<RunScope>) {
        let wide = self.scope.as_ref();
        let mut made: HashMap<*const RunScope, (Arc<RunScope>, Provision)> = HashMap::new();
        for provision in self.entries.iter_mut().filter_map(|entry| entry.provision.as_mut()) {
            // The old scope is kept meanwhile: its address must not become another's.
            let (_, anew) = made
                .entry(Arc::as_ptr(&provision.own))
                .or_insert_with(|| (Arc::clone(&provision.own), Provision::new(change(&provision.own), wide)));
            *provision = anew.clone();
        }
    }
}

/// One scope's services in front of another's; the scopes of toolkits hold nothing else.
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
        let tools = names.map(|name| Tool::new(name).run(|(), _| async {}).unwrap());
        Toolkit::from_iter(tools).with_services(Services::new().with(service))
    }

    fn scope<'a>(kit: &'a Toolkit, name: &str) -> &'a Arc<RunScope> {
        kit.set.find(name).unwrap().1.unwrap()
    }

    #[test]
    fn tools_that_brought_the_same_share_one_scope() {
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
    fn tools_that_brought_nothing_share_what_the_set_has() {
        let bare: Toolkit = Toolkit::from_iter([Tool::signal("bare").define().unwrap()]);
        let merged = bare.merge(kit(["a", "b"], 1));
        assert!(Arc::ptr_eq(scope(&merged, "bare"), merged.set.scope.as_ref().unwrap()));
    }
}
