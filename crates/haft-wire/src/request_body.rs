//! The body of a request, with the options of the application for the provider merged into it.
//!
//! Options win over what the wire writes. Objects are merged one level deep, an option that is `null` removes the
//! member, and options that the wire does not know are added at the end.

use haft_core::TurnRequest;
use serde::Serialize;
use serde::ser::{Error, SerializeMap};
use serde_json::{Map, Value};

use crate::wire_error::RequestError;

/// Returns the options of a request for one provider.
pub(crate) fn options_of<'r>(
    request: &'r TurnRequest,
    provider: &str,
) -> Result<Option<&'r Map<String, Value>>, RequestError> {
    match request.provider_options.get(provider) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(options)) => Ok(Some(options)),
        Some(_) => Err(RequestError::Invalid {
            param: format!("provider_options.{provider}"),
            message: "the options of a provider must be an object of members for the request body".to_owned(),
        }),
    }
}

/// The members of a body in progress.
pub(crate) struct BodyMembers<'o, M> {
    map: M,
    options: Option<&'o Map<String, Value>>,
    /// The members that were written, or that options do not change.
    settled: Vec<&'static str>,
}

impl<'o, M: SerializeMap> BodyMembers<'o, M> {
    pub(crate) fn new(map: M, options: Option<&'o Map<String, Value>>) -> Self {
        Self { map, options, settled: Vec::new() }
    }

    /// Writes a member, unless an option replaces it.
    pub(crate) fn put<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), M::Error> {
        self.settled.push(key);
        match self.options.and_then(|options| options.get(key)) {
            None => self.map.serialize_entry(key, value),
            Some(Value::Null) => Ok(()),
            Some(Value::Object(added)) => {
                let mut merged = serde_json::to_value(value).map_err(M::Error::custom)?;
                match &mut merged {
                    Value::Object(members) => members.extend(added.clone()),
                    _ => merged = Value::Object(added.clone()),
                }
                self.map.serialize_entry(key, &merged)
            }
            Some(option) => self.map.serialize_entry(key, option),
        }
    }

    /// Writes a member if it has a value, unless an option replaces it.
    pub(crate) fn put_some<T: Serialize>(&mut self, key: &'static str, value: Option<T>) -> Result<(), M::Error> {
        match value {
            Some(value) => self.put(key, &value),
            None => Ok(()),
        }
    }

    /// Writes a member that no option changes.
    pub(crate) fn put_fixed<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), M::Error> {
        self.settled.push(key);
        self.map.serialize_entry(key, value)
    }

    /// Prevents a member.
    pub(crate) fn omit(&mut self, key: &'static str) {
        self.settled.push(key);
    }

    /// Writes the other options.
    pub(crate) fn end(mut self) -> Result<M::Ok, M::Error> {
        for (key, option) in self.options.into_iter().flatten() {
            if !option.is_null() && !self.settled.contains(&key.as_str()) {
                self.map.serialize_entry(key, option)?;
            }
        }
        self.map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde::{Serializer, ser};
    use serde_json::json;

    use super::*;

    struct Sample<'o>(Option<&'o Map<String, Value>>);

    impl Serialize for Sample<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut body = BodyMembers::new(ser::Serializer::serialize_map(serializer, None)?, self.0);
            body.put("model", "m")?;
            body.put("text", &json!({"format": {"type": "json"}}))?;
            body.put_some("top_p", None::<f64>)?;
            body.put_fixed("stream", &true)?;
            body.omit("input");
            body.end()
        }
    }

    #[test]
    fn options_are_merged() {
        let options = json!({
            "stream": false, "input": "no", "text": {"verbosity": "low"}, "top_p": 0.5, "new": [1], "gone": null,
        });
        let plain = serde_json::to_string(&Sample(None)).unwrap();
        assert_eq!(plain, r#"{"model":"m","text":{"format":{"type":"json"}},"stream":true}"#);
        assert_eq!(
            serde_json::to_string(&Sample(options.as_object())).unwrap(),
            r#"{"model":"m","text":{"format":{"type":"json"},"verbosity":"low"},"stream":true,"top_p":0.5,"new":[1]}"#
        );
        let removed = json!({"model": null, "text": "x"});
        assert_eq!(serde_json::to_string(&Sample(removed.as_object())).unwrap(), r#"{"text":"x","stream":true}"#);
    }

    #[test]
    fn options_must_be_an_object() {
        let request = TurnRequest::new("m", Vec::new());
        assert_eq!(options_of(&request, "acme"), Ok(None));
        let null = request.clone().provider_options("acme", Value::Null);
        assert_eq!(options_of(&null, "acme"), Ok(None));
        let error = options_of(&request.provider_options("acme", 1), "acme").unwrap_err();
        assert!(error.to_string().starts_with("provider_options.acme: "), "{error}");
    }
}
