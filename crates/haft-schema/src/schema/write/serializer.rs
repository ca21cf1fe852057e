//! A serializer that checks every value against its node and writes it.

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::Error;

use super::Writing;
use super::compound::{CompoundKind, MapWriter, SeqWriter, StructWriter};
use crate::schema::decimal::Decimal;
use crate::schema::disclosure::ResultStep;
use crate::schema::forbidden::{PRIVATE, is_private};
use crate::schema::node::{ANY, Arena, NodeId, TypeRules};
use crate::schema::types::JsonType;

/// A serializer for the value of one node.
pub(super) struct CheckedSerializer<'w, 'a> {
    pub(super) writing: &'w mut Writing<'a>,
    pub(super) node: NodeId,
}

impl<'a> CheckedSerializer<'_, 'a> {
    #[inline]
    fn rules(&mut self, json_type: JsonType) -> Result<Option<&'a TypeRules>, Error> {
        let arena = self.writing.arena;
        arena.rules(self.node, json_type).map_err(|_| self.writing.rejection())
    }

    #[inline]
    fn is_free(&self, json_type: JsonType) -> bool {
        Arena::is_free(self.node, json_type)
    }

    /// Writes a constant of this type.
    #[inline]
    fn constant(self, json_type: JsonType, json: &str) -> Result<(), Error> {
        if !self.is_free(json_type) {
            return Err(self.writing.rejection());
        }
        self.writing.text.push(json);
        Ok(())
    }

    #[inline]
    fn integer<I: Copy + TryInto<i64> + Into<i128> + Serialize>(self, value: I) -> Result<(), Error> {
        let arena = self.writing.arena;
        let fits = match value.try_into() {
            Ok(small) => self.is_free(JsonType::Number) || small_integer_fits(arena, self.node, small),
            Err(_) => digits_fit(arena, self.node, &value.into().to_string()),
        };
        if !fits {
            return Err(self.writing.rejection());
        }
        self.writing.text.number(value)
    }

    #[inline]
    fn float(self, value: f64, number: impl Serialize) -> Result<(), Error> {
        if !value.is_finite() {
            return self.writing.not_finite();
        }
        if !(self.is_free(JsonType::Number) || float_fits(self.writing.arena, self.node, value)) {
            return Err(self.writing.rejection());
        }
        self.writing.text.number(number)
    }

    #[inline]
    fn string(self, text: &str) -> Result<(), Error> {
        if !(self.is_free(JsonType::String) || string_fits(self.writing, self.node, text)) {
            return self.writing.verbatim(self.node, text);
        }
        self.writing.text.string(text);
        Ok(())
    }

    /// Rejects the value if there are rules to check. Some values are written here only without rules; otherwise they
    /// are written first and checked afterwards.
    fn unruled(&mut self) -> Result<(), Error> {
        if self.node == ANY { Ok(()) } else { Err(self.writing.rejection()) }
    }

    /// Begins a variant with content: an object of one member.
    fn open_variant(&mut self, variant: &str) -> Result<(), Error> {
        self.unruled()?;
        self.writing.enter()?;
        let text = &mut self.writing.text;
        text.push("{");
        text.string(variant);
        text.push(":");
        Ok(())
    }
}

#[inline(never)]
fn small_integer_fits(arena: &Arena, node: NodeId, value: i64) -> bool {
    match arena.rules(node, JsonType::Number) {
        Ok(Some(typed)) => typed.number.surely_fits(value) || digits_fit(arena, node, &value.to_string()),
        rules => rules.is_ok(),
    }
}

#[inline(never)]
fn float_fits(arena: &Arena, node: NodeId, value: f64) -> bool {
    match arena.rules(node, JsonType::Number) {
        Ok(Some(typed)) if !typed.integers_only() && typed.number.surely_fits_float(value) => true,
        Ok(Some(_)) => digits_fit(arena, node, &value.to_string()),
        rules => rules.is_ok(),
    }
}

/// Reports whether a number is valid, by its digits.
#[inline(never)]
fn digits_fit(arena: &Arena, node: NodeId, digits: &str) -> bool {
    match arena.rules(node, JsonType::Number) {
        Ok(Some(typed)) => typed.number.fits(Decimal::parse(digits), typed.integers_only()),
        rules => rules.is_ok(),
    }
}

#[inline(never)]
fn string_fits(writing: &mut Writing<'_>, node: NodeId, text: &str) -> bool {
    match writing.arena.rules(node, JsonType::String) {
        Ok(Some(typed)) => {
            writing.budget.extend(text.len());
            typed.string.fits(text, &mut writing.budget) == Ok(true)
        }
        rules => rules.is_ok(),
    }
}

macro_rules! integers {
    ($($method:ident($type:ty))*) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<(), Error> {
            self.integer(value)
        }
    )*};
}

impl<'w, 'a> Serializer for CheckedSerializer<'w, 'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = SeqWriter<'w, 'a>;
    type SerializeTuple = SeqWriter<'w, 'a>;
    type SerializeTupleStruct = SeqWriter<'w, 'a>;
    type SerializeTupleVariant = SeqWriter<'w, 'a>;
    type SerializeMap = MapWriter<'w, 'a>;
    type SerializeStruct = StructWriter<'w, 'a>;
    type SerializeStructVariant = StructWriter<'w, 'a>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        if !digits_fit(self.writing.arena, self.node, &value.to_string()) {
            return Err(self.writing.rejection());
        }
        self.writing.text.number(value)
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.constant(JsonType::Boolean, if value { "true" } else { "false" })
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.float(value.into(), value)
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.float(value, value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.string(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.string(value)
    }

    /// Writes bytes as an array of numbers, as JSON has no bytes, and checks them as such.
    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.constant(JsonType::Null, "null")
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.constant(JsonType::Null, "null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.constant(JsonType::Null, "null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.string(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.open_variant(variant)?;
        let written = self.writing.value(ANY, value);
        if written.is_err() {
            self.writing.leave(None, ResultStep::Named(variant.to_owned()));
        }
        self.writing.room += 1;
        self.writing.text.push("}");
        written
    }

    #[inline]
    fn serialize_seq(mut self, _: Option<usize>) -> Result<SeqWriter<'w, 'a>, Error> {
        let rule = self.rules(JsonType::Array)?.map(|typed| &typed.array);
        SeqWriter::open(self.writing, rule, CompoundKind::Alone)
    }

    fn serialize_tuple(self, _: usize) -> Result<SeqWriter<'w, 'a>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<SeqWriter<'w, 'a>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<SeqWriter<'w, 'a>, Error> {
        self.open_variant(variant)?;
        SeqWriter::open(self.writing, None, CompoundKind::Variant(variant))
    }

    fn serialize_map(mut self, _: Option<usize>) -> Result<MapWriter<'w, 'a>, Error> {
        let rule = self.rules(JsonType::Object)?.map(|typed| &typed.object);
        MapWriter::open(self.writing, rule)
    }

    #[inline]
    fn serialize_struct(mut self, name: &'static str, _: usize) -> Result<StructWriter<'w, 'a>, Error> {
        // This is not a struct but raw JSON text, which may contain anything.
        if name.starts_with(PRIVATE) && is_private(name) {
            self.unruled()?;
            return Ok(StructWriter::private(self.writing, name));
        }
        let rule = self.rules(JsonType::Object)?.map(|typed| &typed.object);
        StructWriter::open(self.writing, rule, CompoundKind::Alone)
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<StructWriter<'w, 'a>, Error> {
        self.open_variant(variant)?;
        StructWriter::open(self.writing, None, CompoundKind::Variant(variant))
    }
}
