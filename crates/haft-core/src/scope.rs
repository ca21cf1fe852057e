//! What all calls of one run share: services, extensions, the conversation, who asked.
//!
//! One scope is shared by every call that has the same, so that making a call's context copies nothing. It changes only
//! by being copied.

use std::sync::Arc;

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

    /// This scope in front of another: what is here wins.
    pub(crate) fn over(&self, below: &Self) -> Self {
        Self {
            services: self.services.clone().over(below.services.clone()),
            extensions: self.extensions.clone().over(below.extensions.clone()),
            messages: self.messages.clone().or_else(|| below.messages.clone()),
            caller: self.caller.clone().or_else(|| below.caller.clone()),
        }
    }
}
