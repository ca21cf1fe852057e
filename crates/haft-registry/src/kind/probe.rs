//! A kind's own check of an entry.

use std::fmt;
use std::sync::Arc;

use super::error::EntryFault;

/// A check of an entry beyond its [reach](super::Reach), for people who ask whether its tools will work: `haft check`
/// looks for the programs and hosts itself.
///
/// ```
/// use haft_registry::{EntryFault, Probe};
///
/// let stored = std::path::PathBuf::from("missing.lock");
/// let probe = Probe::new(move || match stored.try_exists() {
///     Ok(true) => Vec::new(),
///     _ => vec![EntryFault::at("", "its tools are not listed yet; run `refresh`")],
/// });
/// assert_eq!(probe.faults().len(), 1);
/// ```
#[derive(Clone)]
pub struct Probe(Arc<dyn Fn() -> Vec<EntryFault> + Send + Sync>);

impl Probe {
    /// Creates a probe. It may read files. It starts nothing, contacts nobody and reads no secret.
    pub fn new(probe: impl Fn() -> Vec<EntryFault> + Send + Sync + 'static) -> Self {
        Self(Arc::new(probe))
    }

    /// Returns what may be wrong, each fault at its setting.
    #[must_use]
    pub fn faults(&self) -> Vec<EntryFault> {
        (self.0)()
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").finish_non_exhaustive()
    }
}
