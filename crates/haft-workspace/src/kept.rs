//! Live sources that outlast a reload.
//!
//! A server keeps what it knows in its memory, so it should not be started again because another entry of the file has
//! changed. A kind builds a new source for every load, which has started nothing yet. If the same entry of the earlier
//! load has a source that was built from exactly the same, that one is used instead.

use std::collections::HashMap;
use std::sync::Arc;

use haft_registry::LiveSource;

use super::loaded::Loaded;
use super::source::FileDigest;

/// The live sources of an earlier load, by everything that they were built from.
#[derive(Debug, Default)]
pub(crate) struct KeptSources(HashMap<FileDigest, Arc<dyn LiveSource>>);

impl KeptSources {
    /// Takes the sources of an earlier load, unless it was closed. Nothing of an untrusted file is kept.
    pub(crate) fn of(earlier: &Loaded) -> Self {
        if earlier.is_closed() {
            return Self::default();
        }
        let sources = earlier.entries.iter().filter(|entry| !entry.is_left_out);
        Self(sources.filter_map(|entry| Some((entry.built_from?, Arc::clone(entry.live.as_ref()?)))).collect())
    }

    pub(crate) fn get(&self, built_from: &FileDigest) -> Option<&Arc<dyn LiveSource>> {
        self.0.get(built_from)
    }
}
