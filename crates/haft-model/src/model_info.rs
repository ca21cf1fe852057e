//! The names of a model and its provider.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The provider of a model, and the model if it is fixed. See [`LanguageModel::info`](crate::LanguageModel::info).
///
/// The names are for logs, spans and errors, and to select what a provider supports. The provider is named as in
/// OpenTelemetry's `gen_ai.provider.name`: `openai`, `anthropic`, `gcp.gemini`.
///
/// ```
/// use haft_model::ModelInfo;
///
/// assert_eq!(ModelInfo::new("anthropic").model("claude").to_string(), "anthropic/claude");
/// assert_eq!(ModelInfo::new("anthropic").to_string(), "anthropic");
/// assert_eq!(ModelInfo::new("anthropic").or_model("claude").to_string(), "anthropic/claude");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The provider.
    pub provider: Cow<'static, str>,
    /// The model that answers every request. Unset if each request names its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Cow<'static, str>>,
}

impl ModelInfo {
    /// Creates the info of a provider whose requests name their model.
    #[must_use]
    pub fn new(provider: impl Into<Cow<'static, str>>) -> Self {
        Self { provider: provider.into(), model: None }
    }

    /// Sets the model that answers every request.
    #[must_use]
    pub fn model(mut self, model: impl Into<Cow<'static, str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the model, such as that of a request, if none is set. An empty name is none.
    #[must_use]
    pub fn or_model(mut self, model: &str) -> Self {
        if self.model.is_none() && !model.is_empty() {
            self.model = Some(Cow::Owned(model.to_owned()));
        }
        self
    }
}

/// Writes `provider/model`, or the provider alone.
impl fmt::Display for ModelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.provider)?;
        self.model.iter().try_for_each(|model| write!(f, "/{model}"))
    }
}
