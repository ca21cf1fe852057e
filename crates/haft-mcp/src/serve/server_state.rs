//! Everything that the connections of a server share.

use std::sync::Arc;
use std::time::Duration;

use haft_core::ToolFailure;
use haft_executor::{RunOptions, ToolSource};
use rmcp::model::ServerConfig;

use super::access::CallerAccess;
use super::approvers::AnyApprovers;
use super::beside::Beside;
use super::lifecycle::Lifecycle;
use super::limit::{InFlight, ServeLimits, Turnstile};
use super::listing::{ServedTools, ToolCache};
use super::parked::ParkedCalls;
use super::state::Seal;

/// A server.
pub(super) struct ServerState {
    pub(super) source: Arc<dyn ToolSource>,
    pub(super) options: RunOptions,
    pub(super) config: ServerConfig,
    pub(super) beside: Arc<dyn Beside>,
    pub(super) approvers: Option<Arc<dyn AnyApprovers>>,
    pub(super) limits: ServeLimits,
    pub(super) page_size: usize,
    pub(super) ttl: Duration,
    /// True if callers are told apart, so that lists may differ.
    pub(super) has_callers: bool,
    pub(super) cache: ToolCache,
    pub(super) calls: Turnstile,
    /// Sessions and subscriptions.
    pub(super) streams: Turnstile,
    pub(super) parked: Arc<ParkedCalls>,
    pub(super) seal: Seal,
    pub(super) lifecycle: Arc<Lifecycle>,
}

impl ServerState {
    /// Returns the current tools.
    pub(super) fn tools(&self) -> Arc<ServedTools> {
        self.cache.current(&*self.source, &self.options)
    }

    /// Returns the options of a caller's calls.
    pub(super) fn options_of(&self, access: &CallerAccess) -> RunOptions {
        self.options.clone().merge(access.run_options())
    }

    /// Lets a call in.
    pub(super) fn admit(&self, access: &CallerAccess) -> Result<InFlight, ToolFailure> {
        let (in_flight, per_minute) = access.limits();
        let most = in_flight.unwrap_or(self.limits.in_flight_per_caller);
        self.calls.enter(access.caller(), most, per_minute.or(self.limits.per_minute))
    }

    /// Lets a session or a subscription in.
    pub(super) fn admit_stream(&self, access: &CallerAccess) -> Result<InFlight, ToolFailure> {
        self.streams.enter(access.caller(), self.limits.sessions_per_caller, None)
    }
}
