//! JSON that is stored as a string in a state.
//!
//! JSON readers limit the nesting, most of them to 127 levels, and reject the whole text beyond. The data of a model
//! or an approver may be nested nearly as deep, and in a state it is nested deeper still. As a string it is opaque to
//! the reader of the state, and is parsed when it is used.

use std::fmt;
use std::io;
use std::marker::PhantomData;

use haft_schema::JsonText;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The depth from which a part of a state is stored as a string. It leaves room for the values that contain the state.
const DEEP: usize = 64;

/// Writes JSON as a string.
pub(super) fn serialize<S: Serializer>(text: &JsonText, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text.as_str())
}

/// Reads JSON that was written as a string.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<JsonText, D::Error> {
    JsonText::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// An object or an array that is written as a string if it is nested deeply.
pub(super) struct DeepValue<'a, T>(pub(super) &'a T);

impl<T: Serialize> Serialize for DeepValue<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut meter = DepthMeter::default();
        serde_json::to_writer(&mut meter, self.0).map_err(S::Error::custom)?;
        if meter.deepest < DEEP {
            return self.0.serialize(serializer);
        }
        serialize(&JsonText::encode(self.0).map_err(S::Error::custom)?, serializer)
    }
}

/// Reads an object or an array, or a string of one.
pub(super) fn deserialize_deep<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(ValueOrString(PhantomData))
}

/// Reads an optional object or array, or a string of one.
pub(super) fn deserialize_deep_option<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_option(OptionalValue(PhantomData))
}

/// The visitor of an object or an array, or a string of one.
struct ValueOrString<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for ValueOrString<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array, or one as a string of JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        T::deserialize(SeqAccessDeserializer::new(seq))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        // A tree is read without a limit of depth.
        let tree = JsonText::parse(text).map_err(E::custom)?.to_value();
        T::deserialize(tree).map_err(E::custom)
    }
}

/// The visitor of an optional object or array, or a string of one.
struct OptionalValue<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for OptionalValue<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ValueOrString(self.0).expecting(f)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        deserialize_deep(deserializer).map(Some)
    }
}

/// A writer that measures how deeply JSON text is nested, and discards it.
#[derive(Default)]
struct DepthMeter {
    depth: usize,
    deepest: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl io::Write for DepthMeter {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for byte in text {
            if self.is_in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.is_in_string = true,
                b'[' | b'{' => {
                    self.depth += 1;
                    self.deepest = self.deepest.max(self.depth);
                }
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn depth_of(value: &Value) -> usize {
        let mut meter = DepthMeter::default();
        serde_json::to_writer(&mut meter, value).unwrap();
        meter.deepest
    }

    #[test]
    fn brackets_in_strings_are_not_counted() {
        let depths = [json!(1), json!("[[[\"{{"), json!(["\\", "[", {}]), json!({"[\"": [[1], []], "b": []})];
        assert_eq!(depths.each_ref().map(depth_of), [0, 0, 2, 3]);
    }
}
