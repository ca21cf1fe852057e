//! The members and items of one value that some keyword has evaluated, for the `unevaluated*` keywords.

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
    /// The nodes whose evaluated parts are already marked, for nodes that may be visited again.
    nodes: HashSet<NodeId, RandomState>,
}

impl Marks {
    /// The memory of one visited node, in bytes.
    pub(super) const BYTES_PER_NODE: usize = 8;

    /// Creates marks for a value with no part evaluated.
    pub(super) fn new(parts: usize) -> Self {
        Self { all: false, bits: vec![0; parts.div_ceil(64)], nodes: HashSet::default() }
    }

    /// Returns the memory that the marks of this many parts take, in bytes.
    pub(super) fn bytes(parts: usize) -> usize {
        parts.div_ceil(64) * 8
    }

    /// Records a visit to a node; `false` if it was visited before.
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

    /// Marks the first `count` parts.
    pub(super) fn add_first(&mut self, count: usize, value: Instance<'_>) {
        (0..count.min(value.len())).for_each(|at| self.add(at));
    }
}
