//! The output of a successful call.
//!
//! The value for the application and the content for the model may differ: a search tool returns complete records to
//! the application and a short list to the model, or an image is sent to the model as an image. The value is encoded
//! once, by its schema, and never parsed again.
//!
//! A tool that runs elsewhere may return content alone. That is not the value `null`: such an output has no value, and
//! only a tool that declares no success schema may return it. An output with neither value nor content can't be
//! created.

use std::borrow::Cow;

use haft_schema::JsonText;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::content::ContentPart;
use crate::reading::present;

/// The output of a successful call: a value, content for the model, or both, and metadata.
///
/// ```
/// use haft_core::{ContentPart, ToolOutput};
/// use serde_json::json;
///
/// let output = ToolOutput::from(json!({"rows": [1, 2, 3]})).for_model(vec![ContentPart::text("3 rows")]);
/// assert_eq!(output.value().unwrap().as_str(), r#"{"rows":[1,2,3]}"#);
/// assert_eq!(output.content().unwrap().len(), 1);
///
/// let alone = ToolOutput::content_only(vec![ContentPart::text("3 rows")]);
/// assert_eq!(alone.value(), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    body: OutputBody,
    /// On the heap, as most outputs have none.
    metadata: Option<Box<Map<String, Value>>>,
}

/// The value and the content. All forms but the first are on the heap, so that the results of most calls stay small.
#[derive(Clone, Debug, PartialEq)]
enum OutputBody {
    /// A value, which the model reads too.
    Value(JsonText),
    /// A value, and different content for the model.
    Rendered(Box<RenderedValue>),
    /// Content, and no value.
    Content(Box<[ContentPart]>),
}

#[derive(Clone, Debug, PartialEq)]
struct RenderedValue {
    value: JsonText,
    content: Vec<ContentPart>,
}

impl ToolOutput {
    /// Creates an output with the same value for the application and the model.
    #[must_use]
    pub fn new(value: JsonText) -> Self {
        Self { body: OutputBody::Value(value), metadata: None }
    }

    /// Creates an output of content for the model, without a value. The list may be empty.
    ///
    /// A tool that declares a success schema must return a value: for such a tool this output is an
    /// `output_validation_error`.
    #[must_use]
    pub fn content_only(parts: Vec<ContentPart>) -> Self {
        Self { body: OutputBody::Content(parts.into()), metadata: None }
    }

    /// Creates an output with the content that a tool renders for the model, if it does.
    #[inline]
    #[must_use]
    pub fn rendered(value: JsonText, content: Option<Vec<ContentPart>>) -> Self {
        match content {
            None => Self::new(value),
            Some(parts) => Self::new(value).for_model(parts),
        }
    }

    /// Sets the content for the model, in place of the value or of earlier content.
    #[must_use]
    pub fn for_model(self, parts: Vec<ContentPart>) -> Self {
        let Self { body, metadata } = self;
        let body = match body {
            OutputBody::Value(value) => OutputBody::Rendered(Box::new(RenderedValue { value, content: parts })),
            OutputBody::Rendered(mut rendered) => {
                rendered.content = parts;
                OutputBody::Rendered(rendered)
            }
            OutputBody::Content(_) => OutputBody::Content(parts.into()),
        };
        Self { body, metadata }
    }

    /// Sets the value, and keeps content that was set for the model.
    #[must_use]
    pub fn with_value(self, value: impl Into<JsonText>) -> Self {
        let Self { body, metadata } = self;
        let value = value.into();
        let body = match body {
            OutputBody::Value(_) => OutputBody::Value(value),
            OutputBody::Rendered(mut rendered) => {
                rendered.value = value;
                OutputBody::Rendered(rendered)
            }
            OutputBody::Content(parts) => {
                OutputBody::Rendered(Box::new(RenderedValue { value, content: parts.into_vec() }))
            }
        };
        Self { body, metadata }
    }

    /// Adds metadata for the application. It is not sent to the model.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// Returns the value for the application; `None` if the output is content alone.
    #[must_use]
    pub fn value(&self) -> Option<&JsonText> {
        match &self.body {
            OutputBody::Value(value) => Some(value),
            OutputBody::Rendered(rendered) => Some(&rendered.value),
            OutputBody::Content(_) => None,
        }
    }

    /// Returns the content for the model; `None` if the model reads the value.
    #[must_use]
    pub fn content(&self) -> Option<&[ContentPart]> {
        match &self.body {
            OutputBody::Value(_) => None,
            OutputBody::Rendered(rendered) => Some(&rendered.content),
            OutputBody::Content(parts) => Some(parts),
        }
    }

    /// Returns the metadata, if there is any.
    #[must_use]
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        self.metadata.as_deref()
    }

    /// Returns what the model reads.
    #[doc(hidden)]
    #[must_use]
    pub fn shown(&self) -> Shown<'_> {
        match &self.body {
            OutputBody::Value(value) => Shown::Value(value),
            OutputBody::Rendered(rendered) => Shown::Content(&rendered.content),
            OutputBody::Content(parts) => Shown::Content(parts),
        }
    }
}

/// The part of an output that the model reads.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    /// The JSON of the value.
    Value(&'a JsonText),
    /// The content.
    Content(&'a [ContentPart]),
}

impl From<JsonText> for ToolOutput {
    fn from(value: JsonText) -> Self {
        Self::new(value)
    }
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self::new(value.into())
    }
}

#[derive(Serialize)]
struct WrittenOutput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a [ContentPart]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
}

#[derive(Deserialize)]
struct StoredOutput {
    #[serde(default, deserialize_with = "present")]
    value: Option<JsonText>,
    #[serde(default)]
    model: Option<Vec<ContentPart>>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// Writes `value`, `model` and `metadata`, each only if it is present.
impl Serialize for ToolOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (value, model) = (self.value(), self.content());
        WrittenOutput { value, model, metadata: self.metadata() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolOutput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StoredOutput { value, model, metadata } = StoredOutput::deserialize(deserializer)?;
        let output = match (value, model) {
            (Some(value), model) => Self::rendered(value, model),
            (None, Some(parts)) => Self::content_only(parts),
            (None, None) => return Err(D::Error::custom("an output has a `value`, content for the `model`, or both")),
        };
        Ok(Self { metadata: (!metadata.is_empty()).then(|| Box::new(metadata)), ..output })
    }
}

/// Any value: a handler that returns an output decides about its value itself.
impl JsonSchema for ToolOutput {
    fn schema_name() -> Cow<'static, str> {
        "ToolOutput".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(text: &str) -> Vec<ContentPart> {
        vec![ContentPart::text(text)]
    }

    #[test]
    fn every_form_round_trips() {
        let forms = [
            (ToolOutput::from(json!(7)), json!({"value": 7})),
            (ToolOutput::from(Value::Null), json!({"value": null})),
            (
                ToolOutput::from(json!(7)).for_model(parts("seven")),
                json!({"value": 7, "model": [{"type": "text", "text": "seven"}]}),
            ),
            (ToolOutput::content_only(parts("a")), json!({"model": [{"type": "text", "text": "a"}]})),
            (ToolOutput::content_only(Vec::new()), json!({"model": []})),
            (ToolOutput::from(json!(7)).with_metadata("k", 1), json!({"value": 7, "metadata": {"k": 1}})),
        ];
        for (output, stored) in forms {
            assert_eq!(serde_json::to_value(&output).unwrap(), stored);
            assert_eq!(serde_json::from_value::<ToolOutput>(stored).unwrap(), output);
        }
    }

    #[test]
    fn an_output_without_value_and_content_is_rejected() {
        for nothing in [json!({}), json!({"model": null}), json!({"metadata": {"k": 1}})] {
            let error = serde_json::from_value::<ToolOutput>(nothing.clone()).unwrap_err().to_string();
            assert!(error.contains("an output has a `value`"), "{nothing}: {error}");
        }
    }

    #[test]
    fn no_value_is_not_null() {
        assert_ne!(ToolOutput::content_only(Vec::new()), ToolOutput::from(Value::Null));
        assert_eq!(ToolOutput::content_only(Vec::new()).value(), None);
        assert!(ToolOutput::from(Value::Null).value().is_some());
    }

    #[test]
    fn value_content_and_metadata_are_set_one_by_one() {
        let output = ToolOutput::content_only(parts("a")).with_metadata("k", 1).with_value(json!(7));
        assert_eq!(output.value().unwrap().as_str(), "7");
        assert_eq!(output.content(), Some(&*parts("a")));
        let output = output.with_value(json!(8)).for_model(parts("b"));
        assert_eq!((output.value().unwrap().as_str(), output.content()), ("8", Some(&*parts("b"))));
        assert_eq!(output.metadata().unwrap()["k"], 1);
        assert_eq!(ToolOutput::content_only(parts("a")).for_model(parts("b")), ToolOutput::content_only(parts("b")));
    }

    /// Results are moved often.
    #[test]
    fn it_is_small() {
        assert!(size_of::<ToolOutput>() <= 32, "{}", size_of::<ToolOutput>());
    }
}
