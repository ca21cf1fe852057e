//! The elements of an array, each at its place.

use std::slice;

use serde::de::{DeserializeSeed, SeqAccess};

use super::deserializer::{CheckedSeed, Spot, refusal};
use crate::schema::node::{ANY, ArrayRule, NodeId};
use crate::schema::path::push_index;

/// Access to elements that counts and checks them.
pub(super) struct CheckedSeq<'a, A> {
    access: A,
    rule: Option<&'a ArrayRule>,
    /// The nodes of the elements to come that have one each.
    ahead: slice::Iter<'a, NodeId>,
    /// The place of all others.
    items: Spot<'a>,
    max: usize,
    count: usize,
}

impl<'a, A> CheckedSeq<'a, A> {
    #[inline]
    pub(super) fn new(access: A, rule: Option<&'a ArrayRule>, spot: Spot<'a>) -> Self {
        let (ahead, items, max) = rule.map_or((&[][..], ANY, usize::MAX), |rule| (&rule.prefix, rule.items, rule.max));
        Self { access, rule, ahead: ahead.iter(), items: spot.child(items), max, count: 0 }
    }

    /// Notes the index at which the type refused a value.
    #[cold]
    #[inline(never)]
    fn leave_trail(&self) {
        if let Some(trail) = self.items.reading.trail {
            let mut step = String::new();
            push_index(&mut step, self.count);
            trail.borrow_mut().push(step);
        }
    }

    #[inline]
    fn next_place(&mut self) -> Spot<'a> {
        match self.ahead.next() {
            Some(node) => self.items.with_node(*node),
            None => self.items,
        }
    }

    /// To be called when the type has taken what it wants.
    #[inline]
    pub(super) fn finish<E: serde::de::Error>(&self) -> Result<(), E> {
        match self.rule {
            Some(rule) if self.count < rule.min => Err(refusal()),
            _ => Ok(()),
        }
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for CheckedSeq<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        let spot = self.next_place();
        let element = self.access.next_element_seed(CheckedSeed { inner: seed, spot });
        match element {
            Ok(None) => {}
            Ok(Some(_)) if self.count < self.max => self.count += 1,
            Ok(Some(_)) => return Err(refusal()),
            Err(_) => self.leave_trail(),
        }
        element
    }

    fn size_hint(&self) -> Option<usize> {
        self.access.size_hint()
    }
}
