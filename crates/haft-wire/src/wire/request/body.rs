//! A request body: JSON text that is written once, with the provider options replacing its own members.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::wire_error::RequestError;

/// Writes a body. The provider options become members and win over the request's.
pub(crate) fn write<B: Serialize>(body: &B, provider: &str, options: Option<&Value>) -> Result<String, RequestError> {
    let invalid = |error: serde_json::Error| RequestError::Invalid {
        param: "request".to_owned(),
        message: format!("it can't be written as JSON: {error}"),
    };
    let text = serde_json::to_string(body).map_err(invalid)?;
    match options {
        None | Some(Value::Null) => Ok(text),
        Some(Value::Object(options)) if options.is_empty() => Ok(text),
        Some(Value::Object(options)) => with_options(&text, options).map_err(invalid),
        Some(_) => Err(RequestError::Invalid {
            param: format!("provider_options.{provider}"),
            message: "the options of a provider are an object; write them as members of one".to_owned(),
        }),
    }
}

fn with_options(body: &str, options: &Map<String, Value>) -> Result<String, serde_json::Error> {
    let Members(members) = serde_json::from_str(body)?;
    let mut text = String::with_capacity(body.len() + 64);
    text.push('{');
    for (name, value) in members.iter().filter(|(name, _)| !options.contains_key(&**name)) {
        push(&mut text, name, value.get())?;
    }
    for (name, value) in options {
        push(&mut text, name, &serde_json::to_string(value)?)?;
    }
    text.push('}');
    Ok(text)
}

fn push(text: &mut String, name: &str, value: &str) -> Result<(), serde_json::Error> {
    if text.len() > 1 {
        text.push(',');
    }
    text.push_str(&serde_json::to_string(name)?);
    text.push(':');
    text.push_str(value);
    Ok(())
}

/// An object's members in order, as text.
struct Members<'b>(Vec<(Cow<'b, str>, &'b RawValue)>);

impl<'de: 'b, 'b> Deserialize<'de> for Members<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    members.push((Cow::Owned(name), map.next_value()?));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_added_and_win() {
        let body = json!({"a": 1, "b": {"c": [1.50, "x"]}});
        let options = json!({"b": null, "d": {"e": 2}});
        assert_eq!(write(&body, "p", Some(&options)).unwrap(), r#"{"a":1,"b":null,"d":{"e":2}}"#);
        for none in [None, Some(&Value::Null), Some(&json!({}))] {
            assert_eq!(write(&body, "p", none).unwrap(), body.to_string());
        }
    }

    #[test]
    fn options_that_are_no_object_are_rejected() {
        let error = write(&json!({}), "acme", Some(&json!([1]))).unwrap_err().to_string();
        assert!(error.contains("provider_options.acme") && error.contains("object"), "{error}");
    }
}
