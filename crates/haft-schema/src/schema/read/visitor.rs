//! The visitor that checks a value by its actual type and passes it on.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};

use super::deserializer::{CheckedDeserializer, rejection};
use super::map::CheckedMap;
use super::number::{FirstKey, NumberMap, PeekedMap};
use super::position::ReadPosition;
use super::seq::CheckedSeq;
use crate::canonical::is_same_number;
use crate::schema::decimal::Decimal;
use crate::schema::tree::number_token;
use crate::schema::types::JsonType;

/// The hint with which the type requests the value: any value, a certain kind of value, or an integer.
///
/// It is a const parameter rather than a field, so that no code is generated for impossible cases.
pub(super) const UNHINTED: u8 = 0;
pub(super) const HINTED: u8 = 1;
pub(super) const INTEGER: u8 = 2;
/// The hint for an object with certain keys. An array is rejected: no type is compiled to be read from both.
pub(super) const STRUCT: u8 = 3;

/// A visitor for the value at a position.
pub(super) struct CheckedVisitor<'a, V, const ORIGIN: u8> {
    pub(super) inner: V,
    pub(super) position: &'a ReadPosition<'a>,
}

impl<V, const ORIGIN: u8> CheckedVisitor<'_, V, ORIGIN> {
    #[inline]
    fn simple<E: Error>(&self, json_type: JsonType) -> Result<(), E> {
        if self.position.is_free(json_type) { Ok(()) } else { Err(rejection()) }
    }

    #[inline]
    fn string<E: Error>(&self, text: &str) -> Result<(), E> {
        if self.position.is_free(JsonType::String) || string_fits(self.position, text) {
            Ok(())
        } else {
            Err(rejection())
        }
    }
}

#[inline(never)]
fn signed_fits(position: &ReadPosition<'_>, value: i64) -> bool {
    match position.rules(JsonType::Number) {
        Ok(Some(typed)) => typed.number.surely_fits(value) || wide_integer_fits(position, &value.to_string()),
        rules => rules.is_ok(),
    }
}

#[inline(never)]
fn unsigned_fits(position: &ReadPosition<'_>, value: u64) -> bool {
    match value.try_into() {
        Ok(small) => signed_fits(position, small),
        Err(_) => wide_integer_fits(position, &value.to_string()),
    }
}

/// Reports whether a number is valid, by its digits.
#[inline(never)]
fn wide_integer_fits(position: &ReadPosition<'_>, digits: &str) -> bool {
    match position.rules(JsonType::Number) {
        Ok(Some(typed)) => typed.number.fits(Decimal::parse(digits), typed.integers_only()),
        rules => rules.is_ok(),
    }
}

/// Reports whether a float is certain to be valid: the digits it was parsed from are not known here.
#[inline(never)]
fn float_fits(position: &ReadPosition<'_>, value: f64) -> bool {
    match position.rules(JsonType::Number) {
        Ok(Some(typed)) => {
            let is_verified = position.context.is_verified();
            if typed.integers_only() {
                is_verified && position.context.takes_as_integer()
            } else {
                is_verified || typed.number.surely_fits_float(value)
            }
        }
        rules => rules.is_ok(),
    }
}

#[inline(never)]
fn string_fits(position: &ReadPosition<'_>, text: &str) -> bool {
    match position.rules(JsonType::String) {
        Ok(Some(typed)) => typed.string.fits(text, &mut position.context.budget.borrow_mut()) == Ok(true),
        rules => rules.is_ok(),
    }
}

impl<'de, V: Visitor<'de>, const ORIGIN: u8> Visitor<'de> for CheckedVisitor<'_, V, ORIGIN> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    #[inline]
    fn visit_bool<E: Error>(self, value: bool) -> Result<V::Value, E> {
        self.simple(JsonType::Boolean)?;
        self.inner.visit_bool(value)
    }

    #[inline]
    fn visit_i64<E: Error>(self, value: i64) -> Result<V::Value, E> {
        let fits = self.position.is_free(JsonType::Number) || signed_fits(self.position, value);
        if fits { self.inner.visit_i64(value) } else { Err(rejection()) }
    }

    #[inline]
    fn visit_u64<E: Error>(self, value: u64) -> Result<V::Value, E> {
        let fits = self.position.is_free(JsonType::Number) || unsigned_fits(self.position, value);
        if fits { self.inner.visit_u64(value) } else { Err(rejection()) }
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<V::Value, E> {
        self.digits(&value.to_string())?;
        self.inner.visit_i128(value)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<V::Value, E> {
        self.digits(&value.to_string())?;
        self.inner.visit_u128(value)
    }

    /// Rejects a float where the schema requires an integer: verification decides by its digits whether it is one.
    #[inline]
    fn visit_f64<E: Error>(self, value: f64) -> Result<V::Value, E> {
        let fits = ORIGIN != INTEGER
            && !self.position.context.rejects(value)
            && (self.position.is_free(JsonType::Number) || float_fits(self.position, value));
        if fits { self.inner.visit_f64(value) } else { Err(rejection()) }
    }

    #[inline]
    fn visit_str<E: Error>(self, value: &str) -> Result<V::Value, E> {
        self.string(value)?;
        self.inner.visit_str(value)
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<V::Value, E> {
        self.string(value)?;
        self.inner.visit_borrowed_str(value)
    }

    fn visit_string<E: Error>(self, value: String) -> Result<V::Value, E> {
        self.string(&value)?;
        self.inner.visit_string(value)
    }

    /// Checks a string that comes as bytes: `serde_json` passes a JSON string as bytes to types that request bytes,
    /// even one that is not valid Unicode.
    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<V::Value, E> {
        self.string(std::str::from_utf8(value).map_err(|_| rejection())?)?;
        self.inner.visit_bytes(value)
    }

    fn visit_borrowed_bytes<E: Error>(self, value: &'de [u8]) -> Result<V::Value, E> {
        self.string(std::str::from_utf8(value).map_err(|_| rejection())?)?;
        self.inner.visit_borrowed_bytes(value)
    }

    fn visit_byte_buf<E: Error>(self, value: Vec<u8>) -> Result<V::Value, E> {
        self.string(std::str::from_utf8(&value).map_err(|_| rejection())?)?;
        self.inner.visit_byte_buf(value)
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.simple(JsonType::Null)?;
        self.inner.visit_unit()
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.simple(JsonType::Null)?;
        self.inner.visit_none()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.inner.visit_some(CheckedDeserializer { inner: deserializer, position: self.position })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.inner.visit_newtype_struct(CheckedDeserializer { inner: deserializer, position: self.position })
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        if const { ORIGIN == STRUCT } {
            return Err(rejection());
        }
        let mut seq = CheckedSeq::new(access, self.position);
        if !seq.begin(self.position) {
            return Err(rejection());
        }
        let value = self.inner.visit_seq(&mut seq);
        if value.is_ok() && !seq.is_complete() {
            return Err(rejection());
        }
        value
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        // A constant condition: otherwise every type would be compiled for numbers that come as text.
        if const { ORIGIN == UNHINTED } { self.number_or_members(access) } else { self.members(access) }
    }
}

impl<'de, V: Visitor<'de>, const ORIGIN: u8> CheckedVisitor<'_, V, ORIGIN> {
    #[inline]
    fn members<A: MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let mut map = CheckedMap::new(access, self.position);
        if !map.begin() {
            return Err(rejection());
        }
        let value = self.inner.visit_map(&mut map);
        if value.is_ok() && !map.is_complete() {
            return Err(rejection());
        }
        value
    }

    /// Reads an object, or a number in the form of an object, distinguished by the first key.
    fn number_or_members<A: MapAccess<'de>>(self, mut access: A) -> Result<V::Value, A::Error> {
        let mut first = FirstKey::Ahead;
        if let Some(token) = number_token() {
            let key: Option<String> = access.next_key()?;
            if key.as_deref() == Some(token) {
                let text: String = access.next_value()?;
                return self.visit_number_text(text);
            }
            first = key.map_or(FirstKey::Missing, FirstKey::Taken);
        }
        self.members(PeekedMap { first, access })
    }

    fn digits<E: Error>(&self, digits: &str) -> Result<(), E> {
        let fits = self.position.is_free(JsonType::Number) || wide_integer_fits(self.position, digits);
        if fits { Ok(()) } else { Err(rejection()) }
    }

    /// Reads a number that came as text. One that no machine number represents is passed on with all its digits.
    fn visit_number_text<E: Error>(self, text: String) -> Result<V::Value, E> {
        if let Ok(integer) = text.parse::<u64>() {
            return self.visit_u64(integer);
        }
        if let Ok(integer) = text.parse::<i64>() {
            return self.visit_i64(integer);
        }
        self.digits::<E>(&text)?;
        let float = text.parse::<f64>().ok().filter(|float| float.is_finite()).ok_or_else(rejection)?;
        let lossless =
            serde_json::Number::from_f64(float).is_some_and(|number| is_same_number(&number.to_string(), &text));
        if lossless {
            return self.inner.visit_f64(float);
        }
        self.inner.visit_map(NumberMap::new(text))
    }
}
