//! The position of a value while it is read.
//!
//! A position is stored in the container of the value (the root, an array, an object) and passed by reference: one
//! word, which stays in a register.

use super::ReadContext;
use crate::schema::forbidden::Inside;
use crate::schema::node::{Arena, Mismatch, NodeId, TypeRules};
use crate::schema::types::JsonType;

/// The context that a reader needs for the value it is about to read.
#[derive(Clone, Copy)]
pub(super) struct ReadPosition<'a> {
    pub(super) context: &'a ReadContext<'a>,
    pub(super) node: NodeId,
    pub(super) depth: u16,
    pub(super) inside: Inside,
}

impl<'a> ReadPosition<'a> {
    /// Returns the position of the root value.
    #[inline]
    pub(super) fn root(context: &'a ReadContext<'a>) -> Self {
        Self { context, node: context.arena.root(), depth: 0, inside: Inside::Other }
    }

    /// Returns the position of a child, one level deeper.
    #[inline]
    pub(super) fn child(&self, node: NodeId) -> Self {
        Self { context: self.context, node, depth: self.depth.saturating_add(1), inside: Inside::Other }
    }

    /// Records that a value was rejected, here or deeper: a type may ignore the error.
    #[inline]
    pub(super) fn note_rejection<T, E>(&self, read: Result<T, E>) -> Result<T, E> {
        if read.is_err() {
            self.context.has_rejected.set(true);
        }
        read
    }

    /// Returns this position with another node.
    #[inline]
    pub(super) fn at(&self, node: NodeId) -> Self {
        Self { node, ..*self }
    }

    /// Reports whether another array or object may begin here.
    #[inline]
    pub(super) fn may_nest(&self) -> bool {
        usize::from(self.depth) < self.context.depth
    }

    /// Reports whether a value here must be read as text before it can be checked.
    #[inline]
    pub(super) fn is_buffered(&self) -> bool {
        Arena::is_buffered(self.node)
    }

    /// Reports whether there is nothing to check for a value of this type.
    #[inline]
    pub(super) fn is_free(&self, json_type: JsonType) -> bool {
        Arena::is_free(self.node, json_type)
    }

    /// Returns the rules for a value of this type.
    #[inline]
    pub(super) fn rules(&self, json_type: JsonType) -> Result<Option<&'a TypeRules>, Mismatch> {
        self.context.arena.rules(self.node, json_type)
    }
}
