//! Arguments with their numbers as they were written.
//!
//! A [`serde_json::Value`] rounds integers beyond 64 bits, and a request must not: an identifier that is rounded is
//! another one.

use std::cell::RefCell;
use std::fmt;

use haft_schema::internal::numbers;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The deepest nesting of arguments. Schemas permit less.
const MAX_DEPTH: usize = 512;

/// The key under which `serde_json` passes a number if `arbitrary_precision` is enabled anywhere in the build. Schemas
/// reject it from outside.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// A JSON value. Its text is compact, and its numbers are as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExactValue {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<ExactValue>),
    Object(Vec<(String, ExactValue)>),
}

impl ExactValue {
    /// Reads a JSON text.
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let numbers = RefCell::new(numbers(text));
        let next = || numbers.borrow_mut().next().map(str::to_owned);
        let mut deserializer = serde_json::Deserializer::from_str(text);
        // Depth is counted here.
        deserializer.disable_recursion_limit();
        let value = ExactSeed { levels: MAX_DEPTH, next: &next }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(value)
    }

    /// Returns an object's member.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns an object's members, and none for any other value.
    pub(super) fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => &[],
        }
    }

    /// Reports whether this is an array or an object.
    pub(super) fn is_composite(&self) -> bool {
        matches!(self, Self::List(_) | Self::Object(_))
    }
}

/// Writes JSON.
impl fmt::Display for ExactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => f.write_str(number),
            Self::Text(text) => write!(f, "{}", Value::from(text.as_str())),
            Self::List(list) => {
                f.write_str("[")?;
                for (at, value) in list.iter().enumerate() {
                    write!(f, "{}{value}", if at == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{}:{value}", if at == 0 { "" } else { "," }, Value::from(name.as_str()))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A seed for one value. `next` returns the numbers of the text in their order, which is that of the visits.
#[derive(Clone, Copy)]
struct ExactSeed<'n> {
    levels: usize,
    next: &'n dyn Fn() -> Option<String>,
}

impl ExactSeed<'_> {
    fn number<E: Error>(self) -> Result<ExactValue, E> {
        (self.next)().map(ExactValue::Number).ok_or_else(|| E::custom("not a number"))
    }

    fn inside<E: Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1).ok_or_else(|| E::custom("nests too deeply"))?;
        Ok(Self { levels, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for ExactSeed<'_> {
    type Value = ExactValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ExactValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ExactSeed<'_> {
    type Value = ExactValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<ExactValue, E> {
        Ok(ExactValue::Bool(value))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<ExactValue, E> {
        self.number()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<ExactValue, E> {
        self.number()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<ExactValue, E> {
        self.number()
    }

    fn visit_str<E>(self, value: &str) -> Result<ExactValue, E> {
        Ok(ExactValue::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<ExactValue, E> {
        Ok(ExactValue::Text(value))
    }

    fn visit_unit<E>(self) -> Result<ExactValue, E> {
        Ok(ExactValue::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<ExactValue, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        while let Some(value) = access.next_element_seed(inside)? {
            list.push(value);
        }
        Ok(ExactValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<ExactValue, A::Error> {
        let inside = self.inside()?;
        let mut members: Vec<(String, ExactValue)> = Vec::new();
        while let Some(name) = access.next_key::<String>()? {
            if members.is_empty() && name == NUMBER_TOKEN {
                access.next_value::<String>()?;
                return self.number();
            }
            members.push((name, access.next_value_seed(inside)?));
        }
        Ok(ExactValue::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::ExactValue;

    #[test]
    fn numbers_keep_their_digits() {
        let text =
            r#"{"n":[18446744073709551617,-1,0.10000000000000000000001,1e3],"a\"1":"2","b":{"c":null,"d":true}}"#;
        assert_eq!(ExactValue::parse(text).unwrap().to_string(), text);
        assert_eq!(ExactValue::parse(" [ 1 , \"é\" ] ").unwrap().to_string(), "[1,\"é\"]");
    }

    #[test]
    fn text_that_is_no_value_or_nests_too_deeply_is_an_error() {
        for text in ["", "1 2", "[1", "nul", &"[".repeat(100_000)] {
            assert!(ExactValue::parse(text).is_err());
        }
        let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));
        assert!(ExactValue::parse(&deep).is_err());
    }

    #[test]
    fn members_are_found_by_name() {
        let value = ExactValue::parse(r#"{"a": 1, "b": {"c": [true, null, "x"]}}"#).unwrap();
        assert_eq!(value.get("b").unwrap().to_string(), r#"{"c":[true,null,"x"]}"#);
        assert_eq!((value.get("c"), ExactValue::Null.get("a")), (None, None));
    }
}
