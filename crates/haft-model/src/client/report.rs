//! The report on a request that can't be sent as it is.

use std::fmt;

use haft_wire::{Dropped, Finding, RequestWarning, WireRequest};

/// The parts of a request that a provider receives in another form, or not at all.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RequestReport<'r> {
    /// The provider.
    pub provider: &'r str,
    /// The findings about the tools. Empty if they are those of the request before.
    pub tools: &'r [Finding],
    /// The parts of the history and the settings that are left out.
    pub dropped: &'r [Dropped],
    /// The parts of the request that are sent, and that the model is not known to support.
    pub warnings: &'r [RequestWarning],
}

impl<'r> RequestReport<'r> {
    pub(super) fn new(provider: &'r str, sent: &'r WireRequest) -> Self {
        Self { provider, tools: sent.context.tools.findings(), dropped: &sent.dropped, warnings: &sent.warnings }
    }

    /// Reports whether there is nothing to report: the request is sent as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.dropped.is_empty() && self.warnings.is_empty()
    }
}

/// One line for each finding, each part that is left out and each warning.
impl fmt::Display for RequestReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, tools, dropped, warnings } = self;
        let tools = tools.iter().map(|finding| format!("{provider}: tool {finding}"));
        let dropped = dropped.iter().map(|dropped| format!("{provider}: left out: {dropped}"));
        let warnings = warnings.iter().map(|warning| format!("{provider}: warning: {warning}"));
        f.write_str(&tools.chain(dropped).chain(warnings).collect::<Vec<_>>().join("\n"))
    }
}
