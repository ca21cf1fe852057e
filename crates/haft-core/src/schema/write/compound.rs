//! Arrays and objects on the way out: every element and member at its node, and at the end what is missing.

use std::slice;

use serde::Serialize;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::Error;

use super::key::{self, Keys};
use super::{Writing, refusal};
use crate::schema::node::{ANY, ArrayRule, NodeId, ObjectRule};

/// What an array or object is part of.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// A value by itself.
    Alone,
    /// The content of a variant: it stands under the variant's name, which is closed with it.
    Variant(&'static str),
    /// No object: something that `serde_json` hands to itself under this name.
    Private(&'static str),
}

impl Shape {
    fn variant(self) -> Option<&'static str> {
        match self {
            Self::Variant(variant) => Some(variant),
            Self::Alone | Self::Private(_) => None,
        }
    }
}

/// The elements of an array.
pub(super) struct Elements<'w, 'a> {
    writing: &'w mut Writing<'a>,
    rule: Option<&'a ArrayRule>,
    /// The nodes of the elements to come that have one each, and that of all others.
    ahead: slice::Iter<'a, NodeId>,
    items: NodeId,
    count: usize,
    shape: Shape,
}

impl<'w, 'a> Elements<'w, 'a> {
    #[inline]
    pub(super) fn open(writing: &'w mut Writing<'a>, rule: Option<&'a ArrayRule>, shape: Shape) -> Self {
        let (ahead, items) = rule.map_or((&[][..], ANY), |rule| (&rule.prefix, rule.items));
        writing.text.push("[");
        Self { writing, rule, ahead: ahead.iter(), items, count: 0, shape }
    }

    #[inline]
    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let node = self.ahead.next().copied().unwrap_or(self.items);
        self.writing.text.separate(self.count == 0);
        self.count += 1;
        let written = self.writing.value(node, value);
        if written.is_err() {
            self.writing.leave_element(self.shape.variant(), self.count - 1);
        }
        written
    }

    #[inline]
    fn close(self) -> Result<(), Error> {
        if self.rule.is_some_and(|rule| self.count < rule.min || self.count > rule.max) {
            return Err(refusal());
        }
        self.writing.text.push(if matches!(self.shape, Shape::Variant(_)) { "]}" } else { "]" });
        Ok(())
    }
}

macro_rules! elements {
    ($($trait:ident.$method:ident)*) => {$(
        impl $trait for Elements<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.next(value)
            }

            #[inline]
            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}

elements! {
    SerializeSeq.serialize_element
    SerializeTuple.serialize_element
    SerializeTupleStruct.serialize_field
    SerializeTupleVariant.serialize_field
}

/// The fields of a struct.
pub(super) struct Fields<'w, 'a> {
    writing: &'w mut Writing<'a>,
    keys: Keys<'a>,
    shape: Shape,
}

impl<'w, 'a> Fields<'w, 'a> {
    #[inline]
    pub(super) fn open(writing: &'w mut Writing<'a>, rule: Option<&'a ObjectRule>, shape: Shape) -> Self {
        writing.text.push("{");
        Self { writing, keys: Keys::new(rule), shape }
    }

    /// A struct with a name of `serde_json`'s own.
    pub(super) fn private(writing: &'w mut Writing<'a>, name: &'static str) -> Self {
        Self { writing, keys: Keys::new(None), shape: Shape::Private(name) }
    }

    // The key is known where this is inlined, and costs one comparison.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the key is known where this is inlined; measured")]
    fn next<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        if let Shape::Private(name) = self.shape {
            return self.hand_over(name, key, value);
        }
        let node = self.keys.write(key, &mut self.writing.text).ok_or_else(refusal)?;
        let written = self.writing.value(node, value);
        if written.is_err() {
            self.writing.leave_key(self.shape.variant(), key);
        }
        written
    }

    #[cold]
    #[inline(never)]
    fn hand_over<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if self.keys.any() {
            return Err(Error::custom("a second field in what is no struct"));
        }
        self.keys.count();
        self.writing.text.private(name, key, value)
    }

    #[inline]
    fn close(self) -> Result<(), Error> {
        if !self.keys.are_complete() {
            return Err(refusal());
        }
        self.writing.text.push(match self.shape {
            Shape::Alone => "}",
            Shape::Variant(_) => "}}",
            Shape::Private(_) => "",
        });
        Ok(())
    }
}

macro_rules! fields {
    ($($trait:ident)*) => {$(
        impl $trait for Fields<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline(always)]
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.next(key, value)
            }

            #[inline]
            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }

/// The members of a map.
pub(super) struct Members<'w, 'a> {
    writing: &'w mut Writing<'a>,
    keys: Keys<'a>,
    /// The node of the key written last.
    node: NodeId,
    /// Its name, if somebody may ask for it.
    key: String,
}

impl<'w, 'a> Members<'w, 'a> {
    pub(super) fn open(writing: &'w mut Writing<'a>, rule: Option<&'a ObjectRule>) -> Self {
        writing.text.push("{");
        Self { writing, keys: Keys::new(rule), node: ANY, key: String::new() }
    }
}

impl SerializeMap for Members<'_, '_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.node = key::write(key, &mut self.keys, &mut self.writing.text)?;
        if self.writing.trail.is_some() {
            self.key = key::spelled(key);
        }
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let written = self.writing.value(self.node, value);
        if written.is_err() {
            self.writing.leave_key(None, &self.key);
        }
        written
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        if !self.keys.are_complete() {
            return Err(refusal());
        }
        self.writing.text.push("}");
        Ok(())
    }
}
