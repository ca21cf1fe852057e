//! A deserializer that checks every value against its node on the way into the type.
//!
//! It wraps another one (text or tree) and passes serde's hints on, so the type is built as if it were read directly.
//! The first value that breaks a rule ends the reading; what exactly is wrong is found out afterwards, from the tree.

use serde::de::{DeserializeSeed, Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Reading;
use super::unit::{EmptyMapAsUnit, StrAsVariant, WrappedEnum};
use super::visitor::{Checked as CheckedVisitor, Origin};
use crate::schema::explain;
use crate::schema::node::{ANY, Arena, NodeId};
use crate::schema::number::Exactness;
use crate::schema::path::Path;
use crate::schema::settle::settle;
use crate::schema::text::{Inside, Notes, TreeSeed};
use crate::schema::types::JsonType;

/// Where a value stands. Two words, so that it travels in registers: it is handed on for every value there is.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    pub(super) reading: &'a Reading<'a>,
    place: Place,
}

/// A node, how deep the value stands, inside of what, and how it was asked for: in one word.
#[derive(Clone, Copy)]
struct Place(u64);

impl Place {
    const CONSTRUCTOR: u64 = 1 << 32;
    const UNHINTED: u64 = 1 << 33;
    const DEPTH_SHIFT: u32 = 34;

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is the node")]
    fn node(self) -> NodeId {
        self.0 as NodeId
    }

    #[inline]
    fn with_node(self, node: NodeId) -> Self {
        Self(self.0 & !u64::from(NodeId::MAX) | u64::from(node))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "thirty bits are left, and no stack is as deep as that")]
    fn depth(self) -> usize {
        (self.0 >> Self::DEPTH_SHIFT) as usize
    }

    #[inline]
    fn inside(self) -> Inside {
        if self.0 & Self::CONSTRUCTOR == 0 { Inside::Other } else { Inside::Constructor }
    }
}

impl<'a> Spot<'a> {
    /// The place of the whole value.
    #[inline]
    pub(super) fn root(reading: &'a Reading<'a>) -> Self {
        Self { reading, place: Place(reading.arena.root().into()) }
    }

    #[inline]
    pub(super) fn node(self) -> NodeId {
        self.place.node()
    }

    /// Whether another array or object may begin here.
    #[inline]
    pub(super) fn may_nest(self) -> bool {
        self.place.depth() < self.reading.depth
    }

    /// Whether no object may have this key here.
    #[inline]
    pub(super) fn forbids(self, key: &str) -> bool {
        self.place.inside().forbids(key)
    }

    /// Whether there is nothing to check of a value of this type.
    #[inline]
    pub(super) fn is_free(self, json_type: JsonType) -> bool {
        Arena::is_free(self.node(), json_type)
    }

    /// Whether the type asked for whatever comes.
    #[inline]
    pub(super) fn is_unhinted(self) -> bool {
        self.place.0 & Place::UNHINTED != 0
    }

    /// The same place at another node.
    #[inline]
    pub(super) fn with_node(self, node: NodeId) -> Self {
        Self { place: self.place.with_node(node), ..self }
    }

    /// The place of a child one container further in.
    #[inline]
    pub(super) fn child(self, node: NodeId) -> Self {
        let depth = (self.place.0 >> Place::DEPTH_SHIFT) + 1;
        Self { place: Place(depth << Place::DEPTH_SHIFT | u64::from(node)), ..self }
    }

    /// The same place, inside of what its key says.
    #[inline]
    pub(super) fn inside(self, inside: Inside) -> Self {
        match inside {
            Inside::Constructor => Self { place: Place(self.place.0 | Place::CONSTRUCTOR), ..self },
            Inside::Other => self,
        }
    }

    fn takes(self, json_type: JsonType) -> bool {
        self.reading.arena.rules(self.node(), json_type).is_ok()
    }

    #[inline]
    pub(super) fn visitor<V>(self, inner: V, origin: Origin) -> CheckedVisitor<'a, V> {
        let place = match origin {
            Origin::Hinted => Place(self.place.0 & !Place::UNHINTED),
            Origin::Unhinted => Place(self.place.0 | Place::UNHINTED),
        };
        CheckedVisitor { inner, spot: Self { place, ..self } }
    }
}

/// The error that ends a reading when a rule is broken. Its text is never shown.
#[cold]
#[inline(never)]
pub(super) fn refusal<E: Error>() -> E {
    E::custom("")
}

/// A deserializer at a place.
pub(super) struct Checked<'a, D> {
    pub(super) inner: D,
    pub(super) spot: Spot<'a>,
}

impl<'de, 'a, D: Deserializer<'de>> Checked<'a, D> {
    #[inline]
    fn must_buffer(&self) -> bool {
        Arena::is_buffered(self.spot.node())
    }

    /// Builds the tree, checks it whole, and goes on from there.
    fn buffer(self) -> Result<Checked<'a, Value>, D::Error> {
        let Spot { reading, place } = self.spot;
        let node = place.node();
        let notes = Notes::new(reading.limits);
        let seed = TreeSeed { notes: &notes, depth: place.depth(), inside: place.inside(), path: &Path::Root };
        let mut tree = seed.deserialize(self.inner)?;
        let clean = notes.faults.borrow().is_empty();
        if !clean || !explain::fits(reading.arena, node, &tree, Exactness::Required) {
            return Err(refusal());
        }
        if notes.saw_whole_float.get() || reading.arena.is_from_type() {
            settle(reading.arena, node, &mut tree);
        }
        Ok(Checked { inner: tree, spot: self.spot.with_node(ANY) })
    }
}

impl<'de, D: Deserializer<'de>> Checked<'_, D> {
    /// An integer of up to 128 bits. Asked for one, `serde_json` reads digits and stumbles over the point of `3.0`, so
    /// it is asked for the text.
    fn very_wide<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        if self.must_buffer() {
            return self.buffer()?.very_wide(visitor).map_err(D::Error::custom);
        }
        let raw = Box::<RawValue>::deserialize(self.inner)?;
        let visitor = self.spot.visitor(visitor, Origin::Hinted);
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
        if $self.must_buffer() {
            return rarely(|| $self.buffer()?.$method($($argument,)* $visitor).map_err(D::Error::custom));
        }
        let visitor = $self.spot.visitor($visitor, $origin);
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
        self.deserialize_any(visitor)
    }

    /// `()` as parameters is the empty object on the wire.
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if !self.must_buffer() && !self.spot.takes(JsonType::Null) && self.spot.takes(JsonType::Object) {
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
        if self.must_buffer() {
            return rarely(|| self.buffer()?.deserialize_enum(name, variants, visitor).map_err(D::Error::custom));
        }
        if self.spot.reading.arena.is_string_enum(self.spot.node()) {
            return self.deserialize_str(StrAsVariant(visitor));
        }
        if self.spot.node() == ANY {
            let spot = self.spot;
            return rarely(|| self.inner.deserialize_enum(name, variants, WrappedEnum { inner: visitor, spot }));
        }
        rarely(|| self.buffer()?.deserialize_enum(name, variants, visitor).map_err(D::Error::custom))
    }
}

/// A seed at a place.
pub(super) struct CheckedSeed<'a, T> {
    pub(super) inner: T,
    pub(super) spot: Spot<'a>,
}

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for CheckedSeed<'_, T> {
    type Value = T::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        self.inner.deserialize(Checked { inner: deserializer, spot: self.spot })
    }
}
