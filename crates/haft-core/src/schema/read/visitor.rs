//! The visitor that sees what a value really is, checks it, and passes it on.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::deserializer::{Checked as CheckedDeserializer, refusal};
use super::map::{CheckedMap, UnknownKeys};
use super::number::NumberMap;
use super::place::Place;
use super::seq::CheckedSeq;
use crate::schema::node::{Open, Typed};
use crate::schema::number::{Exactness, Num};
use crate::schema::text::number_token;
use crate::schema::types::JsonType;

/// How the type asked for the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// For whatever comes.
    Unhinted,
    /// For a certain kind of value.
    Hinted,
}

/// A visitor at a place.
pub(super) struct Checked<'a, V> {
    pub(super) inner: V,
    pub(super) place: &'a Place<'a>,
    pub(super) origin: Origin,
}

impl<'a, V> Checked<'a, V> {
    /// The rules for a value of this type, or the refusal if there can't be one.
    #[inline]
    fn rules<E: Error>(&self, json_type: JsonType) -> Result<Option<&'a Typed>, E> {
        self.place.rules(json_type).map_err(|_| refusal())
    }

    #[inline]
    fn simple<E: Error>(&self, json_type: JsonType) -> Result<(), E> {
        if self.place.is_free(json_type) { Ok(()) } else { Err(refusal()) }
    }

    #[inline]
    fn integer<E: Error>(&self, value: impl Copy + TryInto<i64> + Into<i128>) -> Result<(), E> {
        let fits = self.place.is_free(JsonType::Number)
            || match value.try_into() {
                Ok(small) => small_integer_fits(self.place, small),
                Err(_) => number_fits(self.place, Num::Int(value.into())),
            };
        if fits { Ok(()) } else { Err(refusal()) }
    }

    /// Checks a number; tells whether only integers fit here.
    fn number<E: Error>(&self, num: Num) -> Result<bool, E> {
        if number_fits(self.place, num) { Ok(integers_only(self.place)) } else { Err(refusal()) }
    }

    #[inline]
    fn string<E: Error>(&self, text: &str) -> Result<(), E> {
        if self.place.is_free(JsonType::String) || string_fits(self.place, text) { Ok(()) } else { Err(refusal()) }
    }

    #[inline]
    fn enter<E: Error>(&self) -> Result<(), E> {
        if self.place.may_nest() { Ok(()) } else { Err(refusal()) }
    }
}

#[inline(never)]
fn small_integer_fits(place: &Place<'_>, value: i64) -> bool {
    match place.rules(JsonType::Number) {
        Ok(Some(typed)) => typed.sure.contains(value) || number_fits(place, Num::Int(value.into())),
        rules => rules.is_ok(),
    }
}

#[inline(never)]
fn number_fits(place: &Place<'_>, num: Num) -> bool {
    match place.rules(JsonType::Number) {
        Ok(Some(typed)) => typed.number.fault(num, typed.integers_only(), Exactness::Required).is_none(),
        rules => rules.is_ok(),
    }
}

fn integers_only(place: &Place<'_>) -> bool {
    matches!(place.rules(JsonType::Number), Ok(Some(typed)) if typed.integers_only())
}

#[inline(never)]
fn string_fits(place: &Place<'_>, text: &str) -> bool {
    match place.rules(JsonType::String) {
        Ok(Some(typed)) => typed.string.fault(text).is_none(),
        rules => rules.is_ok(),
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Checked<'_, V> {
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
        self.integer(value)?;
        self.inner.visit_i64(value)
    }

    #[inline]
    fn visit_u64<E: Error>(self, value: u64) -> Result<V::Value, E> {
        self.integer(value)?;
        self.inner.visit_u64(value)
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<V::Value, E> {
        self.number(Num::Int(value))?;
        self.inner.visit_i128(value)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<V::Value, E> {
        self.number(i128::try_from(value).map_or(Num::Huge(value), Num::Int))?;
        self.inner.visit_u128(value)
    }

    #[inline]
    fn visit_f64<E: Error>(self, value: f64) -> Result<V::Value, E> {
        if self.place.reading.rejects(value) {
            return Err(refusal());
        }
        if self.place.is_free(JsonType::Number) || !self.number(Num::Float(value))? {
            return self.inner.visit_f64(value);
        }
        // `3.0` where an integer is meant.
        match Num::exact_integer(value) {
            Some(int) => match u64::try_from(int) {
                Ok(int) => self.inner.visit_u64(int),
                Err(_) => self.inner.visit_i64(int),
            },
            // Nothing is made of it, so nothing is rounded.
            None if self.place.reading.ignored.get() > 0 => self.inner.visit_f64(value),
            None => Err(E::invalid_type(Unexpected::Float(value), &self.inner)),
        }
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

    /// `serde_json` gives a JSON string as bytes to types that ask for bytes, even one that is not Unicode.
    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<V::Value, E> {
        self.string(std::str::from_utf8(value).map_err(|_| refusal())?)?;
        self.inner.visit_bytes(value)
    }

    fn visit_borrowed_bytes<E: Error>(self, value: &'de [u8]) -> Result<V::Value, E> {
        self.string(std::str::from_utf8(value).map_err(|_| refusal())?)?;
        self.inner.visit_borrowed_bytes(value)
    }

    fn visit_byte_buf<E: Error>(self, value: Vec<u8>) -> Result<V::Value, E> {
        self.string(std::str::from_utf8(&value).map_err(|_| refusal())?)?;
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
        self.inner.visit_some(CheckedDeserializer { inner: deserializer, place: self.place })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.inner.visit_newtype_struct(CheckedDeserializer { inner: deserializer, place: self.place })
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.enter()?;
        let rule = self.rules(JsonType::Array)?.map(|typed| &typed.array);
        let mut seq = CheckedSeq::new(access, rule, self.place);
        let value = self.inner.visit_seq(&mut seq);
        if value.is_ok() && !seq.is_complete(rule) {
            return Err(refusal());
        }
        value
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<V::Value, A::Error> {
        let mut peeked = None;
        if self.origin == Origin::Unhinted
            && let Some(token) = number_token()
        {
            let first: Option<String> = access.next_key()?;
            if first.as_deref() == Some(token) {
                let text: String = access.next_value()?;
                return self.visit_number_text(text);
            }
            peeked = Some(first);
        }
        self.enter()?;
        let rule = self.rules(JsonType::Object)?.map(|typed| &typed.object);
        let unplaced = rule.is_some_and(|rule| rule.open == Open::Implied) && self.place.reading.arena.is_from_type();
        let unknown = if unplaced { UnknownKeys::Hide } else { UnknownKeys::Show };
        let mut map = CheckedMap::new(access, rule, self.place, unknown);
        if let Some(first) = peeked {
            map.put_back(first);
        }
        let value = self.inner.visit_map(&mut map);
        if value.is_ok() && !map.is_complete() {
            return Err(refusal());
        }
        value
    }
}

impl<'de, V: Visitor<'de>> Checked<'_, V> {
    /// A number that came as text. One that no machine number holds is checked as the nearest float and passed on
    /// with all its digits.
    fn visit_number_text<E: Error>(self, text: String) -> Result<V::Value, E> {
        if let Ok(int) = text.parse::<u64>() {
            return self.visit_u64(int);
        }
        if let Ok(int) = text.parse::<i64>() {
            return self.visit_i64(int);
        }
        let wide = text.parse().map(Num::Int).or_else(|_| text.parse().map(Num::Huge));
        if let Ok(wide) = wide {
            self.number::<E>(wide)?;
            return self.inner.visit_map(NumberMap::new(text));
        }
        let float = text.parse::<f64>().ok().filter(|float| float.is_finite()).ok_or_else(refusal)?;
        let lossless = serde_json::Number::from_f64(float).is_some_and(|number| number.to_string() == text);
        if lossless || self.number::<E>(Num::Float(float))? {
            return self.visit_f64(float);
        }
        self.inner.visit_map(NumberMap::new(text))
    }
}
