//! One response part.
//!
//! A part is an object with one content member and a few others. Text and calls are read at once. Everything else,
//! including what this version does not know, is kept as text so that it can be sent back.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::wire::response::text::Text;
use crate::wire_error::ReadError;

/// A part.
#[derive(Debug, Default)]
pub(crate) struct ReadPart<'r> {
    pub(crate) text: Option<Cow<'r, str>>,
    pub(crate) call: Option<ReadFunctionCall<'r>>,
    pub(crate) is_thought: bool,
    pub(crate) signature: Option<Cow<'r, str>>,
    /// All other members.
    pub(crate) members: Vec<(Cow<'r, str>, &'r RawValue)>,
}

/// A function call.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ReadFunctionCall<'r> {
    #[serde(borrow)]
    pub(crate) id: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) name: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) args: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(crate) partial_args: Option<Vec<PartialArg<'r>>>,
    pub(crate) will_continue: Option<bool>,
}

/// A piece of a call's arguments, where they are streamed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PartialArg<'r> {
    #[serde(borrow)]
    pub(crate) json_path: Option<Text<'r>>,
    #[serde(borrow)]
    pub(crate) string_value: Option<Text<'r>>,
    pub(crate) number_value: Option<serde_json::Number>,
    pub(crate) bool_value: Option<bool>,
    #[serde(borrow)]
    pub(crate) null_value: Option<Text<'r>>,
    pub(crate) will_continue: Option<bool>,
}

impl<'r> ReadPart<'r> {
    /// Returns the content with this name.
    pub(crate) fn member(&self, name: &str) -> Option<&'r RawValue> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, json)| *json)
    }

    /// Reports whether the part has no content.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_none() && self.call.is_none() && self.members.is_empty() && self.signature.is_none()
    }

    /// Returns the part as it was read, without a call.
    pub(crate) fn to_json(&self) -> Result<Value, ReadError> {
        let mut json = Map::new();
        for (name, value) in &self.members {
            let value = serde_json::from_str(value.get()).map_err(|source| ReadError::json("a part", source))?;
            json.insert(name.clone().into_owned(), value);
        }
        if let Some(text) = &self.text {
            json.insert("text".to_owned(), text.as_ref().into());
        }
        if self.is_thought {
            json.insert("thought".to_owned(), true.into());
        }
        if let Some(signature) = &self.signature {
            json.insert("thoughtSignature".to_owned(), signature.as_ref().into());
        }
        Ok(Value::Object(json))
    }
}

impl<'de: 'r, 'r> Deserialize<'de> for ReadPart<'r> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartVisitor;

        impl<'de> Visitor<'de> for PartVisitor {
            type Value = ReadPart<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a part of a content")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let text = |text: Option<Text<'de>>| text.map(|text| text.0);
                let mut part = ReadPart::default();
                while let Some(Text(name)) = map.next_key()? {
                    match &*name {
                        "text" => part.text = text(map.next_value()?),
                        "functionCall" => part.call = map.next_value()?,
                        "thought" => part.is_thought = map.next_value::<Option<bool>>()?.unwrap_or_default(),
                        "thoughtSignature" => part.signature = text(map.next_value()?),
                        _ => {
                            if let Some(json) = map.next_value::<Option<&RawValue>>()? {
                                part.members.push((name, json));
                            }
                        }
                    }
                }
                Ok(part)
            }

            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(ReadPart::default())
            }
        }

        deserializer.deserialize_any(PartVisitor)
    }
}
