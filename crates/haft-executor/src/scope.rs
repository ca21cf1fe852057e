//! The values that all calls of one run share: services, extensions, the conversation and the caller.
//!
//! Calls with the same values share one scope, so creating the context of a call copies nothing. A scope is immutable;
//! a change creates a copy.

use std::sync::Arc;

use haft_core::Caller;
use haft_core::history::History;

use crate::service::Services;

/// The values that the calls of a run share.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunScope {
    pub(crate) services: Services,
    pub(crate) extensions: Services,
    pub(crate) messages: Option<History>,
    pub(crate) caller: Option<Caller>,
}

impl RunScope {
    /// Creates a scope with services only.
    pub(crate) fn of_services(services: Services) -> Self {
        Self { services, ..Self::default() }
    }

    /// Layers the scope of a run over that of a toolkit: values of the run come first. Copies nothing if only one of
    /// them exists.
    pub(crate) fn layered(run: Option<&Arc<Self>>, kit: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        let (Some(run), Some(kit)) = (run, kit) else { return run.or(kit).cloned() };
        Some(run.in_front_of(kit))
    }

    /// Combines the scope of a run with a narrower one, whose values are used where both have one.
    pub(crate) fn merge(&self, narrower: &Self) -> Self {
        let Self { services, extensions, messages, caller } = narrower.clone();
        Self {
            services: services.over(self.services.clone()),
            extensions: extensions.over(self.extensions.clone()),
            messages: messages.or_else(|| self.messages.clone()),
            caller: caller.or_else(|| self.caller.clone()),
        }
    }

    pub(crate) fn in_front_of(&self, kit: &Self) -> Arc<Self> {
        let services = self.services.clone().over(kit.services.clone());
        Arc::new(Self { services, ..self.clone() })
    }
}
