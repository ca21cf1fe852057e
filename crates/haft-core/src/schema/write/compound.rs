//! Arrays and objects on the way out: every element and member at its node, and at the end what is missing.

use std::slice;

use serde::Serialize;
use serde::ser::{
    Error, Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Value;

use super::{At, Writing, refusal};
use crate::schema::node::{ANY, ArrayRule, NEVER, NodeId, ObjectRule, Property};
use crate::schema::seen::Seen;

/// The elements of an array.
pub(super) struct Elements<'a, I> {
    inner: I,
    writing: &'a Writing<'a>,
    rule: Option<&'a ArrayRule>,
    /// The nodes of the elements to come that have one each, and that of all others.
    ahead: slice::Iter<'a, NodeId>,
    items: NodeId,
    count: usize,
    /// The key that the array stands under by itself.
    variant: Option<&'static str>,
}

impl<'a, I> Elements<'a, I> {
    #[inline]
    pub(super) fn new(inner: I, writing: &'a Writing<'a>, rule: Option<&'a ArrayRule>) -> Self {
        let (ahead, items) = rule.map_or((&[][..], ANY), |rule| (&rule.prefix, rule.items));
        Self { inner, writing, rule, ahead: ahead.iter(), items, count: 0, variant: None }
    }

    /// The elements of a variant, where nothing is to be checked.
    pub(super) fn of_variant(inner: I, writing: &'a Writing<'a>, variant: &'static str) -> Self {
        Self { variant: Some(variant), ..Self::new(inner, writing, None) }
    }

    #[inline]
    fn next<'v, T: ?Sized>(&mut self, value: &'v T) -> At<'a, 'v, T> {
        let node = self.ahead.next().copied().unwrap_or(self.items);
        self.count += 1;
        At { writing: self.writing, node, value }
    }

    #[inline]
    fn check<E: Error>(&self) -> Result<(), E> {
        match self.rule {
            Some(rule) if self.count < rule.min || self.count > rule.max => Err(refusal()),
            _ => Ok(()),
        }
    }
}

macro_rules! elements {
    ($($trait:ident.$method:ident)*) => {$(
        impl<I: $trait> $trait for Elements<'_, I> {
            type Ok = I::Ok;
            type Error = I::Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), I::Error> {
                let at = self.next(value);
                let written = self.inner.$method(&at);
                if written.is_err() {
                    self.writing.leave_element(self.variant, self.count - 1);
                }
                written
            }

            #[inline]
            fn end(self) -> Result<I::Ok, I::Error> {
                self.check()?;
                self.inner.end()
            }
        }
    )*};
}

elements! {
    SerializeSeq.serialize_element
    SerializeTuple.serialize_element
    SerializeTupleStruct.serialize_field
    SerializeTupleVariant.serialize_field
}

/// The fields of a struct.
pub(super) struct Fields<'a, I> {
    inner: I,
    writing: &'a Writing<'a>,
    keys: Keys<'a>,
    /// The key that the object stands under by itself.
    variant: Option<&'static str>,
}

impl<'a, I> Fields<'a, I> {
    #[inline]
    pub(super) fn new(inner: I, writing: &'a Writing<'a>, rule: Option<&'a ObjectRule>) -> Self {
        Self { inner, writing, keys: Keys::new(rule), variant: None }
    }

    /// The fields of a variant, where nothing is to be checked.
    pub(super) fn of_variant(inner: I, writing: &'a Writing<'a>, variant: &'static str) -> Self {
        Self { variant: Some(variant), ..Self::new(inner, writing, None) }
    }
}

macro_rules! fields {
    ($($trait:ident)*) => {$(
        impl<I: $trait> $trait for Fields<'_, I> {
            type Ok = I::Ok;
            type Error = I::Error;

            // The key is known where this is inlined, and costs one comparison.
            #[inline(always)]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), I::Error> {
                let node = self.keys.take(key).ok_or_else(refusal)?;
                let written = self.inner.serialize_field(key, &At { writing: self.writing, node, value });
                if written.is_err() {
                    self.writing.leave_key(self.variant, key);
                }
                written
            }

            #[inline]
            fn skip_field(&mut self, key: &'static str) -> Result<(), I::Error> {
                self.inner.skip_field(key)
            }

            #[inline]
            fn end(self) -> Result<I::Ok, I::Error> {
                self.keys.check()?;
                self.inner.end()
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }

/// The members of a map.
pub(super) struct Members<'a, I> {
    inner: I,
    writing: &'a Writing<'a>,
    keys: Keys<'a>,
    /// The node of the key written last.
    node: NodeId,
    /// Its name, if somebody may ask for it.
    key: String,
}

impl<'a, I> Members<'a, I> {
    pub(super) fn new(inner: I, writing: &'a Writing<'a>, rule: Option<&'a ObjectRule>) -> Self {
        Self { inner, writing, keys: Keys::new(rule), node: ANY, key: String::new() }
    }
}

impl<I: SerializeMap> SerializeMap for Members<'_, I> {
    type Ok = I::Ok;
    type Error = I::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), I::Error> {
        if self.keys.rule.is_some() {
            self.node = key.serialize(KeyName(&mut self.keys)).map_err(|_| refusal::<I::Error>())?;
        } else if self.writing.trail.is_some() {
            self.key = spelled(key);
        }
        self.inner.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), I::Error> {
        let written = self.inner.serialize_value(&At { writing: self.writing, node: self.node, value });
        if written.is_err() {
            self.writing.leave_key(None, &self.key);
        }
        written
    }

    fn end(self) -> Result<I::Ok, I::Error> {
        self.keys.check()?;
        self.inner.end()
    }
}

/// What is known of the keys so far.
struct Keys<'a> {
    rule: Option<&'a ObjectRule>,
    count: usize,
    required: usize,
    declared: Seen,
    /// Where the next key is declared if they come in order.
    hint: usize,
}

impl<'a> Keys<'a> {
    #[inline]
    fn new(rule: Option<&'a ObjectRule>) -> Self {
        Self { rule, count: 0, required: 0, declared: Seen::default(), hint: 0 }
    }

    /// The node for the member `key`; none if it must not be there.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the key is known where this is inlined, and costs one comparison")]
    fn take(&mut self, key: &str) -> Option<NodeId> {
        self.count += 1;
        let Some(rule) = self.rule else {
            return Some(ANY);
        };
        match rule.properties.get(self.hint) {
            Some(property) if &*property.name == key => self.note(self.hint, property),
            _ => self.take_out_of_order(rule, key),
        }
    }

    #[inline(never)]
    fn take_out_of_order(&mut self, rule: &ObjectRule, key: &str) -> Option<NodeId> {
        match rule.find(key, self.hint) {
            Some(at) => self.note(at, &rule.properties[at]),
            None => (rule.additional != NEVER).then_some(rule.additional),
        }
    }

    #[inline]
    fn note(&mut self, at: usize, property: &Property) -> Option<NodeId> {
        self.hint = at + 1;
        self.required += usize::from(property.required);
        self.declared.insert(at).then_some(property.node)
    }

    #[inline]
    fn check<E: Error>(&self) -> Result<(), E> {
        match self.rule {
            Some(rule) if self.required < rule.required || self.count < rule.min || self.count > rule.max => {
                Err(refusal())
            }
            _ => Ok(()),
        }
    }
}

/// A key as it stands in the text.
fn spelled<T: Serialize + ?Sized>(key: &T) -> String {
    match serde_json::to_value(key) {
        Ok(Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// Takes the text of a key that is a string; for others the value is written first and checked then.
struct KeyName<'k, 'a>(&'k mut Keys<'a>);

macro_rules! no_name {
    ($($method:ident($($argument:ty),*))*) => {$(
        fn $method(self, $(_: $argument),*) -> Result<NodeId, Self::Error> {
            Err(refusal())
        }
    )*};
}

impl Serializer for KeyName<'_, '_> {
    type Ok = NodeId;
    type Error = std::fmt::Error;
    type SerializeSeq = Impossible<NodeId, Self::Error>;
    type SerializeTuple = Impossible<NodeId, Self::Error>;
    type SerializeTupleStruct = Impossible<NodeId, Self::Error>;
    type SerializeTupleVariant = Impossible<NodeId, Self::Error>;
    type SerializeMap = Impossible<NodeId, Self::Error>;
    type SerializeStruct = Impossible<NodeId, Self::Error>;
    type SerializeStructVariant = Impossible<NodeId, Self::Error>;

    fn serialize_str(self, name: &str) -> Result<NodeId, Self::Error> {
        self.0.take(name).ok_or_else(refusal)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<NodeId, Self::Error> {
        self.0.take(name).ok_or_else(refusal)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, key: &T) -> Result<NodeId, Self::Error> {
        key.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<NodeId, Self::Error> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<NodeId, Self::Error> {
        Err(refusal())
    }

    no_name! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_f32(f32)
        serialize_f64(f64) serialize_char(char) serialize_bytes(&[u8]) serialize_none() serialize_unit()
        serialize_unit_struct(&'static str)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Self::Error> {
        Err(refusal())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Self::Error> {
        Err(refusal())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Self::Error> {
        Err(refusal())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Self::Error> {
        Err(refusal())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Self::Error> {
        Err(refusal())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Self::Error> {
        Err(refusal())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Self::Error> {
        Err(refusal())
    }
}
