//! The report on a request that can't be sent as it is.

use haft_wire::{Dropped, Finding, WireRequest};

/// The parts of a request that a provider receives in another form, or not at all.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RequestReport<'r> {
    /// The provider.
    pub provider: &'r str,
    /// The findings about the tools. They are the same for every request with the same tools.
    pub tools: &'r [Finding],
    /// The parts of the history and the settings that are left out.
    pub dropped: &'r [Dropped],
}

impl<'r> RequestReport<'r> {
    pub(super) fn new(provider: &'r str, sent: &'r WireRequest) -> Self {
        Self { provider, tools: sent.context.tools.findings(), dropped: &sent.dropped }
    }
}
