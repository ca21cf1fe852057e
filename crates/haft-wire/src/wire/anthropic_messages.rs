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
//! A response is a list of blocks, and the API expects its own blocks back in their places. Blocks that have no item of
//! their own are therefore kept as [`ProviderCall`](haft_core::ProviderCall)s whose payload is a list of blocks, verbatim:
//! the calls of server tools with their results, and blocks of types that this version does not know.

mod error;
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

/// The number of tokens that an answer may have if neither the request nor the application states it. A client that
/// does not stream gets so many before its connection is at risk.
const DEFAULT_MAX_TOKENS: u64 = 16_384;

/// Anthropic's Messages API, without the HTTP.
///
/// The API requires `max_tokens`. If the request has none, it is [16,384](Self::default_max_tokens), or fewer for a
/// model that writes fewer.
///
/// `provider_options["anthropic"]` of a request is an object whose members are sent as members of the body. They win over
/// what the request states, except that `output_config` is joined with the format of the answer. `betas`, a list of names,
/// is sent as the header `anthropic-beta` instead.
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
/// System and developer messages at the start of a history precede the conversation, after the instructions. Later ones are
/// sent to the user's side of the conversation as text in `<system>` tags, and reported, because most models reject them;
/// [`system_in_place`](Self::system_in_place) sends them as they are.
#[derive(Clone, Debug)]
pub struct AnthropicMessages {
    profile: ModelProfile,
    default_max_tokens: u64,
    later_system: LaterSystem,
    prompt_cache: PromptCache,
}

/// The caching of prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PromptCache {
    /// As the application marks them.
    Unset,
    /// With a mark at the end of tools, system and messages.
    Marked,
}

/// The form of system messages after the start of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaterSystem {
    /// Text of the user, in tags.
    Tagged,
    /// Messages of the role `system`.
    InPlace,
}

impl AnthropicMessages {
    /// Creates the wire with the profile [`Profile::anthropic`] and the models that haft knows.
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

    /// Sets the capabilities of models, by which requests are checked.
    #[must_use]
    pub fn models(mut self, models: ModelTable) -> Self {
        self.profile = self.profile.with_models(models);
        self
    }

    /// Lets the provider cache prompts: `cache_control` is set at the end of the tools, of the system texts and of the last
    /// message. Marks that you set yourself stay and count towards the four that a request may have; with
    /// `cache_control` in the provider's options, none is added.
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

    /// Sends system messages in the middle of a conversation as messages of that role, which Claude Opus 4.8 and later
    /// models accept after a message of the user.
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
