//! Access to the members of an object that checks every key and value, and detects missing and forbidden keys.

use std::collections::HashSet;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};

use super::deserializer::{CheckedSeed, rejection};
use super::key::KeyDeserializer;
use super::position::ReadPosition;
use crate::schema::forbidden::Inside;
use crate::schema::limit::DuplicateKeys;
use crate::schema::node::{ANY, NEVER, ObjectRule, Openness};
use crate::schema::path::push_key;
use crate::schema::seen::Seen;
use crate::schema::types::JsonType;

/// The visibility to the type of keys that the schema allows without declaring them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnknownKeys {
    /// The type sees all of them.
    Show,
    /// The type sees none: the type that the schema was generated from can only ignore them, or mistake one for an
    /// alias that the schema does not describe.
    Hide,
}

/// Access to members that checks every key.
pub(super) struct CheckedMap<'a, A> {
    access: A,
    keys: ReadKeys<'a>,
}

impl<'a, A> CheckedMap<'a, A> {
    #[inline]
    pub(super) fn new(access: A, position: &'a ReadPosition<'a>) -> Self {
        Self { access, keys: ReadKeys::new(position) }
    }

    /// Begins the object; `false` if no object is allowed here.
    #[inline]
    pub(super) fn begin(&mut self) -> bool {
        self.keys.begin()
    }

    /// Reports whether all required keys were present, after the type has read what it needs.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.keys.are_complete()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for CheckedMap<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, mut seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            let taken = self.access.next_key_seed(KeySeed { inner: seed, keys: &mut self.keys });
            if taken.is_err() {
                self.keys.record_path();
            }
            match taken? {
                None => return Ok(None),
                Some(ReadKey::Shown(key)) => return Ok(Some(key)),
                Some(ReadKey::Hidden(back)) => {
                    seed = back;
                    self.next_value_seed(std::marker::PhantomData::<IgnoredAny>)?;
                }
            }
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let value = self.access.next_value_seed(CheckedSeed { inner: seed, position: &self.keys.value });
        if value.is_err() {
            self.keys.record_path();
        }
        value
    }

    fn size_hint(&self) -> Option<usize> {
        self.access.size_hint()
    }
}

/// The keys read so far.
struct ReadKeys<'a> {
    rule: Option<&'a ObjectRule>,
    position: &'a ReadPosition<'a>,
    /// The position of the value of the last key.
    value: ReadPosition<'a>,
    /// The index of the next property, if keys come in declaration order.
    hint: usize,
    count: usize,
    required: usize,
    declared: Seen,
    unknown: UnknownKeys,
    rare: Option<Box<RareKeyState>>,
}

/// State that few objects need.
#[derive(Default)]
struct RareKeyState {
    /// The keys that are not declared.
    others: OtherKeys,
    /// The last key, if its name may be needed.
    name: Option<String>,
}

impl<'a> ReadKeys<'a> {
    #[inline]
    fn new(position: &'a ReadPosition<'a>) -> Self {
        Self {
            rule: None,
            position,
            value: position.child(ANY),
            hint: 0,
            count: 0,
            required: 0,
            declared: Seen::default(),
            unknown: UnknownKeys::Show,
            rare: None,
        }
    }

    /// Begins the object; `false` if no object is allowed here.
    #[inline(never)]
    fn begin(&mut self) -> bool {
        let Ok(rules) = self.position.rules(JsonType::Object) else { return false };
        if let Some(typed) = rules {
            self.rule = Some(&typed.object);
            if typed.object.open == Openness::Implied && self.position.context.arena.is_from_type() {
                self.unknown = UnknownKeys::Hide;
            }
        }
        self.position.may_nest()
    }

    fn are_complete(&self) -> bool {
        let Self { count, required, .. } = *self;
        self.rule.is_none_or(|rule| required >= rule.required && (rule.min..=rule.max).contains(&count))
    }

    fn rare(&mut self) -> &mut RareKeyState {
        self.rare.get_or_insert_default()
    }

    /// Records the key under which the type rejected a value.
    #[cold]
    #[inline(never)]
    fn record_path(&self) {
        let name = self.rare.as_ref().and_then(|rare| rare.name.as_ref());
        if let (Some(path_to_rejected), Some(name)) = (self.position.context.path_to_rejected, name) {
            let mut step = String::new();
            push_key(&mut step, name);
            path_to_rejected.leave(step, self.value.node);
        }
    }

    /// Records a key, and returns whether the type may see it; `None` if the key is not allowed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every key; measured")]
    fn take(&mut self, key: &str) -> Option<UnknownKeys> {
        if let Some(rule) = self.rule
            && let Some(property) = rule.properties.get(self.hint)
            && &*property.name == key
            && property.plain
            && self.position.context.is_plain
            && self.declared.insert(self.hint)
        {
            self.hint += 1;
            self.count += 1;
            self.required += usize::from(property.required);
            self.value.node = property.node;
            self.value.inside = Inside::Other;
            return Some(UnknownKeys::Show);
        }
        self.take_carefully(key)
    }

    #[inline(never)]
    fn take_carefully(&mut self, key: &str) -> Option<UnknownKeys> {
        if self.position.inside.forbids(key) {
            return None;
        }
        self.count += 1;
        if self.rule.is_some_and(|rule| self.count > rule.max) {
            return None;
        }
        if self.position.context.is_verified() {
            self.rare().name = Some(key.to_owned());
        }
        let strict = self.position.context.limits.duplicate_keys == DuplicateKeys::Reject;
        let declared = self.rule.and_then(|rule| rule.find(key, self.hint).map(|at| (at, &rule.properties[at])));
        let (node, shown) = match (declared, self.rule) {
            (Some((at, property)), _) => {
                if self.declared.insert(at) {
                    self.required += usize::from(property.required);
                } else if strict {
                    return None;
                }
                self.hint = at + 1;
                (property.node, UnknownKeys::Show)
            }
            (None, Some(rule)) if rule.additional == NEVER => return None,
            (None, rule) => {
                if strict && !self.rare().others.insert(key) {
                    return None;
                }
                (rule.map_or(ANY, |rule| rule.additional), self.unknown)
            }
        };
        self.value.node = node;
        self.value.inside = Inside::key(key);
        Some(shown)
    }
}

/// The undeclared keys of an object. Most objects have none, and allocate nothing.
#[derive(Default)]
struct OtherKeys {
    few: Vec<Box<str>>,
    many: Option<HashSet<Box<str>>>,
}

impl OtherKeys {
    const FEW: usize = 16;

    /// Adds a key; `false` if it was already present.
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

/// A key for the type, or the unused seed if the type must not see the key.
enum ReadKey<K, V> {
    Shown(V),
    Hidden(K),
}

/// A seed that reads a key as text, checks it, and deserializes the type's key from it.
struct KeySeed<'s, 'a, K> {
    inner: K,
    keys: &'s mut ReadKeys<'a>,
}

impl<'de, K: DeserializeSeed<'de>> KeySeed<'_, '_, K> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every key; measured")]
    fn take<E: Error>(self, key: KeyDeserializer<'_, 'de, E>) -> Result<ReadKey<K, K::Value>, E> {
        match self.keys.take(key.text()) {
            Some(UnknownKeys::Show) => self.inner.deserialize(key).map(ReadKey::Shown),
            Some(UnknownKeys::Hide) => Ok(ReadKey::Hidden(self.inner)),
            None => self.keys.position.note_rejection(Err(rejection())),
        }
    }
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for KeySeed<'_, '_, K> {
    type Value = ReadKey<K, K::Value>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for KeySeed<'_, '_, K> {
    type Value = ReadKey<K, K::Value>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a key")
    }

    /// Handles a key with escapes, which is rare.
    #[cold]
    #[inline(never)]
    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        self.take(KeyDeserializer::transient(key))
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Self::Value, E> {
        self.take(KeyDeserializer::borrowed(key))
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use crate::schema::{DecodeOptions, Schema};

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Three {
        a: u8,
        b: u8,
        c: Option<u8>,
    }

    fn rejects(text: &str) -> bool {
        Schema::of::<Three>().unwrap().decode::<Three>(text, &DecodeOptions::default()).is_err()
    }

    #[test]
    fn keys_may_come_in_any_order_but_only_once() {
        for order in ["abc", "acb", "bac", "bca", "cab", "cba", "ab", "ba"] {
            let members = |keys: &str| keys.chars().map(|key| format!("\"{key}\":1")).collect::<Vec<_>>().join(",");
            assert!(!rejects(&format!("{{{}}}", members(order))), "{order}");
            for again in order.chars() {
                assert!(rejects(&format!("{{{}}}", members(&format!("{order}{again}")))), "{order}{again}");
            }
        }
        for missing in ["{}", r#"{"a":1}"#, r#"{"b":1}"#, r#"{"c":1,"b":1}"#] {
            assert!(rejects(missing), "{missing}");
        }
    }

    #[test]
    fn a_forbidden_key_is_rejected_even_if_declared() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"__proto__": {}, "constructor": {"properties": {"prototype": {}}}, "prototype": {}, "z": {}},
        });
        let schema = Schema::json(schema).unwrap();
        let fits = |text: &str| schema.decode::<serde_json::Value>(text, &DecodeOptions::default()).is_ok();
        assert!(!fits(r#"{"__proto__":1}"#));
        assert!(!fits(r#"{"constructor":{"prototype":1}}"#));
        assert!(fits(r#"{"prototype":{"prototype":1},"constructor":1}"#));
        assert!(fits(r#"{"constructor":{},"z":{"prototype":1}}"#));
        assert!(fits(r#"{"constructor":{},"prototype":{"prototype":1},"z":1}"#));
    }
}
