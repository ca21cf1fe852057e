//! Options of a tool for the providers that it is sent to.
//!
//! They affect how a request is made, never whether a call is checked, permitted or approved. Options that several
//! providers have are typed; all others are kept per provider, as JSON that a wire passes on.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::object;

/// The options of a tool for providers.
///
/// ```
/// use haft_core::{CacheControl, ProviderOptions};
/// use serde_json::json;
///
/// let options = ProviderOptions::new()
///     .cache_control(CacheControl::new().ttl("1h"))
///     .deferred()
///     .allowed_caller("code_execution_20250825")
///     .for_provider("openai", json!({"store": false}));
/// assert_eq!(options.defer_loading, Some(true));
/// assert_eq!(options.provider("openai").unwrap()["store"], false);
/// ```
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ProviderOptions {
    /// A request to cache the prompt up to and including this tool. If absent, the wire decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
    /// Set if the model finds the definition by a search, rather than in every request. If absent, the wire decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defer_loading: Option<bool>,
    /// The callers at the provider that may call the tool, by the provider's names, such as a code interpreter. If
    /// absent, the provider decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_callers: Option<Vec<String>>,
    /// All other options, by the name of the provider.
    #[serde(skip_serializing_if = "Map::is_empty", deserialize_with = "object")]
    pub by_provider: Map<String, Value>,
}

/// A request to cache the prompt up to and including a tool.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CacheControl {
    /// The time for which the prompt is cached, in the provider's notation, such as `1h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

impl ProviderOptions {
    /// Creates options that leave everything to the wire.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests that the prompt is cached up to and including this tool.
    #[must_use]
    pub fn cache_control(mut self, cache_control: CacheControl) -> Self {
        self.cache_control = Some(cache_control);
        self
    }

    /// Lets the model find the definition by a search, instead of sending it in every request.
    #[must_use]
    pub fn deferred(mut self) -> Self {
        self.defer_loading = Some(true);
        self
    }

    /// Sends the definition in every request.
    #[must_use]
    pub fn loaded(mut self) -> Self {
        self.defer_loading = Some(false);
        self
    }

    /// Adds a caller at the provider that may call the tool. All that are not added may not.
    #[must_use]
    pub fn allowed_caller(mut self, caller: impl Into<String>) -> Self {
        self.allowed_callers.get_or_insert_default().push(caller.into());
        self
    }

    /// Sets the options of one provider, replacing earlier ones.
    #[must_use]
    pub fn for_provider(mut self, provider: impl Into<String>, options: impl Into<Value>) -> Self {
        self.by_provider.insert(provider.into(), options.into());
        self
    }

    /// Returns the options of one provider.
    #[must_use]
    pub fn provider(&self, provider: &str) -> Option<&Value> {
        self.by_provider.get(provider)
    }

    /// Reads the options of one provider into a type; `None` if there are none.
    pub fn read_provider<T: DeserializeOwned>(&self, provider: &str) -> Result<Option<T>, serde_json::Error> {
        self.provider(provider).map(T::deserialize).transpose()
    }

    /// Reports whether everything is left to the wire.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { cache_control, defer_loading, allowed_callers, by_provider } = self;
        cache_control.is_none() && defer_loading.is_none() && allowed_callers.is_none() && by_provider.is_empty()
    }
}

impl CacheControl {
    /// Creates a request to cache for the provider's default time.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time for which the prompt is cached, in the provider's notation.
    #[must_use]
    pub fn ttl(mut self, ttl: impl Into<String>) -> Self {
        self.ttl = Some(ttl.into());
        self
    }
}
