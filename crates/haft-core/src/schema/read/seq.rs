//! The elements of an array, each at its place.

use serde::de::{DeserializeSeed, SeqAccess};

use super::deserializer::{CheckedSeed, Spot, refusal};
use crate::schema::node::{ANY, ArrayRule};
use crate::schema::path::push_index;
use crate::schema::text::Inside;

/// Access to elements that counts and checks them.
pub(super) struct CheckedSeq<'a, A> {
    access: A,
    rule: Option<&'a ArrayRule>,
    spot: Spot<'a>,
    count: usize,
}

impl<'a, A> CheckedSeq<'a, A> {
    pub(super) fn new(access: A, rule: Option<&'a ArrayRule>, spot: Spot<'a>) -> Self {
        Self { access, rule, spot, count: 0 }
    }

    /// Notes the index at which the type refused a value.
    #[cold]
    fn leave_trail(&self) {
        if let Some(trail) = self.spot.reading.trail {
            let mut step = String::new();
            push_index(&mut step, self.count);
            trail.borrow_mut().push(step);
        }
    }

    /// To be called when the type has taken what it wants.
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
        let node = self.rule.map_or(ANY, |rule| rule.element(self.count));
        let spot = self.spot.child(node, Inside::Other);
        let element = match self.access.next_element_seed(CheckedSeed { inner: seed, spot }) {
            Ok(element) => element,
            Err(error) => {
                self.leave_trail();
                return Err(error);
            }
        };
        if element.is_some() {
            self.count += 1;
            if self.rule.is_some_and(|rule| self.count > rule.max) {
                return Err(refusal());
            }
        }
        Ok(element)
    }

    fn size_hint(&self) -> Option<usize> {
        self.access.size_hint()
    }
}
