//! A source whose tools are derived from those of another one.

use std::collections::{HashMap, HashSet};
use std::fmt;

use haft_schema::isolation::{Isolated, isolated};

use super::cache::SnapshotCache;
use super::{Changed, Snapshot, SourceFault, ToolSource};
use crate::handler::BoxError;
use crate::middleware::{Layer, Middleware};
use crate::tool::Tool;
use crate::toolkit::{NamespaceError, NamespaceFault, Toolkit, ToolkitFault};

/// A source that is derived from another one, with its generation. The tools are derived once for each generation. See
/// [`ToolSource::namespaced`], [`filtered`](ToolSource::filtered), [`adapted`](ToolSource::adapted),
/// [`wrapped`](ToolSource::wrapped) and [`mapped`](ToolSource::mapped).
pub struct Mapped<S> {
    source: S,
    derive: Box<DeriveFn>,
    cache: SnapshotCache,
}

/// A function that derives a toolkit, and reports the tools that it leaves out.
type DeriveFn = dyn Fn(Toolkit) -> (Toolkit, Vec<SourceFault>) + Send + Sync;

impl<S> Mapped<S> {
    pub(super) fn new(source: S, map: impl Fn(Toolkit) -> Toolkit + Send + Sync + 'static) -> Self {
        let map = Isolated::new(map);
        Self::deriving(source, move |kit| (map(kit), Vec::new()))
    }

    pub(super) fn namespaced(source: S, prefix: String) -> Result<Self, NamespaceError> {
        // Faults of the prefix do not depend on the tools.
        let _checked: Toolkit = Toolkit::new().namespace(&prefix)?;
        Ok(Self::deriving(source, move |kit| in_namespace(kit, &prefix)))
    }

    pub(super) fn filtered(source: S, keep: impl Fn(&Tool) -> bool + Send + Sync + 'static) -> Self {
        let keep = Isolated::new(keep);
        Self::deriving(source, move |kit| {
            let mut faults = Vec::new();
            let kept = kit.filter(|tool| {
                let kept = isolated(|| keep(tool));
                kept.unwrap_or_else(|panicked| {
                    faults.push(SourceFault::new(tool.name(), panicked));
                    false
                })
            });
            (kept, faults)
        })
    }

    pub(super) fn adapted(source: S, adapt: impl Fn(&Tool) -> Result<Tool, BoxError> + Send + Sync + 'static) -> Self {
        let adapt = Isolated::new(adapt);
        Self::deriving(source, move |kit| {
            let (mut faults, mut adapted, mut names) = (Vec::new(), Vec::new(), HashSet::new());
            let mut take = |tool: &Tool| -> Result<Tool, BoxError> {
                let tool = isolated(|| adapt(tool))??;
                if !names.insert(tool.name().to_owned()) {
                    return Err(ToolkitFault::DuplicateName { name: tool.name().to_owned() }.into());
                }
                Ok(tool)
            };
            let kept = kit.filter(|tool| match take(tool) {
                Ok(tool) => {
                    adapted.push(tool);
                    true
                }
                Err(cause) => {
                    faults.push(SourceFault::new(tool.name(), cause));
                    false
                }
            });
            let mut adapted = adapted.into_iter();
            // There is one tool for each that was kept, and no two have the same name.
            let kit = kept.map(|tool| Ok(adapted.next().unwrap_or_else(|| tool.clone())));
            (kit.unwrap_or_default(), faults)
        })
    }

    pub(super) fn wrapped<M: Middleware>(source: S, middleware: M) -> Self {
        let layer = Layer::new(middleware);
        Self::deriving(source, move |kit| (kit.wrap_in(&layer), Vec::new()))
    }

    fn deriving(source: S, derive: impl Fn(Toolkit) -> (Toolkit, Vec<SourceFault>) + Send + Sync + 'static) -> Self {
        Self { source, derive: Box::new(derive), cache: SnapshotCache::default() }
    }

    /// Returns the source that this one is derived from.
    pub fn source(&self) -> &S {
        &self.source
    }
}

/// Puts a toolkit in a namespace whose prefix is valid. Tools whose names become too long are left out.
fn in_namespace(kit: Toolkit, prefix: &str) -> (Toolkit, Vec<SourceFault>) {
    let error = match kit.clone().namespace(prefix) {
        Ok(kit) => return (kit, Vec::new()),
        Err(error) => error,
    };
    let too_long = error.faults.into_iter().filter_map(|fault| match &fault {
        NamespaceFault::Tool { tool, .. } => Some((tool.clone(), fault)),
        _ => None,
    });
    let mut too_long: HashMap<String, NamespaceFault> = too_long.collect();
    let mut faults = Vec::new();
    let fitting = kit.filter(|tool| match too_long.remove(tool.name()) {
        Some(fault) => {
            faults.push(SourceFault::new(tool.name(), fault));
            false
        }
        None => true,
    });
    // A fault of anything but the names that were left out would be one of the prefix, which was checked.
    (fitting.namespace(prefix).unwrap_or_default(), faults)
}

impl<S: ToolSource> ToolSource for Mapped<S> {
    fn snapshot(&self) -> Snapshot {
        let input = self.source.snapshot();
        self.cache.get_or_derive(input.generation, || {
            let Snapshot { kit, generation, faults } = input;
            let (kit, left_out) = (self.derive)(kit);
            Snapshot { kit, generation, faults }.with_faults(left_out)
        })
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        self.source.changed(after)
    }
}

impl<S: fmt::Debug> fmt::Debug for Mapped<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").field("source", &self.source).finish_non_exhaustive()
    }
}
