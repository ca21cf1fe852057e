//! Encoding of the keys of an object.
//!
//! A declared key is written in the escaped form that the schema holds. The keys are recorded here, so that missing
//! ones are detected at the end; a rejected key is never written.

use serde::Serialize;
use serde::ser::{Impossible, Serializer};
use serde_json::{Error, Value};

use super::Writing;
use super::text::JsonBuffer;
use crate::schema::node::{ANY, NEVER, NodeId, ObjectRule, Property};
use crate::schema::seen::Seen;

/// The keys written so far.
pub(super) struct WrittenKeys<'a> {
    rule: Option<&'a ObjectRule>,
    count: usize,
    required: usize,
    seen: Seen,
    /// The index of the next property, if keys come in declaration order.
    hint: usize,
}

impl<'a> WrittenKeys<'a> {
    #[inline]
    pub(super) fn new(rule: Option<&'a ObjectRule>) -> Self {
        Self { rule, count: 0, required: 0, seen: Seen::default(), hint: 0 }
    }

    /// Writes a key, and returns the node of its value; `None` if the key is not allowed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the key is known where this is inlined, and costs one comparison")]
    pub(super) fn write(&mut self, key: &str, text: &mut JsonBuffer) -> Option<NodeId> {
        match self.rule.and_then(|rule| rule.properties.get(self.hint)) {
            Some(property) if &*property.name == key => self.declared(self.hint, property, text),
            _ => self.out_of_order(key, text),
        }
    }

    #[inline(never)]
    fn out_of_order(&mut self, key: &str, text: &mut JsonBuffer) -> Option<NodeId> {
        let declared = self.rule.and_then(|rule| rule.find(key, self.hint).map(|at| (at, &rule.properties[at])));
        if let Some((at, property)) = declared {
            return self.declared(at, property, text);
        }
        let additional = self.rule.map_or(ANY, |rule| rule.additional);
        if additional == NEVER {
            return None;
        }
        self.separate(text);
        text.string(key);
        text.push(":");
        Some(additional)
    }

    #[inline]
    fn declared(&mut self, at: usize, property: &Property, text: &mut JsonBuffer) -> Option<NodeId> {
        if !self.seen.insert(at) {
            return None;
        }
        self.separate(text);
        text.push(&property.written);
        self.hint = at + 1;
        self.required += usize::from(property.required);
        Some(property.node)
    }

    /// Writes the separator before the next key, and counts the key.
    #[inline]
    fn separate(&mut self, text: &mut JsonBuffer) {
        text.separate(self.count == 0);
        self.count += 1;
    }

    /// Writes a map's key of any type, and returns the node of its value.
    #[inline]
    pub(super) fn write_any<K: Serialize + ?Sized>(
        &mut self,
        key: &K,
        writing: &mut Writing<'_>,
    ) -> Result<NodeId, Error> {
        let before = writing.text.len();
        match key.serialize(KeyNameSerializer { keys: self, text: &mut writing.text }) {
            Ok(node) => Ok(node),
            // Without rules, only the type of a key can be invalid.
            Err(_) if self.rule.is_none() && writing.text.len() == before => self.write_non_string(key, writing),
            Err(_) => Err(writing.rejection()),
        }
    }

    /// Writes a key that is not a string.
    #[inline(never)]
    fn write_non_string<K: Serialize + ?Sized>(&mut self, key: &K, writing: &mut Writing<'_>) -> Result<NodeId, Error> {
        self.separate(&mut writing.text);
        let written = writing.text.key(key);
        writing.is_broken |= written.is_err();
        written.map(|()| ANY)
    }

    /// Reports whether all required keys were written, and no more than allowed.
    #[inline]
    pub(super) fn are_complete(&self) -> bool {
        self.rule.is_none_or(|rule| self.required >= rule.required && self.count >= rule.min && self.count <= rule.max)
    }
}

/// Returns a map's key as text.
pub(super) fn key_text<T: Serialize + ?Sized>(key: &T) -> String {
    match serde_json::to_value(key) {
        Ok(Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// A serializer for keys that are strings; it rejects all others.
struct KeyNameSerializer<'k, 'a> {
    keys: &'k mut WrittenKeys<'a>,
    text: &'k mut JsonBuffer,
}

macro_rules! no_name {
    ($($method:ident($($argument:ty),*))*) => {$(
        fn $method(self, $(_: $argument),*) -> Result<NodeId, Self::Error> {
            Err(std::fmt::Error)
        }
    )*};
}

impl Serializer for KeyNameSerializer<'_, '_> {
    type Ok = NodeId;
    type Error = std::fmt::Error;
    type SerializeSeq = Impossible<NodeId, Self::Error>;
    type SerializeTuple = Impossible<NodeId, Self::Error>;
    type SerializeTupleStruct = Impossible<NodeId, Self::Error>;
    type SerializeTupleVariant = Impossible<NodeId, Self::Error>;
    type SerializeMap = Impossible<NodeId, Self::Error>;
    type SerializeStruct = Impossible<NodeId, Self::Error>;
    type SerializeStructVariant = Impossible<NodeId, Self::Error>;

    #[inline]
    fn serialize_str(self, name: &str) -> Result<NodeId, Self::Error> {
        self.keys.write(name, self.text).ok_or(std::fmt::Error)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<NodeId, Self::Error> {
        self.keys.write(name, self.text).ok_or(std::fmt::Error)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, key: &T) -> Result<NodeId, Self::Error> {
        key.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<NodeId, Self::Error> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<NodeId, Self::Error> {
        Err(std::fmt::Error)
    }

    no_name! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_f32(f32)
        serialize_f64(f64) serialize_char(char) serialize_bytes(&[u8]) serialize_none() serialize_unit()
        serialize_unit_struct(&'static str)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Self::Error> {
        Err(std::fmt::Error)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Self::Error> {
        Err(std::fmt::Error)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Self::Error> {
        Err(std::fmt::Error)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Self::Error> {
        Err(std::fmt::Error)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Self::Error> {
        Err(std::fmt::Error)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Self::Error> {
        Err(std::fmt::Error)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Self::Error> {
        Err(std::fmt::Error)
    }
}
