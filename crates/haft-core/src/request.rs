//! A request to a model.
//!
//! A request is independent of the provider and of its wire format: the same one can be sent to any of them. It is
//! plain data, so it can be recorded and replayed. Values that are unset are left to the provider; no defaults are
//! added here.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::descriptor::ToolDescriptor;
use crate::history::History;
use crate::item::Item;
use crate::output_format::OutputFormat;
use crate::tool_choice::ToolChoice;
use crate::version::FormatVersion;

/// A source of tool descriptors: a list of descriptors, or a toolkit.
pub trait Describe {
    /// Returns the descriptors, in the order they are offered.
    fn descriptors(&self) -> Vec<Arc<ToolDescriptor>>;
}

/// A request to a model: the conversation so far, the tools offered, and settings for the answer.
///
/// ```
/// use haft_core::{Item, ToolChoice, ToolDescriptor, TurnRequest};
/// use haft_schema::Schema;
///
/// let tools = [ToolDescriptor::new("get_time", Schema::empty())];
/// let request = TurnRequest::new("some-model", vec![Item::user("What time is it?")])
///     .instructions("Be brief.")
///     .tools(&tools)
///     .tool_choice(ToolChoice::Required)
///     .max_output_tokens(500);
/// assert_eq!(request.tools[0].name, "get_time");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TurnRequest {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The name of the model at its provider.
    pub model: String,
    /// Instructions that precede the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The conversation so far.
    pub history: History,
    /// The tools offered, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "shared")]
    pub tools: Vec<Arc<ToolDescriptor>>,
    /// The tools that may or must be called.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// Set if the model may make several calls at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// The sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The probability mass for nucleus sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The maximum number of tokens that the model may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Sequences that end the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The format of the answer, if it must be JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
    /// Metadata of the application. Sent where the wire format has a field for it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Options for single providers, by the name of the provider. Each is sent to that provider only.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_options: Map<String, Value>,
}

impl TurnRequest {
    /// Creates a request to continue a conversation.
    #[must_use]
    pub fn new(model: impl Into<String>, history: Vec<Item>) -> Self {
        Self {
            v: FormatVersion::default(),
            model: model.into(),
            instructions: None,
            history: history.into(),
            tools: Vec::new(),
            tool_choice: ToolChoice::default(),
            parallel_tool_calls: None,
            temperature: None,
            top_p: None,
            max_output_tokens: None,
            stop: Vec::new(),
            output_format: None,
            metadata: Map::new(),
            provider_options: Map::new(),
        }
    }

    /// Sets the instructions that precede the conversation.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the tools offered.
    #[must_use]
    pub fn tools(mut self, tools: &(impl Describe + ?Sized)) -> Self {
        self.tools = tools.descriptors();
        self
    }

    /// Sets the tools that may or must be called.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Allows several calls at once.
    #[must_use]
    pub fn allow_parallel_calls(mut self) -> Self {
        self.parallel_tool_calls = Some(true);
        self
    }

    /// Requests at most one call at a time.
    #[must_use]
    pub fn forbid_parallel_calls(mut self) -> Self {
        self.parallel_tool_calls = Some(false);
        self
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the probability mass for nucleus sampling.
    #[must_use]
    pub fn top_p(mut self, top_p: f64) -> Self {
        self.top_p = Some(top_p);
        self
    }

    /// Sets the maximum number of tokens that the model may write.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Adds a sequence that ends the answer.
    #[must_use]
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }

    /// Requests an answer in JSON.
    #[must_use]
    pub fn output_format(mut self, format: OutputFormat) -> Self {
        self.output_format = Some(format);
        self
    }

    /// Adds metadata of the application.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Sets options that only `provider` understands.
    #[must_use]
    pub fn provider_options(mut self, provider: impl Into<String>, options: impl Into<Value>) -> Self {
        self.provider_options.insert(provider.into(), options.into());
        self
    }
}

impl Describe for [ToolDescriptor] {
    fn descriptors(&self) -> Vec<Arc<ToolDescriptor>> {
        self.iter().cloned().map(Arc::new).collect()
    }
}

impl Describe for [Arc<ToolDescriptor>] {
    fn descriptors(&self) -> Vec<Arc<ToolDescriptor>> {
        self.to_vec()
    }
}

impl<T> Describe for Vec<T>
where
    [T]: Describe,
{
    fn descriptors(&self) -> Vec<Arc<ToolDescriptor>> {
        self.as_slice().descriptors()
    }
}

impl<T, const N: usize> Describe for [T; N]
where
    [T]: Describe,
{
    fn descriptors(&self) -> Vec<Arc<ToolDescriptor>> {
        self.as_slice().descriptors()
    }
}

/// Serialises shared descriptors as if each were owned.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::descriptor::ToolDescriptor;

    #[allow(clippy::ptr_arg, reason = "serde requires this signature")]
    pub(super) fn serialize<S: Serializer>(tools: &Vec<Arc<ToolDescriptor>>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(tools.iter().map(AsRef::as_ref))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Arc<ToolDescriptor>>, D::Error> {
        let tools = Vec::<ToolDescriptor>::deserialize(deserializer)?;
        Ok(tools.into_iter().map(Arc::new).collect())
    }
}
