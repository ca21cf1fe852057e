//! A serializer that checks every value against its node on the way out.

use serde::Serialize;
use serde::ser::Serializer;

use super::compound::{Elements, Fields, Members};
use super::{At, Writing, refusal};
use crate::schema::node::{ANY, Arena, NodeId, Typed};
use crate::schema::number::{Exactness, Num};
use crate::schema::text::PRIVATE;
use crate::schema::types::JsonType;

/// A serializer at a node.
pub(super) struct Checked<'a, S> {
    pub(super) inner: S,
    pub(super) writing: &'a Writing<'a>,
    pub(super) node: NodeId,
}

impl<'a, S: Serializer> Checked<'a, S> {
    #[inline]
    fn rules(&self, json_type: JsonType) -> Result<Option<&'a Typed>, S::Error> {
        self.writing.arena.rules(self.node, json_type).map_err(|_| refusal())
    }

    #[inline]
    fn is_free(&self, json_type: JsonType) -> bool {
        Arena::is_free(self.node, json_type)
    }

    #[inline]
    fn simple(&self, json_type: JsonType) -> Result<(), S::Error> {
        if self.is_free(json_type) { Ok(()) } else { Err(refusal()) }
    }

    #[inline]
    fn integer<I: Copy + TryInto<i64> + Into<i128>>(&self, value: I) -> Result<(), S::Error> {
        let arena = self.writing.arena;
        let fits = match value.try_into() {
            Ok(small) => self.is_free(JsonType::Number) || small_integer_fits(arena, self.node, small),
            Err(_) => number_fits(arena, self.node, Num::Int(value.into())),
        };
        if fits { Ok(()) } else { Err(refusal()) }
    }

    #[inline]
    fn float(&self, value: f64) -> Result<(), S::Error> {
        if !value.is_finite() {
            return Err(self.writing.not_finite());
        }
        let fits = self.is_free(JsonType::Number) || number_fits(self.writing.arena, self.node, Num::Float(value));
        if fits { Ok(()) } else { Err(refusal()) }
    }

    #[inline]
    fn string(&self, text: &str) -> Result<(), S::Error> {
        let fits = self.is_free(JsonType::String) || string_fits(self.writing.arena, self.node, text);
        if fits { Ok(()) } else { Err(refusal()) }
    }

    /// Some things are only written where nothing is to be checked; elsewhere the value is written first.
    fn unruled(&self) -> Result<(), S::Error> {
        if self.node == ANY { Ok(()) } else { Err(refusal()) }
    }
}

#[inline(never)]
fn small_integer_fits(arena: &Arena, node: NodeId, value: i64) -> bool {
    match arena.rules(node, JsonType::Number) {
        Ok(Some(typed)) => typed.sure.contains(value) || number_fits(arena, node, Num::Int(value.into())),
        rules => rules.is_ok(),
    }
}

#[inline(never)]
fn number_fits(arena: &Arena, node: NodeId, num: Num) -> bool {
    match arena.rules(node, JsonType::Number) {
        Ok(Some(typed)) => typed.number.fault(num, typed.integers_only(), Exactness::Waived).is_none(),
        rules => rules.is_ok(),
    }
}

#[inline(never)]
fn string_fits(arena: &Arena, node: NodeId, text: &str) -> bool {
    match arena.rules(node, JsonType::String) {
        Ok(Some(typed)) => typed.string.fault(text).is_none(),
        rules => rules.is_ok(),
    }
}

macro_rules! integers {
    ($($method:ident($type:ty))*) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.integer(value)?;
            self.inner.$method(value)
        }
    )*};
}

impl<'a, S: Serializer> Serializer for Checked<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Elements<'a, S::SerializeSeq>;
    type SerializeTuple = Elements<'a, S::SerializeTuple>;
    type SerializeTupleStruct = Elements<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Elements<'a, S::SerializeTupleVariant>;
    type SerializeMap = Members<'a, S::SerializeMap>;
    type SerializeStruct = Fields<'a, S::SerializeStruct>;
    type SerializeStructVariant = Fields<'a, S::SerializeStructVariant>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
    }

    fn serialize_u128(self, value: u128) -> Result<S::Ok, S::Error> {
        let num = i128::try_from(value).map_or(Num::Huge(value), Num::Int);
        if !number_fits(self.writing.arena, self.node, num) {
            return Err(refusal());
        }
        self.inner.serialize_u128(value)
    }

    fn serialize_bool(self, value: bool) -> Result<S::Ok, S::Error> {
        self.simple(JsonType::Boolean)?;
        self.inner.serialize_bool(value)
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        self.float(value.into())?;
        self.inner.serialize_f32(value)
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        self.float(value)?;
        self.inner.serialize_f64(value)
    }

    fn serialize_char(self, value: char) -> Result<S::Ok, S::Error> {
        self.string(value.encode_utf8(&mut [0; 4]))?;
        self.inner.serialize_char(value)
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<S::Ok, S::Error> {
        self.string(value)?;
        self.inner.serialize_str(value)
    }

    /// JSON has no bytes: they become an array of numbers, and are checked as such.
    fn serialize_bytes(self, value: &[u8]) -> Result<S::Ok, S::Error> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.simple(JsonType::Null)?;
        self.inner.serialize_none()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let at = At { writing: self.writing, node: self.node, value };
        self.inner.serialize_some(&at)
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.simple(JsonType::Null)?;
        self.inner.serialize_unit()
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<S::Ok, S::Error> {
        self.simple(JsonType::Null)?;
        self.inner.serialize_unit_struct(name)
    }

    fn serialize_unit_variant(self, name: &'static str, index: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.string(variant)?;
        self.inner.serialize_unit_variant(name, index, variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        let at = At { writing: self.writing, node: self.node, value };
        self.inner.serialize_newtype_struct(name, &at)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.unruled()?;
        let at = At { writing: self.writing, node: ANY, value };
        let written = self.inner.serialize_newtype_variant(name, index, variant, &at);
        if written.is_err() {
            self.writing.leave_key(None, variant);
        }
        written
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it gives is kept in registers where it is inlined; measured")]
    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        let rule = self.rules(JsonType::Array)?.map(|typed| &typed.array);
        Ok(Elements::new(self.inner.serialize_seq(len)?, self.writing, rule))
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        let rule = self.rules(JsonType::Array)?.map(|typed| &typed.array);
        Ok(Elements::new(self.inner.serialize_tuple(len)?, self.writing, rule))
    }

    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        let rule = self.rules(JsonType::Array)?.map(|typed| &typed.array);
        Ok(Elements::new(self.inner.serialize_tuple_struct(name, len)?, self.writing, rule))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.unruled()?;
        let inner = self.inner.serialize_tuple_variant(name, index, variant, len)?;
        Ok(Elements::of_variant(inner, self.writing, variant))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let rule = self.rules(JsonType::Object)?.map(|typed| &typed.object);
        Ok(Members::new(self.inner.serialize_map(len)?, self.writing, rule))
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it gives is kept in registers where it is inlined; measured")]
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, S::Error> {
        // No struct at all: JSON that is text already, and may be anything.
        if name.starts_with(PRIVATE) {
            self.unruled()?;
        }
        let rule = self.rules(JsonType::Object)?.map(|typed| &typed.object);
        Ok(Fields::new(self.inner.serialize_struct(name, len)?, self.writing, rule))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.unruled()?;
        let inner = self.inner.serialize_struct_variant(name, index, variant, len)?;
        Ok(Fields::of_variant(inner, self.writing, variant))
    }
}
