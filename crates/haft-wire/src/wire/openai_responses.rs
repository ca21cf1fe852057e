//! OpenAI's Responses API.

mod error;
mod recognition;
mod request;
mod response;
mod stream;
mod tool;

use std::sync::Arc;

use haft_core::{ToolResult, Turn, TurnRequest};

pub(crate) use self::tool::ResponsesToolForm;
use crate::capability::ModelTable;
use crate::profile::Profile;
use crate::profile::model_profile::ModelProfile;
use crate::wire::response::depth;
use crate::wire::response::error_body;
use crate::wire::{Delivery, ErrorResponse, ReadContext, StreamReader, Wire, WireRequest, WireResults};
use crate::wire_error::{ErrorReport, ReadError, RequestError};

/// OpenAI's Responses API.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_wire::{Delivery, OpenAiResponses, Wire};
///
/// let wire = OpenAiResponses::new();
/// let request = TurnRequest::new("gpt-5", vec![Item::user("Hello")]);
/// let sent = wire.request(&request, Delivery::Whole)?;
/// assert_eq!(sent.path, "/responses");
///
/// let body = r#"{"id": "resp_1", "status": "completed", "output": [
///     {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Hi!"}]}
/// ]}"#;
/// assert_eq!(wire.response(body, &sent.context)?.text(), "Hi!");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # State
///
/// Requests contain the whole conversation and ask the provider to store nothing (`"store": false`). So that a
/// reasoning model can continue, its reasoning is requested in encrypted form
/// (`"include": ["reasoning.encrypted_content"]`) and sent back before the item that it led to. Only models known to
/// reason are asked for it ([`EncryptedReasoning`](crate::EncryptedReasoning)), and only they receive reasoning; an
/// earlier model's is dropped and reported. If you name a deployment, say that its model reasons: set `reasoning` or
/// add `reasoning.encrypted_content` to `include` in the provider options, or add a row to the [`models`](Self::models)
/// table.
///
/// To change this, set `store`, `include`, `previous_response_id` or `conversation` in the provider options. With one
/// of the last two, the history may contain only what is new.
///
/// # Options
///
/// `TurnRequest::provider_options["openai"]` is an object with further body members. They win over what is written
/// here, with three exceptions: the delivery decides `stream`, the members of `text` are merged, and the `include`
/// entries are added to those requested anyway, unless `include` is `null` or empty.
///
/// # Results
///
/// The API has no flag for failed calls. A failure's text is `{"error":{"message":…}}`, as the executor writes it; any
/// other error text becomes such a message. Tools with their own item types, such as `shell_call`, are called with
/// arguments here, and their results are sent with the matching type.
#[derive(Clone, Debug)]
pub struct OpenAiResponses {
    profile: ModelProfile,
    keys_prompts: bool,
}

impl OpenAiResponses {
    /// Creates the wire with OpenAI's profile.
    #[must_use]
    pub fn new() -> Self {
        Self { profile: ModelProfile::new(Profile::openai()), keys_prompts: false }
    }

    /// Sets the demands on tools.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = self.profile.with_profile(profile);
        self
    }

    /// Sends requests with the same model, instructions and tools to the same cache, by `prompt_cache_key`. The
    /// provider caches long prompts by itself; the key lets it find them. A key in the provider options wins.
    #[must_use]
    pub fn cache_prompt(mut self) -> Self {
        self.keys_prompts = true;
        self
    }

    /// Sets the model capabilities.
    #[must_use]
    pub fn models(mut self, models: ModelTable) -> Self {
        self.profile = self.profile.with_models(models);
        self
    }
}

impl Default for OpenAiResponses {
    fn default() -> Self {
        Self::new()
    }
}

impl Wire for OpenAiResponses {
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
        Box::new(stream::EventReader::new(self.provider(), context))
    }

    fn results(&self, turn: &Turn, results: &[ToolResult], context: &ReadContext) -> Result<WireResults, RequestError> {
        request::write_results(self, turn, results, context)
    }

    fn error(&self, response: &ErrorResponse<'_>) -> ErrorReport {
        error_body::model_or_path(error::read(response), response)
    }
}
