//! OpenAI's Chat Completions API, which Ollama, vLLM, llama.cpp, `OpenRouter`, Mistral and others speak too.
//!
//! The servers differ in details: the token limit member, accepted call ids, the reasoning member. These are data, a
//! [`ChatQuirks`] per server. [`OpenAiChat::new`] speaks to OpenAI, [`OpenAiChat::compatible`] to another server.

mod answer;
mod call_id;
mod error;
mod lenient;
mod message;
mod quirk;
mod reasoning_detail;
mod recognition;
mod request;
mod response;
mod stream;
mod tool;

use std::borrow::Cow;
use std::sync::Arc;

use haft_core::{ToolResult, Turn, TurnRequest};

pub use self::call_id::CallIdRule;
pub use self::quirk::{ChatQuirks, ChoiceForms, FormatForms, MetadataRule, TokenLimit};
pub(crate) use self::tool::ChatToolForm;
use crate::capability::ModelTable;
use crate::profile::Profile;
use crate::profile::model_profile::ModelProfile;
use crate::wire::response::depth;
use crate::wire::response::error_body;
use crate::wire::{Delivery, ErrorResponse, ReadContext, StreamReader, Wire, WireRequest, WireResults};
use crate::wire_error::{ErrorReport, ReadError, RequestError};

/// The Chat Completions API.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_wire::{Delivery, OpenAiChat, Wire};
///
/// let request = TurnRequest::new("gpt-4o", vec![Item::user("hi")]);
/// let sent = OpenAiChat::new().request(&request, Delivery::Whole)?;
/// assert_eq!(sent.path, "/chat/completions");
/// assert_eq!(sent.body, r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}"#);
/// # Ok::<_, haft_wire::RequestError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OpenAiChat {
    profile: ModelProfile,
    quirks: ChatQuirks,
    caches_prompts: bool,
}

impl OpenAiChat {
    /// Creates OpenAI's wire.
    #[must_use]
    pub fn new() -> Self {
        Self { profile: ModelProfile::new(Profile::openai_chat()), quirks: quirk::OPENAI, caches_prompts: false }
    }

    /// Creates the wire for another server that speaks the same protocol. The name, such as `mistral` or `ollama`, is
    /// the key for its options and its data. Tools are sent without strict mode unless you set a
    /// [profile](Self::profile) that has one.
    ///
    /// haft knows the quirks of `mistral`, `openrouter`, `groq`, `deepseek`, `xai`, `ollama`, `vllm` and `llama.cpp` by
    /// name. Set others with [`quirks`](Self::quirks).
    #[must_use]
    pub fn compatible(provider: impl Into<Cow<'static, str>>) -> Self {
        let provider = provider.into();
        let quirks = ChatQuirks::named(&provider).unwrap_or_default();
        let profile = Profile::openai_chat().of_provider(provider).without_strict_mode();
        Self { profile: ModelProfile::new(profile), quirks, caches_prompts: false }
    }

    /// Sets the demands on tools.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = self.profile.with_profile(profile);
        self
    }

    /// Sets the model capabilities.
    #[must_use]
    pub fn models(mut self, models: ModelTable) -> Self {
        self.profile = self.profile.with_models(models);
        self
    }

    /// Sets how the server differs, replacing the quirks found by its name.
    #[must_use]
    pub fn quirks(mut self, quirks: ChatQuirks) -> Self {
        self.quirks = quirks;
        self
    }

    /// Asks for prompt caching where a server has to be asked.
    ///
    /// Requests to OpenAI with the same model, instructions and tools get the same `prompt_cache_key`. Requests to the
    /// provider `openrouter` for an Anthropic model get `cache_control`. Other servers cache by themselves, or not at
    /// all. A value in the provider options wins.
    #[must_use]
    pub fn cache_prompt(mut self) -> Self {
        self.caches_prompts = true;
        self
    }

    /// Sets the call ids that the server accepts, one of its [quirks](Self::quirks).
    #[must_use]
    pub fn call_ids(mut self, rule: CallIdRule) -> Self {
        self.quirks.call_ids = rule;
        self
    }
}

impl Default for OpenAiChat {
    fn default() -> Self {
        Self::new()
    }
}

impl Wire for OpenAiChat {
    fn caching(&self) -> Option<Arc<dyn Wire>> {
        Some(Arc::new(self.clone().cache_prompt()))
    }

    fn profile(&self) -> &Profile {
        self.profile.profile()
    }

    fn request(&self, request: &TurnRequest, delivery: Delivery) -> Result<WireRequest, RequestError> {
        request::write(self, request, delivery)
    }

    fn response(&self, body: &str, context: &ReadContext) -> Result<Turn, ReadError> {
        depth::check(body)?;
        response::read(self.provider(), body, context)
    }

    fn stream(&self, context: &ReadContext) -> Box<dyn StreamReader> {
        Box::new(stream::ChatStream::new(self.provider(), context))
    }

    fn results(&self, turn: &Turn, results: &[ToolResult], context: &ReadContext) -> Result<WireResults, RequestError> {
        request::write_results(self, turn, results, context)
    }

    fn error(&self, response: &ErrorResponse<'_>) -> ErrorReport {
        error_body::model_or_path(error::read(response), response)
    }
}
