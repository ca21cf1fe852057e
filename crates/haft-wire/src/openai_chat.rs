//! OpenAI's Chat Completions API, which Ollama, vLLM, llama.cpp, `OpenRouter`, Mistral and others speak too.
//!
//! The servers differ in details: the member for the token limit, the form of call ids, the member for reasoning.
//! [`OpenAiChat::new`] is OpenAI's own form, [`OpenAiChat::compatible`] the one that the others share.

mod call_id;
mod error;
mod message;
mod request;
mod response;
mod stream;
mod tool;

use std::borrow::Cow;

use haft_core::{ToolResult, Turn, TurnRequest};

pub use self::call_id::CallIdRule;
pub(crate) use self::tool::ChatToolForm;
use crate::capability::ModelTable;
use crate::depth;
use crate::error_body;
use crate::model_profile::ModelProfile;
use crate::profile::Profile;
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
    server: Server,
    call_ids: CallIdRule,
}

/// The form of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    OpenAi,
    Compatible,
}

impl OpenAiChat {
    /// Creates the wire of OpenAI.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Profile::openai_chat(), Server::OpenAi)
    }

    /// Creates the wire of a server that speaks the same protocol. Its name is the one under which its options are given
    /// and its data is kept, such as `mistral` or `ollama`. Tools are sent without strict mode unless a
    /// [profile](Self::profile) with one is set.
    #[must_use]
    pub fn compatible(provider: impl Into<Cow<'static, str>>) -> Self {
        let provider = provider.into();
        let call_ids = if provider == "mistral" { CallIdRule::NineAlphanumerics } else { CallIdRule::default() };
        let profile = Profile::openai_chat().of_provider(provider).without_strict_mode();
        Self { call_ids, ..Self::of(profile, Server::Compatible) }
    }

    /// Sets the demands on tools.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = self.profile.with_profile(profile);
        self
    }

    /// Sets the capabilities of models.
    #[must_use]
    pub fn models(mut self, models: ModelTable) -> Self {
        self.profile = self.profile.with_models(models);
        self
    }

    /// Sets the form of call ids that the server accepts. It is nine letters and digits for `mistral`, and at most 40
    /// characters for all others.
    #[must_use]
    pub fn call_ids(mut self, rule: CallIdRule) -> Self {
        self.call_ids = rule;
        self
    }

    fn of(profile: Profile, server: Server) -> Self {
        Self { profile: ModelProfile::new(profile), server, call_ids: CallIdRule::default() }
    }
}

impl Default for OpenAiChat {
    fn default() -> Self {
        Self::new()
    }
}

impl Wire for OpenAiChat {
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
