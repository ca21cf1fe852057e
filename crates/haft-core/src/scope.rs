//! What all calls of one run share: services, extensions, the conversation, who asked.
//!
//! One scope is shared by every call that has the same, so that making a call's context copies nothing. It changes only
//! by being copied.

use std::sync::{Arc, OnceLock};

use crate::cx::Caller;
use crate::item::Item;
use crate::service::Services;

/// What the calls of a run share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) services: Services,
    pub(crate) extensions: Services,
    pub(crate) messages: Option<Arc<[Item]>>,
    pub(crate) caller: Option<Caller>,
}

impl Scope {
    /// A scope with these services alone.
    pub(crate) fn of_services(services: Services) -> Self {
        Self { services, ..Self::default() }
    }

    /// A run's scope in front of a toolkit's: what the run has wins. Copies nothing where only one of them is there.
    pub(crate) fn layered(run: Option<&Arc<Self>>, kit: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        let (Some(run), Some(kit)) = (run, kit) else { return run.or(kit).cloned() };
        Some(run.in_front_of(kit))
    }

    fn in_front_of(&self, kit: &Self) -> Arc<Self> {
        let services = self.services.clone().over(kit.services.clone());
        Arc::new(Self { services, ..self.clone() })
    }
}

/// The scope of one run in front of those of its tools, each made when a call first looks for something in it. Toolkits
/// that were put together have a few between them.
#[derive(Default)]
pub(crate) struct Layering(OnceLock<Box<Layer>>);

struct Layer {
    kit: Arc<Scope>,
    both: Arc<Scope>,
    further: Layering,
}

impl Layering {
    /// `run` in front of `kit`. To be asked with one and the same `run`.
    pub(crate) fn of(&self, run: &Scope, kit: &Arc<Scope>) -> &Arc<Scope> {
        let mut layering = self;
        loop {
            let layer = layering.0.get_or_init(|| {
                let (kit, both) = (Arc::clone(kit), run.in_front_of(kit));
                Box::new(Layer { kit, both, further: Self::default() })
            });
            if Arc::ptr_eq(&layer.kit, kit) {
                return &layer.both;
            }
            layering = &layer.further;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_toolkit_is_layered_once() {
        let run = Scope { caller: Some("ana".into()), ..Scope::of_services(Services::new().with('r')) };
        let kits = [1_u8, 2, 3].map(|kit| Arc::new(Scope::of_services(Services::new().with(kit).with('k'))));
        let layering = Layering::default();
        for kit in kits.iter().chain(&kits) {
            let both = layering.of(&run, kit);
            assert_eq!(both.services.get::<u8>().unwrap(), kit.services.get::<u8>().unwrap());
            assert_eq!(both.services.get::<char>().unwrap(), &'r');
            assert_eq!(both.caller, run.caller);
            assert!(Arc::ptr_eq(both, layering.of(&run, kit)));
        }
    }
}
