//! The members of an object, each at its place, with the keys that must be there and the ones that must not.

use std::collections::HashSet;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};

use super::deserializer::{CheckedSeed, Spot, refusal};
use super::key::KeyDeserializer;
use crate::schema::limit::DuplicateKeys;
use crate::schema::node::{ANY, NEVER, NodeId, ObjectRule};
use crate::schema::path::push_key;
use crate::schema::seen::Seen;
use crate::schema::text::Inside;

/// What the type gets to see of keys that the schema doesn't declare but allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownKeys {
    /// All of them.
    Show,
    /// None: the type the schema was made from can only ignore them, or mistake one for an alias that the schema
    /// knows nothing of.
    Hide,
}

/// Access to members that looks at every key.
pub(super) struct CheckedMap<'a, A> {
    access: A,
    first: First,
    keys: Keys<'a>,
}

impl<'a, A> CheckedMap<'a, A> {
    pub(super) fn new(access: A, rule: Option<&'a ObjectRule>, spot: Spot<'a>, unknown: UnknownKeys) -> Self {
        Self { access, first: First::NotTaken, keys: Keys::new(rule, spot, unknown) }
    }

    /// Gives back a first key that was taken to look at it, or the news that there is none.
    pub(super) fn put_back(&mut self, first: Option<String>) {
        self.first = First::Taken(first);
    }

    /// To be called when the type has taken what it wants.
    pub(super) fn finish<E: Error>(&self) -> Result<(), E> {
        match self.keys.rule {
            Some(rule) if self.keys.required < rule.required || self.keys.count < rule.min => Err(refusal()),
            _ => Ok(()),
        }
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for CheckedMap<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, mut seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            let taken = match std::mem::replace(&mut self.first, First::NotTaken) {
                First::NotTaken => {
                    let taken = self.access.next_key_seed(KeySeed { inner: seed, keys: &mut self.keys });
                    if taken.is_err() {
                        self.keys.leave_trail();
                    }
                    taken?
                }
                First::Taken(None) => None,
                First::Taken(Some(key)) => Some(KeySeed { inner: seed, keys: &mut self.keys }.take(&key)?),
            };
            match taken {
                None => return Ok(None),
                Some(Key::Shown(key)) => return Ok(Some(key)),
                Some(Key::Hidden(back)) => {
                    seed = back;
                    self.next_value_seed(std::marker::PhantomData::<IgnoredAny>)?;
                }
            }
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let spot = self.keys.spot.child(self.keys.node, self.keys.inside);
        let value = self.access.next_value_seed(CheckedSeed { inner: seed, spot });
        if value.is_err() {
            self.keys.leave_trail();
        }
        value
    }

    fn size_hint(&self) -> Option<usize> {
        self.access.size_hint()
    }
}

/// Whether the first key was taken from the access already.
enum First {
    NotTaken,
    Taken(Option<String>),
}

/// What is known of the keys so far.
struct Keys<'a> {
    rule: Option<&'a ObjectRule>,
    spot: Spot<'a>,
    unknown: UnknownKeys,
    declared: Seen,
    others: Others,
    count: usize,
    required: usize,
    /// Where the next key is declared if they come in order.
    hint: usize,
    /// The node of the key taken last, and what its value is inside of.
    node: NodeId,
    inside: Inside,
    /// The key itself, if its name may be asked for.
    name: Option<String>,
}

impl<'a> Keys<'a> {
    fn new(rule: Option<&'a ObjectRule>, spot: Spot<'a>, unknown: UnknownKeys) -> Self {
        Self {
            rule,
            spot,
            unknown,
            declared: Seen::default(),
            others: Others::default(),
            count: 0,
            required: 0,
            hint: 0,
            node: ANY,
            inside: Inside::Other,
            name: None,
        }
    }

    /// Notes the key under which the type refused a value.
    #[cold]
    fn leave_trail(&self) {
        if let (Some(trail), Some(name)) = (self.spot.reading.trail, &self.name) {
            let mut step = String::new();
            push_key(&mut step, name);
            trail.borrow_mut().push(step);
        }
    }

    /// Takes note of a key; whether the type may see it.
    #[inline]
    fn take<E: Error>(&mut self, key: &str) -> Result<UnknownKeys, E> {
        if self.spot.forbids(key) {
            return Err(refusal());
        }
        self.inside = Inside::key(key);
        self.count += 1;
        if self.spot.reading.trail.is_some() {
            self.name = Some(key.to_owned());
        }
        let strict = self.spot.reading.limits.duplicate_keys == DuplicateKeys::Refuse;
        if let Some(rule) = self.rule {
            if self.count > rule.max {
                return Err(refusal());
            }
            if let Some(at) = rule.find(key, self.hint) {
                let property = &rule.properties[at];
                if !self.declared.insert(at) {
                    if strict {
                        return Err(refusal());
                    }
                } else if property.required {
                    self.required += 1;
                }
                self.hint = at + 1;
                self.node = property.node;
                return Ok(UnknownKeys::Show);
            }
            if rule.additional == NEVER {
                return Err(refusal());
            }
        }
        if strict && !self.others.insert(key) {
            return Err(refusal());
        }
        self.node = self.rule.map_or(ANY, |rule| rule.additional);
        Ok(self.unknown)
    }
}

/// Which other keys were there. Most objects have none, and pay nothing for it.
#[derive(Default)]
struct Others {
    few: Vec<Box<str>>,
    many: Option<HashSet<Box<str>>>,
}

impl Others {
    const FEW: usize = 16;

    /// Notes one; `false` if it was noted before.
    fn insert(&mut self, key: &str) -> bool {
        if let Some(many) = &mut self.many {
            return many.insert(key.into());
        }
        if self.few.iter().any(|known| &**known == key) {
            return false;
        }
        self.few.push(key.into());
        if self.few.len() > Self::FEW {
            self.many = Some(self.few.drain(..).collect());
        }
        true
    }
}

/// A key as the type sees it, or the seed back if it doesn't.
enum Key<K, V> {
    Shown(V),
    Hidden(K),
}

/// Takes a key as text, looks at it, and builds the type's key from it.
struct KeySeed<'s, 'a, K> {
    inner: K,
    keys: &'s mut Keys<'a>,
}

impl<'de, K: DeserializeSeed<'de>> KeySeed<'_, '_, K> {
    #[inline]
    fn take<E: Error>(self, key: &str) -> Result<Key<K, K::Value>, E> {
        match self.keys.take(key)? {
            UnknownKeys::Show => self.inner.deserialize(KeyDeserializer::transient(key)).map(Key::Shown),
            UnknownKeys::Hide => Ok(Key::Hidden(self.inner)),
        }
    }
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for KeySeed<'_, '_, K> {
    type Value = Key<K, K::Value>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for KeySeed<'_, '_, K> {
    type Value = Key<K, K::Value>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a key")
    }

    #[inline]
    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        self.take(key)
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Self::Value, E> {
        match self.keys.take(key)? {
            UnknownKeys::Show => self.inner.deserialize(KeyDeserializer::borrowed(key)).map(Key::Shown),
            UnknownKeys::Hide => Ok(Key::Hidden(self.inner)),
        }
    }
}
