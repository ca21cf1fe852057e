//! Anthropic's Messages API.
//!
//! ```text
//! request.rs    settings, then request/conversation.rs (items to messages), request/part.rs (content), request/block.rs
//! response.rs   a whole response; response/block.rs reads one block, for streams too
//! stream.rs     events
//! tool.rs       tools
//! error.rs      errors
//! ```
//!
//! A response is a list of blocks, and the API expects its own blocks back in their places. Blocks without an item type
//! of their own are therefore kept verbatim, as [`ProviderCall`](haft_core::ProviderCall)s whose payload is a block
//! list: server tool calls with their results, and block types that this version does not know.

mod error;
mod recognition;
mod request;
mod response;
mod stream;
mod tool;

use std::sync::Arc;

use haft_core::{ToolResult, Turn, TurnRequest};

pub(crate) use self::tool::AnthropicToolForm;
use crate::capability::ModelTable;
use crate::profile::Profile;
use crate::profile::model_profile::ModelProfile;
use crate::wire::response::depth;
use crate::wire::response::error_body;
use crate::wire::{Delivery, ErrorResponse, ReadContext, StreamReader, Wire, WireRequest, WireResults};
use crate::wire_error::{ErrorReport, ReadError, RequestError};

/// The answer's token limit if neither the request nor the application states one. A client that does not stream can
/// receive about this much before its connection is at risk.
const DEFAULT_MAX_TOKENS: u64 = 16_384;

/// Anthropic's Messages API, without the HTTP.
///
/// The API requires `max_tokens`. If your request has none, it is [16,384](Self::default_max_tokens), or fewer for a
/// model that writes fewer.
///
/// A request's `provider_options["anthropic"]` is an object whose members become members of the body. They win over
/// what the request states, except that `output_config` is merged with the answer format. `betas`, a list of names, is
/// sent as the header `anthropic-beta`.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_wire::{AnthropicMessages, Delivery, Wire};
/// use serde_json::{Value, json};
///
/// let options = json!({"thinking": {"type": "adaptive"}, "betas": ["context-1m-2025-08-07"]});
/// let request = TurnRequest::new("claude-sonnet-5", vec![Item::system("Be brief."), Item::user("Hello!")])
///     .max_output_tokens(1_000)
///     .provider_options("anthropic", options);
/// let sent = AnthropicMessages::new().request(&request, Delivery::Whole)?;
///
/// assert_eq!((sent.path.as_str(), &sent.headers[0].1[..]), ("/v1/messages", "context-1m-2025-08-07"));
/// assert_eq!(
///     serde_json::from_str::<Value>(&sent.body)?,
///     json!({
///         "model": "claude-sonnet-5",
///         "max_tokens": 1_000,
///         "system": [{"type": "text", "text": "Be brief."}],
///         "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello!"}]}],
///         "thinking": {"type": "adaptive"},
///     })
/// );
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # System messages
///
/// System and developer messages at a history's start precede the conversation, after the instructions. Most models
/// reject later ones, so these become user text in `<system>` tags, and are reported.
/// [`system_in_place`](Self::system_in_place) sends them as they are.
#[derive(Clone, Debug)]
pub struct AnthropicMessages {
    profile: ModelProfile,
    default_max_tokens: u64,
    later_system: LaterSystem,
    prompt_cache: PromptCache,
}

/// The prompt caching mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PromptCache {
    /// As the application marks them.
    Unset,
    /// With a mark at the end of tools, system and messages.
    Marked,
}

/// The form for system messages after a conversation's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaterSystem {
    /// User text in tags.
    Tagged,
    /// Messages with the role `system`.
    InPlace,
}

impl AnthropicMessages {
    /// Creates the wire with the profile [`Profile::anthropic`] and the built-in model table.
    #[must_use]
    pub fn new() -> Self {
        Self {
            profile: ModelProfile::new(Profile::anthropic()),
            default_max_tokens: DEFAULT_MAX_TOKENS,
            later_system: LaterSystem::Tagged,
            prompt_cache: PromptCache::Unset,
        }
    }

    /// Sets the demands on tools.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = self.profile.with_profile(profile);
        self
    }

    /// Sets the model capabilities that requests are checked against.
    #[must_use]
    pub fn models(mut self, models: ModelTable) -> Self {
        self.profile = self.profile.with_models(models);
        self
    }

    /// Lets the provider cache prompts.
    ///
    /// It sets `cache_control` at the end of the tools, the system texts and the last message. Marks that you set
    /// yourself stay, and count towards the four that a request may have. If the provider options have `cache_control`,
    /// no mark is added.
    #[must_use]
    pub fn cache_prompt(mut self) -> Self {
        self.prompt_cache = PromptCache::Marked;
        self
    }

    /// Sets `max_tokens` for requests that do not state it. A model that is known to write fewer is asked for fewer.
    #[must_use]
    pub fn default_max_tokens(mut self, tokens: u64) -> Self {
        self.default_max_tokens = tokens;
        self
    }

    /// Sends system messages in the middle of a conversation with the role `system`. Claude Opus 4.8 and later models
    /// accept these after a user message.
    #[must_use]
    pub fn system_in_place(mut self) -> Self {
        self.later_system = LaterSystem::InPlace;
        self
    }
}

impl Default for AnthropicMessages {
    fn default() -> Self {
        Self::new()
    }
}

impl Wire for AnthropicMessages {
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
        Box::new(stream::MessageStream::new(self.provider(), context))
    }

    fn results(&self, turn: &Turn, results: &[ToolResult], context: &ReadContext) -> Result<WireResults, RequestError> {
        request::write_results(self, turn, results, context)
    }

    fn error(&self, response: &ErrorResponse<'_>) -> ErrorReport {
        error_body::model_or_path(error::read(response), response)
    }
}
