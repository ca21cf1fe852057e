//! The report on a request that can't be sent as it is.

use std::cmp::Reverse;
use std::fmt;

use haft_wire::{Dropped, Finding, RequestWarning, Severity, WireRequest};

/// The parts of a request that a provider receives in another form, or not at all.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RequestReport<'r> {
    /// The provider.
    pub provider: &'r str,
    /// The findings about the tools, the worst first. Empty if they are those of the request before.
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

    /// Returns the severity of the worst entry, or `None` if there is none. What is left out of a request is a loss.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.entries().first().map(|(severity, _)| *severity)
    }

    /// Returns every entry with its severity, the worst first. Of equal ones, what is left out comes first.
    fn entries(&self) -> Vec<(Severity, String)> {
        let dropped = self.dropped.iter().map(|dropped| (Severity::Loss, format!("left out: {dropped}")));
        let tools = self.tools.iter().map(|finding| {
            let severity = finding.severity();
            (severity, format!("{severity}: tool {finding}"))
        });
        let warnings = self.warnings.iter().map(|warning| (Severity::Warning, format!("warning: {warning}")));
        let mut entries: Vec<_> = dropped.chain(tools).chain(warnings).collect();
        entries.sort_by_key(|(severity, _)| Reverse(*severity));
        entries
    }
}

/// One line for each finding, each part that is left out and each warning, the worst first.
impl fmt::Display for RequestReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.entries().into_iter().map(|(_, entry)| format!("{}: {entry}", self.provider));
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}
