//! Arrays and objects on the way out: every element and member at its node, and at the end what is missing.

use serde::Serialize;
use serde::ser::{
    Error, Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Value;

use super::{At, Names, Writing, key_step, refusal};
use crate::schema::node::{ANY, ArrayRule, NEVER, NodeId, ObjectRule};
use crate::schema::path::{push_index, push_key};
use crate::schema::seen::Seen;

/// The elements of an array.
pub(super) struct Elements<'a, I> {
    inner: I,
    writing: &'a Writing<'a>,
    rule: Option<&'a ArrayRule>,
    count: usize,
    /// The key that the array stands under by itself.
    variant: Option<&'static str>,
}

impl<'a, I> Elements<'a, I> {
    pub(super) fn new(inner: I, writing: &'a Writing<'a>, rule: Option<&'a ArrayRule>) -> Self {
        Self { inner, writing, rule, count: 0, variant: None }
    }

    /// The elements of a variant, where nothing is to be checked.
    pub(super) fn of_variant(inner: I, writing: &'a Writing<'a>, variant: &'static str) -> Self {
        Self { variant: Some(variant), ..Self::new(inner, writing, None) }
    }

    #[inline]
    fn next<'v, T: ?Sized, E: Error>(&mut self, value: &'v T) -> Result<At<'a, 'v, T>, E> {
        let node = self.rule.map_or(ANY, |rule| rule.element(self.count));
        self.count += 1;
        match self.rule {
            Some(rule) if self.count > rule.max => Err(refusal()),
            _ => Ok(At { writing: self.writing, node, value }),
        }
    }

    fn step(&self) -> String {
        let mut step = self.variant.map(key_step).unwrap_or_default();
        push_index(&mut step, self.count - 1);
        step
    }

    fn check<E: Error>(&self) -> Result<(), E> {
        match self.rule {
            Some(rule) if self.count < rule.min => Err(refusal()),
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
                let at = self.next(value)?;
                let written = self.inner.$method(&at);
                self.writing.stepped(written, || self.step())
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

/// The members of an object.
pub(super) struct Members<'a, I> {
    inner: I,
    writing: &'a Writing<'a>,
    rule: Option<&'a ObjectRule>,
    count: usize,
    required: usize,
    declared: Seen,
    hint: usize,
    /// The node and the name of the key written last.
    node: NodeId,
    key: String,
    /// The key that the object stands under by itself.
    variant: Option<&'static str>,
}

impl<'a, I> Members<'a, I> {
    pub(super) fn new(inner: I, writing: &'a Writing<'a>, rule: Option<&'a ObjectRule>) -> Self {
        Self {
            inner,
            writing,
            rule,
            count: 0,
            required: 0,
            declared: Seen::default(),
            hint: 0,
            node: ANY,
            key: String::new(),
            variant: None,
        }
    }

    /// The members of a variant, where nothing is to be checked.
    pub(super) fn of_variant(inner: I, writing: &'a Writing<'a>, variant: &'static str) -> Self {
        Self { variant: Some(variant), ..Self::new(inner, writing, None) }
    }

    fn step(&self, key: &str) -> String {
        let mut step = self.variant.map(key_step).unwrap_or_default();
        push_key(&mut step, key);
        step
    }

    /// The node for the member `key`.
    #[inline]
    fn take<E: Error>(&mut self, key: &str) -> Result<NodeId, E> {
        self.count += 1;
        let Some(rule) = self.rule else {
            return Ok(ANY);
        };
        if self.count > rule.max {
            return Err(refusal());
        }
        match rule.find(key, self.hint) {
            Some(at) => {
                self.hint = at + 1;
                if !self.declared.insert(at) {
                    return Err(refusal());
                }
                self.required += usize::from(rule.properties[at].required);
                Ok(rule.properties[at].node)
            }
            None if rule.additional == NEVER => Err(refusal()),
            None => Ok(rule.additional),
        }
    }

    fn check<E: Error>(&self) -> Result<(), E> {
        match self.rule {
            Some(rule) if self.required < rule.required || self.count < rule.min => Err(refusal()),
            _ => Ok(()),
        }
    }
}

macro_rules! fields {
    ($($trait:ident)*) => {$(
        impl<I: $trait> $trait for Members<'_, I> {
            type Ok = I::Ok;
            type Error = I::Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), I::Error> {
                let node = self.take(key)?;
                let written = self.inner.serialize_field(key, &At { writing: self.writing, node, value });
                self.writing.stepped(written, || self.step(key))
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), I::Error> {
                self.inner.skip_field(key)
            }

            #[inline]
            fn end(self) -> Result<I::Ok, I::Error> {
                self.check()?;
                self.inner.end()
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }

impl<I: SerializeMap> SerializeMap for Members<'_, I> {
    type Ok = I::Ok;
    type Error = I::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), I::Error> {
        if self.rule.is_some() {
            let name = key.serialize(KeyName).map_err(|_| refusal::<I::Error>())?;
            self.node = self.take(&name)?;
            self.key = name;
        } else if self.writing.names == Names::Kept {
            self.key = spelled(key);
        }
        self.inner.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), I::Error> {
        let written = self.inner.serialize_value(&At { writing: self.writing, node: self.node, value });
        self.writing.stepped(written, || self.step(&self.key))
    }

    fn end(self) -> Result<I::Ok, I::Error> {
        self.check()?;
        self.inner.end()
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

/// Tells the text of a key that is a string; for others the value is written first and checked then.
struct KeyName;

macro_rules! no_name {
    ($($method:ident($($argument:ty),*))*) => {$(
        fn $method(self, $(_: $argument),*) -> Result<String, Self::Error> {
            Err(refusal())
        }
    )*};
}

impl Serializer for KeyName {
    type Ok = String;
    type Error = std::fmt::Error;
    type SerializeSeq = Impossible<String, Self::Error>;
    type SerializeTuple = Impossible<String, Self::Error>;
    type SerializeTupleStruct = Impossible<String, Self::Error>;
    type SerializeTupleVariant = Impossible<String, Self::Error>;
    type SerializeMap = Impossible<String, Self::Error>;
    type SerializeStruct = Impossible<String, Self::Error>;
    type SerializeStructVariant = Impossible<String, Self::Error>;

    fn serialize_str(self, name: &str) -> Result<String, Self::Error> {
        Ok(name.to_owned())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<String, Self::Error> {
        Ok(name.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, key: &T) -> Result<String, Self::Error> {
        key.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<String, Self::Error> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, Self::Error> {
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
