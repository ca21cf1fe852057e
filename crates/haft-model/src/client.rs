//! Models behind HTTP: a wire, an HTTP client and a key.
//!
//! ```text
//! TurnRequest ──> Wire::request ──> HttpClient ──> the provider
//!      Turn <── Wire::{response, stream, error} <──┘
//! ```
//!
//! A client sends one request per turn and never retries: [`ModelError`] says whether a retry makes sense, and
//! [`TurnLoop::retries`](crate::TurnLoop::retries) decides. The key is in the headers of the request and nowhere else:
//! not in `Debug`, not in errors, and not in what a provider quotes of it. The secrets in the settings of tools and in options
//! are in the body alone, and are removed from quotations too. Only one of fewer than four characters stays there, because
//! removing it would destroy them.

mod anthropic;
mod compatible;
mod credential;
mod gemini;
mod key;
mod known;
mod model_error;
mod openai;
mod report;
mod transport;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_core::TurnRequest;
use haft_http::{HttpClient, HttpError, Timeouts};
use haft_wire::{Delivery, Finding, Severity, Wire, WireRequest};

pub use self::anthropic::Anthropic;
#[cfg(feature = "google-adc")]
pub use self::credential::GoogleToken;
pub use self::credential::{
    AccessToken, ApiKey, Authorization, CommandToken, Credential, CredentialError, CredentialFuture, EntraToken,
    FileToken, TokenSource, UnsignedRequest,
};
pub use self::gemini::{Gemini, Vertex};
use self::key::Key;
pub use self::openai::OpenAi;
pub use self::report::RequestReport;
use crate::error::ModelError;
use crate::model::{LanguageModel, TurnStream};
use crate::model_info::ModelInfo;

/// A model behind HTTP. [`OpenAi`], [`Anthropic`] and [`Gemini`] create it with the address, the headers and the key of
/// their provider; any other [`Wire`] can be given to [`HttpModel::new`].
///
/// ```
/// use haft_model::{HttpModel, LanguageModel};
/// use haft_wire::OpenAiChat;
///
/// let model = HttpModel::new(OpenAiChat::compatible("ollama"), "http://localhost:11434/v1").model("llama3.3");
/// assert_eq!(model.info().to_string(), "ollama/llama3.3");
/// ```
#[derive(Clone)]
#[must_use = "a model does nothing until it is asked"]
pub struct HttpModel {
    wire: Arc<dyn Wire>,
    base_url: String,
    key: Key,
    headers: Vec<(Cow<'static, str>, String)>,
    model: Option<Cow<'static, str>>,
    delivery: Delivery,
    timeouts: Option<Timeouts>,
    http: Arc<HttpSlot>,
    reporter: Option<Arc<ReportFn>>,
    caches_prompts: bool,
    /// The findings about the tools of the last request, so that they are not repeated.
    reported: Arc<Mutex<Vec<Finding>>>,
}

/// The function that receives what of a request can't be sent as it is.
type ReportFn = dyn Fn(&RequestReport<'_>) + Send + Sync;

/// The HTTP client, which is created when it is first used: creating one reads the certificates of the system.
#[derive(Default)]
struct HttpSlot(OnceLock<HttpClient>);

impl HttpSlot {
    fn get(&self) -> Result<HttpClient, HttpError> {
        if let Some(client) = self.0.get() {
            return Ok(client.clone());
        }
        let client = HttpClient::new()?;
        Ok(self.0.get_or_init(|| client).clone())
    }
}

impl HttpModel {
    /// Creates a model without a key. The paths of the wire are added to the base URL.
    pub fn new(wire: impl Wire + 'static, base_url: impl Into<String>) -> Self {
        Self {
            wire: Arc::new(wire),
            base_url: base_url.into(),
            key: Key::None,
            headers: Vec::new(),
            model: None,
            delivery: Delivery::Streamed,
            timeouts: None,
            http: Arc::default(),
            reporter: None,
            caches_prompts: false,
            reported: Arc::default(),
        }
    }

    /// Sets the key, to be sent as a bearer token.
    pub fn bearer(mut self, key: impl Into<ApiKey>) -> Self {
        self.key = Key::Bearer(key.into());
        self
    }

    /// Sets the key, to be sent in this header.
    pub fn key_header(mut self, name: &'static str, key: impl Into<ApiKey>) -> Self {
        self.key = Key::Header(name, key.into());
        self
    }

    /// Sets a header of every request, in place of one of the same name. Its value is no secret; a key is set with
    /// [`key_header`](Self::key_header).
    pub fn header(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the base URL. The paths of the wire are added to its path, and a query is kept. The URL must contain no
    /// secrets: proxies and servers log URLs.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = url.into();
        self
    }

    /// Sets the model for requests that name none, which are those whose model name is empty, as in
    /// `TurnRequest::new("", history)`.
    pub fn model(mut self, model: impl Into<Cow<'static, str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Receives answers as one body, rather than as a stream. The deltas are created from the complete turn.
    pub fn whole(mut self) -> Self {
        self.delivery = Delivery::Whole;
        self
    }

    /// Sets the timeouts of requests, in place of those of the HTTP client.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = Some(timeouts);
        self
    }

    /// Lets the provider cache the prompt, so that the next turn of a conversation does not pay for all of it again. Each
    /// wire asks in its provider's way: `cache_control` at the end of tools, system and messages for Anthropic, a
    /// `prompt_cache_key` for OpenAI. Gemini caches by itself, and so do most compatible servers.
    /// [`Usage::cache_read_tokens`](haft_core::Usage::cache_read_tokens) counts what was read from the cache.
    pub fn cache_prompt(mut self) -> Self {
        self.caches_prompts = true;
        self.with_caching()
    }

    /// Sets the HTTP client, for proxies, certificates and size limits, or to share connections between models.
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.http = Arc::new(HttpSlot(OnceLock::from(client)));
        self
    }

    /// Sets a function that receives what of a request can't be sent as it is: tools that are left out or sent with
    /// losses, and parts of the history that the provider can't receive. It is called only if there is something to
    /// report, and findings about tools are not repeated while they stay the same.
    ///
    /// Without such a function, tools that are left out are logged as warnings of [`tracing`].
    pub fn on_report(mut self, report: impl Fn(&RequestReport<'_>) + Send + Sync + 'static) -> Self {
        self.reporter = Some(Arc::new(report));
        self
    }

    /// Returns the name of the provider by the conventions of OpenTelemetry, as [`ModelInfo`] has it. It is the name of
    /// the wire, except for Google, which has several services.
    fn provider(&self) -> &str {
        match self.wire.provider() {
            "google" => "gcp.gemini",
            name => name,
        }
    }

    /// Reports what of a request can't be sent as it is.
    fn report(&self, sent: &WireRequest) {
        let mut report = RequestReport::new(self.wire.provider(), sent);
        {
            let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
            if *reported == report.tools {
                report.tools = &[];
            } else {
                *reported = report.tools.to_vec();
            }
        }
        match &self.reporter {
            Some(reporter) if !report.is_empty() => reporter(&report),
            Some(_) => {}
            None => {
                for finding in report.tools.iter().filter(|finding| finding.severity() == Severity::Fault) {
                    tracing::warn!(tool = finding.tool, "{finding}");
                }
            }
        }
    }

    /// Replaces the wire.
    pub(crate) fn with_wire(mut self, wire: impl Wire + 'static) -> Self {
        self.wire = Arc::new(wire);
        self.with_caching()
    }

    /// Switches caching on in the wire, if it was asked for.
    fn with_caching(mut self) -> Self {
        if let Some(wire) = self.wire.caching().filter(|_| self.caches_prompts) {
            self.wire = wire;
        }
        self
    }
}

impl LanguageModel for HttpModel {
    fn info(&self) -> ModelInfo {
        let info = ModelInfo::new(self.provider().to_owned());
        match &self.model {
            Some(model) => info.model(model.clone()),
            None => info,
        }
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        let named: Cow<'_, TurnRequest> = match &self.model {
            Some(model) if request.model.is_empty() => {
                let mut named = request.clone();
                named.model = model.clone().into_owned();
                Cow::Owned(named)
            }
            _ => Cow::Borrowed(request),
        };
        if named.model.is_empty() {
            let message = "no model is named; name one in the request, or with `.model(…)`".into();
            return TurnStream::failed(ModelError::InvalidRequest { message, param: Some("model".to_owned()) });
        }
        if self.key.is_blank() {
            let message = "the API key is empty; give `Secret::new(…)` the key, or set the environment variable that \
                           `from_env` reads";
            return TurnStream::failed(ModelError::InvalidRequest { message: message.into(), param: None });
        }
        match self.wire.request(&named, self.delivery) {
            Err(error) => TurnStream::failed(error.into()),
            Ok(sent) => {
                self.report(&sent);
                let model = self.clone();
                TurnStream::spawn(|out| async move { model.ask(sent, out).await })
            }
        }
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A base URL may contain credentials, and headers too.
        f.debug_struct("HttpModel")
            .field("wire", &self.wire)
            .field("model", &self.model)
            .field("delivery", &self.delivery)
            .finish_non_exhaustive()
    }
}
