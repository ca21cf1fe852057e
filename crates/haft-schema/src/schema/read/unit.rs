//! Visitors for the cases where serde's data model and the JSON of a type differ.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, EnumAccess, Error, IntoDeserializer, MapAccess, VariantAccess, Visitor};

use super::deserializer::CheckedSeed;
use super::position::ReadPosition;
use super::visitor::{CheckedVisitor, HINTED, STRUCT};
use crate::schema::node::ANY;

/// A visitor that reads an object without members as `()`.
pub(super) struct EmptyMapAsUnit<V>(pub(super) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for EmptyMapAsUnit<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an empty object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<V::Value, A::Error> {
        match access.next_key::<String>()? {
            None => self.0.visit_unit(),
            Some(key) => Err(A::Error::custom(format!("unexpected key {key:?}"))),
        }
    }
}

/// A visitor that reads a string as a variant without content.
pub(super) struct StrAsVariant<V>(pub(super) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for StrAsVariant<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    #[inline]
    fn visit_str<E: Error>(self, value: &str) -> Result<V::Value, E> {
        let variant: StrDeserializer<'_, E> = value.into_deserializer();
        self.0.visit_enum(variant)
    }
}

/// A seed that passes an enum on and checks the content of its variants.
pub(super) struct WrappedEnum<'a, T> {
    pub(super) inner: T,
    pub(super) position: &'a ReadPosition<'a>,
}

impl<'a, T> WrappedEnum<'a, T> {
    fn content(&self) -> ReadPosition<'a> {
        self.position.child(ANY)
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for WrappedEnum<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(WrappedEnum { inner: access, position: self.position })
    }
}

impl<'de, 'a, A: EnumAccess<'de>> EnumAccess<'de> for WrappedEnum<'a, A> {
    type Error = A::Error;
    type Variant = WrappedEnum<'a, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let (name, variant) = self.inner.variant_seed(seed)?;
        Ok((name, WrappedEnum { inner: variant, position: self.position }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for WrappedEnum<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let position = self.content();
        self.inner.newtype_variant_seed(CheckedSeed { inner: seed, position: &position })
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        let position = self.content();
        let visitor = CheckedVisitor::<_, HINTED> { inner: visitor, position: &position };
        self.inner.tuple_variant(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let position = self.content();
        let visitor = CheckedVisitor::<_, STRUCT> { inner: visitor, position: &position };
        self.inner.struct_variant(fields, visitor)
    }
}
