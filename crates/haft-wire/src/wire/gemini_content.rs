//! Gemini's `generateContent` API.
//!
//! ```text
//! request.rs    settings and body    request/   contents, parts, function responses, tool choice
//! response.rs   the form of a response    turn.rs   the turn that a response or its chunks add up to
//! ```
//!
//! A streamed response consists of chunks that look like a whole one, so the same code reads both. Parts that the
//! provider signed go back as they came: texts with and without a signature are never joined.

mod citation;
mod error;
mod finish;
mod model;
mod partial_args;
mod recognition;
mod request;
mod response;
mod stream;
mod tool;
mod turn;
mod usage;

use haft_core::{ToolResult, Turn, TurnRequest};

use self::model::PathRoot;
pub(crate) use self::tool::{GeminiToolForm, SchemaCarrier};
use crate::capability::ModelTable;
use crate::profile::Profile;
use crate::profile::model_profile::ModelProfile;
use crate::wire::response::depth;
use crate::wire::response::error_body;
use crate::wire::{Delivery, ErrorResponse, ReadContext, StreamReader, Wire, WireRequest, WireResults};
use crate::wire_error::{ErrorReport, ReadError, RequestError};

/// Gemini's `generateContent` API. The provider's name is `google`.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_wire::{Delivery, GeminiContent, Wire};
///
/// let request = TurnRequest::new("gemini-3-pro", vec![Item::user("hi")]);
/// let sent = GeminiContent::new().request(&request, Delivery::Streamed)?;
/// assert_eq!(sent.path, "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
/// assert_eq!(sent.body, r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#);
/// # Ok::<_, haft_wire::RequestError>(())
/// ```
///
/// The provider options are members of the body, and win over what the request sets. `generationConfig` and
/// `toolConfig` are merged with the existing members:
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_wire::{Delivery, GeminiContent, Wire};
/// use serde_json::{Value, json};
///
/// let request = TurnRequest::new("gemini-3-pro", vec![Item::user("hi")])
///     .temperature(1.0)
///     .provider_options("google", json!({"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}}));
/// let sent = GeminiContent::new().request(&request, Delivery::Whole)?;
/// let body: Value = serde_json::from_str(&sent.body)?;
/// let expected = json!({"temperature": 1.0, "thinkingConfig": {"thinkingLevel": "LOW"}});
/// assert_eq!(body["generationConfig"], expected);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GeminiContent {
    profile: ModelProfile,
    call_ids: SentIds,
    root: PathRoot,
}

/// The call ids to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentIds {
    /// Those that the provider assigned.
    Assigned,
    /// None.
    None,
}

impl GeminiContent {
    /// Creates the wire with [`Profile::gemini`].
    #[must_use]
    pub fn new() -> Self {
        Self { profile: ModelProfile::new(Profile::gemini()), call_ids: SentIds::Assigned, root: PathRoot::Gemini }
    }

    /// Sets the tool profile, such as [`Profile::gemini_parameters`] for older models.
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

    /// Uses Vertex AI's paths for models in this project and location: `/v1/projects/…/locations/…/publishers/google`.
    /// The version is `v1` or `v1beta1`.
    #[must_use]
    pub fn vertex(mut self, project: &str, location: &str, version: &str) -> Self {
        self.root = PathRoot::Vertex([version, project, location].map(str::to_owned));
        self
    }

    /// Sends neither call ids nor the setting that reports built-in tool calls: Vertex AI rejects both. Results are
    /// then paired with calls by order alone.
    #[must_use]
    pub fn without_call_ids(mut self) -> Self {
        self.call_ids = SentIds::None;
        self
    }
}

impl Default for GeminiContent {
    fn default() -> Self {
        Self::new()
    }
}

impl Wire for GeminiContent {
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
        Box::new(stream::GeminiStream::new(self.provider(), context))
    }

    fn results(&self, turn: &Turn, results: &[ToolResult], context: &ReadContext) -> Result<WireResults, RequestError> {
        request::write_results(self, turn, results, context)
    }

    fn error(&self, response: &ErrorResponse<'_>) -> ErrorReport {
        error_body::model_or_path(error::read(response), response)
    }
}
