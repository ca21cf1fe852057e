//! What a model is asked, once.
//!
//! A request names no provider and holds no wire's shape: the same one can be sent to any of them. It is plain data, so
//! it can be recorded and replayed. What it does not say, the provider decides; nothing here fills in defaults.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::history::History;
use crate::item::Item;
use crate::output_format::OutputFormat;
use crate::tool::ToolDescriptor;
use crate::tool_choice::ToolChoice;
use crate::version::FormatVersion;

/// Anything that can say which tools it offers: descriptors themselves, or a toolkit.
pub trait Describe {
    /// The tools, in the order they are offered.
    fn descriptors(&self) -> Vec<Arc<ToolDescriptor>>;
}

/// What a model is asked: the conversation so far, the tools offered, and how to answer.
///
/// ```
/// use haft_core::{Item, Schema, ToolChoice, ToolDescriptor, TurnRequest};
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
    /// The model, as its provider names it.
    pub model: String,
    /// What the model is told before the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The conversation so far.
    pub history: History,
    /// The tools offered, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "shared")]
    pub tools: Vec<Arc<ToolDescriptor>>,
    /// Which of them may or must be called.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// Whether the model may ask for several calls at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// How freely the model picks its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// From how much of the likely words the model picks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The most tokens the model may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Texts that end the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The form the answer must have, when it must be JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
    /// The application's own notes on the request. Wires that have a field for such send them.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// What only one provider understands, by the provider's name. Sent to that one alone.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_options: Map<String, Value>,
}

impl TurnRequest {
    /// Asks a model to go on with a conversation.
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

    /// The same request, telling the model something before the conversation.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// The same request, offering these tools and no others.
    #[must_use]
    pub fn tools(mut self, tools: &(impl Describe + ?Sized)) -> Self {
        self.tools = tools.descriptors();
        self
    }

    /// The same request with another choice of tools.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// The same request, saying that several calls at once are fine.
    #[must_use]
    pub fn allow_parallel_calls(mut self) -> Self {
        self.parallel_tool_calls = Some(true);
        self
    }

    /// The same request, asking for one call at a time.
    #[must_use]
    pub fn forbid_parallel_calls(mut self) -> Self {
        self.parallel_tool_calls = Some(false);
        self
    }

    /// The same request with a temperature.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// The same request, picking from the likeliest words that together reach `top_p`.
    #[must_use]
    pub fn top_p(mut self, top_p: f64) -> Self {
        self.top_p = Some(top_p);
        self
    }

    /// The same request with a cap on what the model writes.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// The same request with one more text that ends the answer.
    #[must_use]
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }

    /// The same request, asking for JSON of a form.
    #[must_use]
    pub fn output_format(mut self, format: OutputFormat) -> Self {
        self.output_format = Some(format);
        self
    }

    /// The same request with a note of the application's own.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// The same request with options only `provider` understands.
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

/// Descriptors are written and read as if each were owned.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::tool::ToolDescriptor;

    #[allow(clippy::ptr_arg, reason = "the signature serde asks for")]
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
