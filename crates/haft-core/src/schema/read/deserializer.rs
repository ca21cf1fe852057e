//! A deserializer that checks every value against its node on the way into the type.
//!
//! It wraps another one (text or tree) and passes serde's hints on, so the type is built as if it were read directly.
//! The first value that breaks a rule ends the reading; what exactly is wrong is found out afterwards, from the tree.

use serde::de::{DeserializeSeed, Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::place::Place;
use super::unit::{EmptyMapAsUnit, StrAsVariant, WrappedEnum};
use super::visitor::{Checked as CheckedVisitor, Origin};
use crate::schema::explain;
use crate::schema::node::ANY;
use crate::schema::number::Exactness;
use crate::schema::path::Path;
use crate::schema::settle::settle;
use crate::schema::text::{Notes, TreeSeed};
use crate::schema::types::JsonType;

/// The error that ends a reading when a rule is broken. Its text is never shown.
#[cold]
#[inline(never)]
pub(super) fn refusal<E: Error>() -> E {
    E::custom("")
}

/// A deserializer at a place.
pub(super) struct Checked<'a, D> {
    pub(super) inner: D,
    pub(super) place: &'a Place<'a>,
}

impl<'de, 'a, D: Deserializer<'de>> Checked<'a, D> {
    #[inline]
    fn visitor<V>(&self, inner: V, origin: Origin) -> CheckedVisitor<'a, V> {
        CheckedVisitor { inner, place: self.place, origin }
    }

    /// Builds the tree, checks it whole, and goes on from there.
    #[cold]
    #[inline(never)]
    fn buffer<R>(self, read: impl FnOnce(Checked<'_, Value>) -> Result<R, serde_json::Error>) -> Result<R, D::Error> {
        let Place { reading, node, depth, inside } = *self.place;
        let notes = Notes::new(reading.limits);
        let seed = TreeSeed { notes: &notes, depth: depth.into(), inside, path: &Path::Root };
        let mut tree = seed.deserialize(self.inner)?;
        let clean = notes.faults.borrow().is_empty() && !reading.rejects_in(&tree);
        if !clean || !explain::fits(reading.arena, node, &tree, Exactness::Required) {
            return Err(refusal());
        }
        if notes.saw_whole_float.get() || reading.arena.is_from_type() {
            settle(reading.arena, node, &mut tree);
        }
        read(Checked { inner: tree, place: &self.place.at(ANY) }).map_err(D::Error::custom)
    }

    fn takes(&self, json_type: JsonType) -> bool {
        self.place.rules(json_type).is_ok()
    }
}

impl<'de, D: Deserializer<'de>> Checked<'_, D> {
    /// An integer of up to 128 bits. Asked for one, `serde_json` reads digits and stumbles over the point of `3.0`, so
    /// it is asked for the text.
    fn very_wide<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        if self.place.is_buffered() {
            return self.buffer(|tree| tree.very_wide(visitor));
        }
        let visitor = self.visitor(visitor, Origin::Hinted);
        let raw = Box::<RawValue>::deserialize(self.inner)?;
        if let Ok(int) = raw.get().parse() {
            return visitor.visit_i128(int);
        }
        if let Ok(int) = raw.get().parse() {
            return visitor.visit_u128(int);
        }
        match raw.get().parse() {
            Ok(float) => visitor.visit_f64(float),
            Err(_) => Err(refusal()),
        }
    }
}

/// Keeps what few values need out of the code that all of them run through.
#[cold]
#[inline(never)]
fn rarely<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Passes a hint on: through the tree where the node asks for it, else with a checking visitor.
macro_rules! pass {
    ($self:ident . $method:ident ( $($argument:expr),* ; $visitor:ident ) $origin:expr) => {{
        if $self.place.is_buffered() {
            return $self.buffer(|tree| tree.$method($($argument,)* $visitor));
        }
        let visitor = $self.visitor($visitor, $origin);
        $self.inner.$method($($argument,)* visitor)
    }};
}

macro_rules! pass_hints {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            pass!(self.$method(; visitor) Origin::Hinted)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Checked<'_, D> {
    type Error = D::Error;

    pass_hints! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_option deserialize_seq deserialize_map deserialize_identifier
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        pass!(self.deserialize_any(; visitor) Origin::Unhinted)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        rarely(|| self.very_wide(visitor))
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        rarely(|| self.very_wide(visitor))
    }

    /// What a type ignores is still checked: the schema may have rules for it.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let ignored = &self.place.reading.ignored;
        ignored.set(ignored.get() + 1);
        let value = self.deserialize_any(visitor);
        ignored.set(ignored.get() - 1);
        value
    }

    /// `()` as parameters is the empty object on the wire.
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if !self.place.is_buffered() && !self.takes(JsonType::Null) && self.takes(JsonType::Object) {
            return self.deserialize_map(EmptyMapAsUnit(visitor));
        }
        pass!(self.deserialize_unit(; visitor) Origin::Hinted)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Self::Error> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Self::Error> {
        pass!(self.deserialize_tuple(len; visitor) Origin::Hinted)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        pass!(self.deserialize_tuple_struct(name, len; visitor) Origin::Hinted)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        pass!(self.deserialize_struct(name, fields; visitor) Origin::Hinted)
    }

    /// A set of strings is read as a string, never in the `{"Variant":null}` form that serde would also take.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        if self.place.is_buffered() {
            return self.buffer(|tree| tree.deserialize_enum(name, variants, visitor));
        }
        if self.place.reading.arena.is_string_enum(self.place.node) {
            return self.deserialize_str(StrAsVariant(visitor));
        }
        if self.place.node == ANY {
            let place = self.place;
            return rarely(|| self.inner.deserialize_enum(name, variants, WrappedEnum { inner: visitor, place }));
        }
        self.buffer(|tree| tree.deserialize_enum(name, variants, visitor))
    }
}

/// A seed at a place.
pub(super) struct CheckedSeed<'a, T> {
    pub(super) inner: T,
    pub(super) place: &'a Place<'a>,
}

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for CheckedSeed<'_, T> {
    type Value = T::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        self.inner.deserialize(Checked { inner: deserializer, place: self.place })
    }
}
