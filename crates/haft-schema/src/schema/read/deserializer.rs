//! A deserializer that checks every value against its node before the type receives it.
//!
//! It wraps the deserializer of the text and passes serde's hints on, so the type is built as if it were read directly.
//! The first value that violates a rule aborts the pass; the exact problems are determined afterwards, from the text. A
//! value that must be checked as a whole is checked as text first and deserialized from that text afterwards.

use serde::de::{DeserializeSeed, Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::de::StrRead;
use serde_json::value::RawValue;

use super::position::ReadPosition;
use super::unit::{EmptyMapAsUnit, StrAsVariant, WrappedEnum};
use super::visitor::{CheckedVisitor, HINTED, INTEGER, STRUCT, UNHINTED};
use crate::json_text::JSON_TEXT;
use crate::schema::node::ANY;
use crate::schema::types::JsonType;

/// Returns the error that aborts decoding when a rule is violated. Its text is never shown.
#[cold]
#[inline(never)]
pub(super) fn rejection<E: Error>() -> E {
    E::custom("")
}

/// A deserializer for the value at a position.
pub(super) struct CheckedDeserializer<'a, D> {
    pub(super) inner: D,
    pub(super) position: &'a ReadPosition<'a>,
}

impl<'de, 'a, D: Deserializer<'de>> CheckedDeserializer<'a, D> {
    #[inline]
    fn visitor<V, const ORIGIN: u8>(&self, inner: V) -> CheckedVisitor<'a, V, ORIGIN> {
        CheckedVisitor { inner, position: self.position }
    }

    /// Takes the text of a value and checks it as a whole.
    #[cold]
    #[inline(never)]
    fn whole(self) -> Result<&'de str, D::Error> {
        let ReadPosition { context, node, depth, inside } = *self.position;
        let text = <&'de RawValue>::deserialize(self.inner)?.get();
        self.position.note_rejection(if context.fits_whole(node, text, depth.into(), inside) {
            Ok(text)
        } else {
            Err(rejection())
        })
    }

    /// Takes the text of a value for a type that keeps it: no number of it is rounded.
    fn kept_text(self) -> Result<&'de str, D::Error> {
        let context = self.position.context;
        let wide = context.wide.get();
        let text = self.whole();
        context.wide.set(wide);
        text
    }

    fn takes(&self, json_type: JsonType) -> bool {
        self.position.rules(json_type).is_ok()
    }

    /// Reads an integer of up to 128 bits. `serde_json` would read only digits for this hint and fail at the point of
    /// `3.0`, so the raw text is read instead.
    fn read_wide_integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let position = self.position;
        let visitor = self.visitor::<V, INTEGER>(visitor);
        let text = <&'de RawValue>::deserialize(self.inner)?.get();
        position.note_rejection(match (text.parse(), text.parse()) {
            (Ok(integer), _) => visitor.visit_i128(integer),
            (_, Ok(integer)) => visitor.visit_u128(integer),
            _ => Err(rejection()),
        })
    }
}

/// Creates a deserializer for a value whose text is already checked.
fn checked_text(text: &str) -> serde_json::Deserializer<StrRead<'_>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    deserializer
}

/// Keeps rare cases out of the code that every value runs through.
#[cold]
#[inline(never)]
fn rarely<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Passes a hint on: by way of the text if the node is buffered, otherwise with a checking visitor.
macro_rules! pass {
    ($self:ident . $method:ident ( $($argument:expr),* ; $visitor:ident ) $origin:expr) => {{
        if $self.position.is_buffered() {
            let free = $self.position.at(ANY);
            let mut inner = checked_text($self.whole()?);
            let checked = CheckedDeserializer { inner: &mut inner, position: &free };
            return checked.$method($($argument,)* $visitor).map_err(D::Error::custom);
        }
        let visitor = $self.visitor::<V, { $origin }>($visitor);
        let position = $self.position;
        position.note_rejection($self.inner.$method($($argument,)* visitor))
    }};
}

macro_rules! pass_hints {
    ($origin:ident: $($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            pass!(self.$method(; visitor) $origin)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for CheckedDeserializer<'_, D> {
    type Error = D::Error;

    pass_hints! {
        INTEGER: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    pass_hints! {
        HINTED: deserialize_bool deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_option deserialize_seq deserialize_map deserialize_identifier
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        pass!(self.deserialize_any(; visitor) UNHINTED)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if self.position.is_buffered() {
            pass!(self.deserialize_i128(; visitor) INTEGER)
        } else {
            rarely(|| self.read_wide_integer(visitor))
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if self.position.is_buffered() {
            pass!(self.deserialize_u128(; visitor) INTEGER)
        } else {
            rarely(|| self.read_wide_integer(visitor))
        }
    }

    /// Checks a value that the type ignores: the schema may have rules for it.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let ignored = &self.position.context.ignored;
        ignored.set(ignored.get() + 1);
        let value = self.deserialize_any(visitor);
        ignored.set(ignored.get() - 1);
        value
    }

    /// Reads `()` as parameters from the empty object.
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if !self.position.is_buffered() && !self.takes(JsonType::Null) && self.takes(JsonType::Object) {
            return self.deserialize_map(EmptyMapAsUnit(visitor));
        }
        pass!(self.deserialize_unit(; visitor) HINTED)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Self::Error> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        if name == JSON_TEXT {
            return rarely(|| visitor.visit_borrowed_bytes(self.kept_text()?.as_bytes()));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Self::Error> {
        pass!(self.deserialize_tuple(len; visitor) HINTED)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        pass!(self.deserialize_tuple_struct(name, len; visitor) HINTED)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        pass!(self.deserialize_struct(name, fields; visitor) STRUCT)
    }

    /// Reads a set of strings as a string, never in the `{"Variant":null}` form that serde would also accept.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        if self.position.context.arena.is_string_enum(self.position.node) {
            return self.deserialize_str(StrAsVariant(visitor));
        }
        if self.position.node == ANY {
            let position = self.position;
            return rarely(|| self.inner.deserialize_enum(name, variants, WrappedEnum { inner: visitor, position }));
        }
        let free = self.position.at(ANY);
        let mut inner = checked_text(self.whole()?);
        CheckedDeserializer { inner: &mut inner, position: &free }
            .deserialize_enum(name, variants, visitor)
            .map_err(D::Error::custom)
    }
}

/// A seed for the value at a position.
pub(super) struct CheckedSeed<'a, T> {
    pub(super) inner: T,
    pub(super) position: &'a ReadPosition<'a>,
}

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for CheckedSeed<'_, T> {
    type Value = T::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        self.inner.deserialize(CheckedDeserializer { inner: deserializer, position: self.position })
    }
}
