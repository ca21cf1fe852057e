//! A deserializer for an object's key: a string, or the text that a numeric or boolean map key is parsed from.

use std::marker::PhantomData;

use serde::de::value::StrDeserializer;
use serde::de::{Error, IntoDeserializer, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

/// A deserializer for a key.
pub(super) struct KeyDeserializer<'k, 'de, E> {
    key: KeyText<'k, 'de>,
    error: PhantomData<E>,
}

enum KeyText<'k, 'de> {
    Transient(&'k str),
    Borrowed(&'de str),
}

impl<'k, 'de, E> KeyDeserializer<'k, 'de, E> {
    #[inline]
    pub(super) fn transient(key: &'k str) -> Self {
        Self { key: KeyText::Transient(key), error: PhantomData }
    }

    #[inline]
    pub(super) fn borrowed(key: &'de str) -> Self {
        Self { key: KeyText::Borrowed(key), error: PhantomData }
    }

    #[inline]
    pub(super) fn text(&self) -> &str {
        match self.key {
            KeyText::Transient(key) | KeyText::Borrowed(key) => key,
        }
    }
}

macro_rules! parsed {
    ($($method:ident => $visit:ident as $type:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            match self.text().parse::<$type>() {
                // `01` would be the same key as `1`, and one of the two would be lost.
                Ok(parsed) if parsed.to_string() == self.text() => visitor.$visit(parsed),
                _ => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de, E: Error> Deserializer<'de> for KeyDeserializer<'_, 'de, E> {
    type Error = E;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.key {
            KeyText::Transient(key) => visitor.visit_str(key),
            KeyText::Borrowed(key) => visitor.visit_borrowed_str(key),
        }
    }

    parsed! {
        deserialize_bool => visit_bool as bool;
        deserialize_i8 => visit_i8 as i8;
        deserialize_i16 => visit_i16 as i16;
        deserialize_i32 => visit_i32 as i32;
        deserialize_i64 => visit_i64 as i64;
        deserialize_i128 => visit_i128 as i128;
        deserialize_u8 => visit_u8 as u8;
        deserialize_u16 => visit_u16 as u16;
        deserialize_u32 => visit_u32 as u32;
        deserialize_u64 => visit_u64 as u64;
        deserialize_u128 => visit_u128 as u128;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        let variant: StrDeserializer<'_, E> = self.text().into_deserializer();
        visitor.visit_enum(variant)
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}
