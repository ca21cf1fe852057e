//! Where a value stands while it is read.
//!
//! A place lives in whatever holds the value (the root, an array, an object) and is handed on by reference: one word,
//! which travels in a register with every value there is.

use super::ReadContext;
use crate::schema::forbidden::Inside;
use crate::schema::node::{Arena, Mismatch, NodeId, TypeRules};
use crate::schema::types::JsonType;

/// What a reader must know of the value it is about to read.
#[derive(Clone, Copy)]
pub(super) struct ReadPosition<'a> {
    pub(super) context: &'a ReadContext<'a>,
    pub(super) node: NodeId,
    pub(super) depth: u16,
    pub(super) inside: Inside,
}

impl<'a> ReadPosition<'a> {
    /// The place of the whole value.
    #[inline]
    pub(super) fn root(context: &'a ReadContext<'a>) -> Self {
        Self { context, node: context.arena.root(), depth: 0, inside: Inside::Other }
    }

    /// The place of a child one container further in.
    #[inline]
    pub(super) fn child(&self, node: NodeId) -> Self {
        Self { context: self.context, node, depth: self.depth.saturating_add(1), inside: Inside::Other }
    }

    /// Remembers that something was rejected, here or further in: a type may pass over the error.
    #[inline]
    pub(super) fn note_rejection<T, E>(&self, read: Result<T, E>) -> Result<T, E> {
        if read.is_err() {
            self.context.has_rejected.set(true);
        }
        read
    }

    /// The same place at another node.
    #[inline]
    pub(super) fn at(&self, node: NodeId) -> Self {
        Self { node, ..*self }
    }

    /// Whether another array or object may begin here.
    #[inline]
    pub(super) fn may_nest(&self) -> bool {
        usize::from(self.depth) < self.context.depth
    }

    /// Whether a value here must be built before it can be checked.
    #[inline]
    pub(super) fn is_buffered(&self) -> bool {
        Arena::is_buffered(self.node)
    }

    /// Whether there is nothing to check of a value of this type.
    #[inline]
    pub(super) fn is_free(&self, json_type: JsonType) -> bool {
        Arena::is_free(self.node, json_type)
    }

    /// The rules for a value of this type.
    #[inline]
    pub(super) fn rules(&self, json_type: JsonType) -> Result<Option<&'a TypeRules>, Mismatch> {
        self.context.arena.rules(self.node, json_type)
    }
}
