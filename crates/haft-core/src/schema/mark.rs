//! The members and items of one value that some keyword has evaluated, for the keywords about those that none has.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::document::Instance;
use super::node::NodeId;

/// The parts of one array or object that were evaluated.
#[derive(Debug, Default)]
pub(super) struct Marks {
    all: bool,
    /// A bit for each member or item, in order.
    bits: Vec<u64>,
    /// The nodes that have marked what they evaluate, of those that may be asked again.
    nodes: HashSet<NodeId, RandomState>,
}

impl Marks {
    /// The memory of one entered node, in bytes.
    pub(super) const BYTES_PER_NODE: usize = 8;

    /// Creates marks for a value, none of its parts evaluated.
    pub(super) fn new(parts: usize) -> Self {
        Self { all: false, bits: vec![0; parts.div_ceil(64)], nodes: HashSet::default() }
    }

    /// Returns how many bytes the marks of so many parts take.
    pub(super) fn bytes(parts: usize) -> usize {
        parts.div_ceil(64) * 8
    }

    /// Enters a node; `false` if it was entered before.
    pub(super) fn enter(&mut self, node: NodeId) -> bool {
        self.nodes.insert(node)
    }

    pub(super) fn add(&mut self, at: usize) {
        if let Some(word) = self.bits.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    pub(super) fn add_all(&mut self) {
        self.all = true;
    }

    pub(super) fn contains(&self, at: usize) -> bool {
        self.all || self.bits.get(at / 64).is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Adds the first parts, up to this many.
    pub(super) fn add_first(&mut self, count: usize, value: Instance<'_>) {
        (0..count.min(value.len())).for_each(|at| self.add(at));
    }
}
