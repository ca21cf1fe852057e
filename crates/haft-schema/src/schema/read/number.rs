//! Numbers with all their digits, in the form that `serde_json` uses for them when `arbitrary_precision` is enabled.

use std::marker::PhantomData;

use serde::de::value::{StrDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess};

use super::key::KeyDeserializer;
use crate::schema::tree::number_token;

/// Access to an object whose first key may already have been read.
pub(super) struct PeekedMap<A> {
    pub(super) first: FirstKey,
    pub(super) access: A,
}

/// The first key of an object.
#[derive(Default)]
pub(super) enum FirstKey {
    /// The key is not read yet, or was put back.
    #[default]
    Ahead,
    /// The key was read.
    Taken(String),
    /// There is no key.
    Missing,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for PeekedMap<A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match std::mem::take(&mut self.first) {
            FirstKey::Ahead => self.access.next_key_seed(seed),
            FirstKey::Missing => Ok(None),
            FirstKey::Taken(key) => seed.deserialize(KeyDeserializer::transient(&key)).map(Some),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.access.next_value_seed(seed)
    }
}

/// Access to one entry: the token, then the digits.
pub(super) struct NumberMap<E> {
    text: Option<String>,
    given: bool,
    error: PhantomData<E>,
}

impl<E> NumberMap<E> {
    pub(super) fn new(text: String) -> Self {
        Self { text: Some(text), given: false, error: PhantomData }
    }
}

impl<'de, E: Error> MapAccess<'de> for NumberMap<E> {
    type Error = E;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, E> {
        if self.given {
            return Ok(None);
        }
        self.given = true;
        let token: StrDeserializer<'_, E> = number_token().unwrap_or_default().into_deserializer();
        seed.deserialize(token).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, E> {
        let text: StringDeserializer<E> = self.text.take().unwrap_or_default().into_deserializer();
        seed.deserialize(text)
    }
}
