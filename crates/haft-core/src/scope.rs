//! What all calls of one run share: services, extensions, the conversation, who asked.
//!
//! One scope is shared by every call that has the same, so that making a call's context copies nothing. It changes only
//! by being copied.

use std::sync::Arc;

use crate::cx::Caller;
use crate::history::History;
use crate::service::Services;

/// What the calls of a run share.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunScope {
    pub(crate) services: Services,
    pub(crate) extensions: Services,
    pub(crate) messages: Option<History>,
    pub(crate) caller: Option<Caller>,
}

impl RunScope {
    /// A scope with these services alone.
    pub(crate) fn of_services(services: Services) -> Self {
        Self { services, ..Self::default() }
    }

    /// A run's scope in front of a toolkit's: what the run has wins. Copies nothing where only one of them is there.
    pub(crate) fn layered(run: Option<&Arc<Self>>, kit: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        let (Some(run), Some(kit)) = (run, kit) else { return run.or(kit).cloned() };
        Some(run.in_front_of(kit))
    }

    pub(crate) fn in_front_of(&self, kit: &Self) -> Arc<Self> {
        let services = self.services.clone().over(kit.services.clone());
        Arc::new(Self { services, ..self.clone() })
    }
}
