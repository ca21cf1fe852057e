//! The operations on a toolkit that a live source consists of.

use std::sync::Arc;

use crate::tool::Tool;
use crate::toolkit::provision::Provision;
use crate::toolkit::{ToolEntry, ToolSet, Toolkit};

impl Toolkit {
    /// Adds a tool in place of the one with the same name, with the services of that, and returns the replaced tool. An
    /// identical tool changes nothing.
    pub(crate) fn with_replaced(mut self, tool: Tool) -> (Self, Option<Tool>) {
        let Some(place) = self.set.index_of(tool.name()) else {
            let set = self.set_mut();
            set.index.insert(tool.shared_name().clone(), set.entries.len());
            set.entries.push(ToolEntry { tool, provision: None });
            return (self, None);
        };
        let old = self.set.entries[place].tool.clone();
        if !old.is_same(&tool) {
            self.set_mut().entries[place].tool = tool;
        }
        (self, Some(old))
    }

    /// Reports whether two toolkits have the same tools with the same services, in the same order. A definition or a
    /// service that was built again is another one.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.set, &other.set) || self.set.is_same(&other.set)
    }
}

impl ToolSet {
    fn is_same(&self, other: &Self) -> bool {
        let Self {
            entries,
            // These are computed from the entries.
            index: _,
            problems: _,
            types: _,
            scope,
            faults,
            shadowed,
            label,
            namespace,
        } = self;
        let is_same_scope = match (scope, &other.scope) {
            (Some(scope), Some(other)) => Arc::ptr_eq(scope, other),
            (scope, other) => scope.is_none() && other.is_none(),
        };
        is_same_scope
            && entries.len() == other.entries.len()
            && entries.iter().zip(&other.entries).all(|(entry, other)| entry.is_same(other))
            // Faults can't be compared. Toolkits that have some are not worth it.
            && faults.is_empty()
            && other.faults.is_empty()
            && shadowed.is_same(&other.shadowed)
            && (label, namespace) == (&other.label, &other.namespace)
    }
}

impl ToolEntry {
    fn is_same(&self, other: &Self) -> bool {
        let Self { tool, provision } = self;
        let is_same_provision = match (provision, &other.provision) {
            (Some(provision), Some(other)) => Provision::is_same(provision, other),
            (provision, other) => provision.is_none() && other.is_none(),
        };
        is_same_provision && tool.is_same(&other.tool)
    }
}
