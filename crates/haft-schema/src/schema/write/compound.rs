//! Serializers for arrays and objects: each element and member is checked against its node, and missing ones are
//! detected at the end.
//!
//! Nothing forces a type to follow serde's contract: a key without a value, or a value without a key, is rejected here,
//! because the text would not be JSON.

use std::slice;

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
    SerializeTupleVariant,
};
use serde_json::Error;

use super::key::{self, WrittenKeys};
use super::{WriteFailureReason, Writing};
use crate::schema::disclosure::ResultStep;
use crate::schema::node::{ANY, ArrayRule, NEVER, NodeId, ObjectRule};
use crate::schema::scan::nesting;

/// The context of an array or object.
#[derive(Clone, Copy)]
pub(super) enum CompoundKind {
    /// A value on its own.
    Alone,
    /// The content of a variant: the member of an object that is closed with it.
    Variant(&'static str),
}

impl CompoundKind {
    fn variant(self) -> Option<&'static str> {
        match self {
            Self::Variant(variant) => Some(variant),
            Self::Alone => None,
        }
    }

    /// Returns the number of levels that end with it.
    #[inline]
    fn levels(self) -> usize {
        match self {
            Self::Alone => 1,
            Self::Variant(_) => 2,
        }
    }
}

/// The serializer of the elements of an array.
pub(super) struct SeqWriter<'w, 'a> {
    writing: &'w mut Writing<'a>,
    rule: Option<&'a ArrayRule>,
    /// The nodes of the next elements that have their own node, and the node of all others.
    ahead: slice::Iter<'a, NodeId>,
    items: NodeId,
    count: usize,
    shape: CompoundKind,
}

impl<'w, 'a> SeqWriter<'w, 'a> {
    #[inline]
    pub(super) fn open(
        writing: &'w mut Writing<'a>,
        rule: Option<&'a ArrayRule>,
        shape: CompoundKind,
    ) -> Result<Self, Error> {
        writing.enter()?;
        let (ahead, items) = rule.map_or((&[][..], ANY), |rule| (&rule.prefix, rule.items));
        writing.text.push("[");
        Ok(Self { writing, rule, ahead: ahead.iter(), items, count: 0, shape })
    }

    #[inline]
    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let node = self.ahead.next().copied().unwrap_or(self.items);
        self.writing.text.separate(self.count == 0);
        self.count += 1;
        let written = self.writing.value(node, value);
        if written.is_err() {
            self.writing.leave(self.shape.variant(), ResultStep::Index(self.count - 1));
        }
        written
    }

    #[inline]
    fn close(self) -> Result<(), Error> {
        if self.rule.is_some_and(|rule| self.count < rule.min || self.count > rule.max) {
            return Err(self.writing.rejection());
        }
        self.writing.room += self.shape.levels();
        self.writing.text.push(if matches!(self.shape, CompoundKind::Variant(_)) { "]}" } else { "]" });
        Ok(())
    }
}

macro_rules! elements {
    ($($trait:ident.$method:ident)*) => {$(
        impl $trait for SeqWriter<'_, '_> {
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

/// The serializer of the fields of a struct.
pub(super) enum StructWriter<'w, 'a> {
    Object(ObjectWriter<'w, 'a>),
    Private(PrivateField<'w, 'a>),
}

/// The serializer of the fields of a struct that is an object.
pub(super) struct ObjectWriter<'w, 'a> {
    writing: &'w mut Writing<'a>,
    keys: WrittenKeys<'a>,
    shape: CompoundKind,
}

/// The serializer of data that `serde_json` passes to itself under this name, in one field. It is not an object.
pub(super) struct PrivateField<'w, 'a> {
    writing: &'w mut Writing<'a>,
    name: &'static str,
    is_written: bool,
}

impl<'w, 'a> StructWriter<'w, 'a> {
    #[inline]
    pub(super) fn open(
        writing: &'w mut Writing<'a>,
        rule: Option<&'a ObjectRule>,
        shape: CompoundKind,
    ) -> Result<Self, Error> {
        writing.enter()?;
        writing.text.push("{");
        Ok(Self::Object(ObjectWriter { writing, keys: WrittenKeys::new(rule), shape }))
    }

    pub(super) fn private(writing: &'w mut Writing<'a>, name: &'static str) -> Self {
        Self::Private(PrivateField { writing, name, is_written: false })
    }
}

impl ObjectWriter<'_, '_> {
    /// Writes a field. It is not forced inline: fields of one type share the code.
    #[inline]
    fn next<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        let Some(node) = self.keys.write(key, &mut self.writing.text) else {
            return Err(self.writing.rejection());
        };
        let written = self.writing.value(node, value);
        if written.is_err() {
            self.writing.leave(self.shape.variant(), ResultStep::Named(key.to_owned()));
        }
        written
    }

    #[inline]
    fn close(self) -> Result<(), Error> {
        if !self.keys.are_complete() {
            return Err(self.writing.rejection());
        }
        self.writing.room += self.shape.levels();
        self.writing.text.push(if matches!(self.shape, CompoundKind::Variant(_)) { "}}" } else { "}" });
        Ok(())
    }
}

impl PrivateField<'_, '_> {
    #[cold]
    #[inline(never)]
    fn next<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_written, true) || key != self.name {
            return Err(self.writing.rejection());
        }
        let before = self.writing.text.len();
        // The serializer of all other values is used, so that no type is compiled for an additional one.
        self.writing.is_verbatim = true;
        let written = self.writing.value(NEVER, value);
        self.check(before, written)
    }

    fn check(&mut self, before: usize, written: Result<(), Error>) -> Result<(), Error> {
        written?;
        if std::mem::take(&mut self.writing.is_verbatim) {
            return Err(self.writing.rejection());
        }
        // Raw text is written unchanged, so its nesting is checked afterwards.
        if nesting(self.writing.text.since(before)) > self.writing.room {
            return Err(self.writing.fail(WriteFailureReason::TooDeep, "nests too deeply"));
        }
        Ok(())
    }

    fn close(self) -> Result<(), Error> {
        if self.is_written { Ok(()) } else { Err(self.writing.rejection()) }
    }
}

macro_rules! fields {
    ($($trait:ident)*) => {$(
        impl $trait for StructWriter<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                match self {
                    StructWriter::Object(object) => object.next(key, value),
                    StructWriter::Private(private) => private.next(key, value),
                }
            }

            #[inline]
            fn end(self) -> Result<(), Error> {
                match self {
                    StructWriter::Object(object) => object.close(),
                    StructWriter::Private(private) => private.close(),
                }
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }

/// The serializer of the members of a map.
pub(super) struct MapWriter<'w, 'a> {
    writing: &'w mut Writing<'a>,
    keys: WrittenKeys<'a>,
    /// The node of the key that was written and has no value yet.
    open: Option<NodeId>,
    /// The name of the last key, if a failure may need it.
    key: String,
}

impl<'w, 'a> MapWriter<'w, 'a> {
    pub(super) fn open(writing: &'w mut Writing<'a>, rule: Option<&'a ObjectRule>) -> Result<Self, Error> {
        writing.enter()?;
        writing.text.push("{");
        Ok(Self { writing, keys: WrittenKeys::new(rule), open: None, key: String::new() })
    }
}

impl SerializeMap for MapWriter<'_, '_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        if self.open.is_some() {
            return Err(self.writing.rejection());
        }
        self.open = Some(self.keys.write_any(key, self.writing)?);
        if self.writing.failure.is_some() {
            self.key = key::key_text(key);
        }
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let Some(node) = self.open.take() else { return Err(self.writing.rejection()) };
        let written = self.writing.value(node, value);
        if written.is_err() {
            self.writing.leave(None, ResultStep::Key(std::mem::take(&mut self.key)));
        }
        written
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        if self.open.is_some() || !self.keys.are_complete() {
            return Err(self.writing.rejection());
        }
        self.writing.room += 1;
        self.writing.text.push("}");
        Ok(())
    }
}
