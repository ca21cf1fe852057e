//! The elements of an array, each at its place.

use std::slice;

use serde::Deserializer;
use serde::de::{DeserializeSeed, SeqAccess};

use super::deserializer::{CheckedDeserializer, refusal};
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

    /// Begins the array; `false` if there must not be one here.
    #[inline]
    pub(super) fn begin(&mut self, position: &ReadPosition<'a>) -> bool {
        self.elements.begin(position)
    }

    /// Reports whether all elements that must be there were, when the type has taken what it wants.
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

/// What is known of the elements so far.
struct ElementState<'a> {
    /// The nodes of the elements to come that have one each.
    ahead: slice::Iter<'a, NodeId>,
    /// The node of all others.
    items: NodeId,
    /// The place of the element that is read.
    next: ReadPosition<'a>,
    /// How many were begun.
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

    /// The place of the next element; none if there must not be one.
    #[inline]
    fn next(&mut self) -> Option<&ReadPosition<'a>> {
        if self.count >= self.max {
            return None;
        }
        self.count += 1;
        self.next.node = self.ahead.next().copied().unwrap_or(self.items);
        Some(&self.next)
    }

    /// Notes the index at which the type rejected a value.
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

/// A seed that takes the next place when there is an element to read.
struct ElementSeed<'s, 'a, T> {
    inner: T,
    elements: &'s mut ElementState<'a>,
}

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for ElementSeed<'_, '_, T> {
    type Value = T::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        let around = self.elements.next;
        let position = around.note_rejection(self.elements.next().ok_or_else(refusal))?;
        self.inner.deserialize(CheckedDeserializer { inner: deserializer, position })
    }
}
