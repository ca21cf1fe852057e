//! Access to the elements of an array that counts and checks them.

use std::slice;

use serde::Deserializer;
use serde::de::{DeserializeSeed, SeqAccess};

use super::deserializer::{CheckedDeserializer, rejection};
use super::position::ReadPosition;
use crate::schema::node::{ANY, NodeId};
use crate::schema::path::push_index;
use crate::schema::types::JsonType;

/// Access to elements that counts and checks them.
pub(super) struct CheckedSeq<'a, A> {
    access: A,
    elements: ElementState<'a>,
}

impl<'a, A> CheckedSeq<'a, A> {
    #[inline]
    pub(super) fn new(access: A, position: &ReadPosition<'a>) -> Self {
        let next = position.child(ANY);
        let elements = ElementState { ahead: [].iter(), next, items: ANY, count: 0, min: 0, max: usize::MAX };
        Self { access, elements }
    }

    /// Begins the array; `false` if no array is allowed here.
    #[inline]
    pub(super) fn begin(&mut self, position: &ReadPosition<'a>) -> bool {
        self.elements.begin(position)
    }

    /// Reports whether all required elements were present, after the type has read what it needs.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.elements.count >= self.elements.min
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for CheckedSeq<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        let element = self.access.next_element_seed(ElementSeed { inner: seed, elements: &mut self.elements });
        if element.is_err() {
            self.elements.record_path();
        }
        element
    }

    fn size_hint(&self) -> Option<usize> {
        self.access.size_hint()
    }
}

/// The state of the elements read so far.
struct ElementState<'a> {
    /// The nodes of the next elements that have their own node.
    ahead: slice::Iter<'a, NodeId>,
    /// The node of all other elements.
    items: NodeId,
    /// The position of the current element.
    next: ReadPosition<'a>,
    /// The number of elements begun so far.
    count: usize,
    min: usize,
    max: usize,
}

impl<'a> ElementState<'a> {
    #[inline(never)]
    fn begin(&mut self, position: &ReadPosition<'a>) -> bool {
        let Ok(rules) = position.rules(JsonType::Array) else { return false };
        if let Some(typed) = rules {
            let rule = &typed.array;
            (self.ahead, self.items) = (rule.prefix.iter(), rule.items);
            (self.min, self.max) = (rule.min, rule.max);
        }
        position.may_nest()
    }

    /// Returns the position of the next element; `None` if no further element is allowed.
    #[inline]
    fn next(&mut self) -> Option<&ReadPosition<'a>> {
        if self.count >= self.max {
            return None;
        }
        self.count += 1;
        self.next.node = self.ahead.next().copied().unwrap_or(self.items);
        Some(&self.next)
    }

    /// Records the index at which the type rejected a value.
    #[cold]
    #[inline(never)]
    fn record_path(&self) {
        if let Some(path_to_rejected) = self.next.context.path_to_rejected {
            let mut step = String::new();
            push_index(&mut step, self.count.saturating_sub(1));
            path_to_rejected.leave(step, self.next.node);
        }
    }
}

/// A seed that advances the position when there is an element to read.
struct ElementSeed<'s, 'a, T> {
    inner: T,
    elements: &'s mut ElementState<'a>,
}

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for ElementSeed<'_, '_, T> {
    type Value = T::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        let around = self.elements.next;
        let position = around.note_rejection(self.elements.next().ok_or_else(rejection))?;
        self.inner.deserialize(CheckedDeserializer { inner: deserializer, position })
    }
}
