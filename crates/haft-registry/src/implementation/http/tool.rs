//! A tool that is a request.

use std::collections::BTreeSet;
use std::time::Duration;

use haft_core::Tool;
use haft_http::Method;

use super::auth::HttpAuth;
use super::body::BodyMapping;
use super::parameter::{ParameterPlace, RequestParameter};
use super::response::ResponseMapping;
use super::retry::HttpRetry;
use super::template::UrlTemplate;
use crate::implementation::{Entry, EntryError};

/// The timeout of a request, unless it is set.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A request as data, from which a tool is built.
///
/// Arguments that nothing is said about go to the query of GET, HEAD, DELETE and OPTIONS requests and to a JSON body of
/// others. The result is the body, parsed by its type, if the status is 2xx.
///
/// ```
/// use haft_http::Method;
/// use haft_registry::Entry;
/// use haft_registry::http::{HttpAuth, HttpTool, RequestParameter, ResponseMapping};
///
/// let search = HttpTool::new(Method::GET, "https://api.example.com/repos/{owner}/issues".parse()?)
///     .parameter(RequestParameter::query("text").named("q"))
///     .header("accept", "application/json")
///     .auth(HttpAuth::bearer("github"))
///     .response(ResponseMapping::new().pointer("/items"));
/// let tool = search.build(&Entry::new("search", serde_json::Value::Null))?;
/// assert!(tool.annotations().readonly());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until a tool is built of it"]
pub struct HttpTool {
    pub(super) method: Method,
    pub(super) url: UrlTemplate,
    pub(super) parameters: Vec<RequestParameter>,
    pub(super) constants: Vec<RequestConstant>,
    pub(super) body: BodyMapping,
    pub(super) auth: Vec<HttpAuth>,
    pub(super) response: ResponseMapping,
    pub(super) retry: HttpRetry,
    pub(super) idempotency_key: Option<String>,
    pub(super) timeout: Duration,
}

/// A constant part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestConstant {
    pub(super) place: ParameterPlace,
    pub(super) name: String,
    pub(super) value: String,
}

impl HttpTool {
    /// Creates a request with the default mapping of its method.
    pub fn new(method: Method, url: UrlTemplate) -> Self {
        Self {
            body: BodyMapping::default_of(&method),
            method,
            url,
            parameters: Vec::new(),
            constants: Vec::new(),
            auth: Vec::new(),
            response: ResponseMapping::new(),
            retry: HttpRetry::never(),
            idempotency_key: None,
            timeout: DEFAULT_TIMEOUT,
        }
    }

    /// Sends an argument at a place of its own. The variables of the path need none if they have the names of arguments.
    pub fn parameter(mut self, parameter: RequestParameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Adds a constant header.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.constant(ParameterPlace::Header, name, value)
    }

    /// Adds a constant parameter to the query.
    pub fn query(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.constant(ParameterPlace::Query, name, value)
    }

    /// Adds a constant cookie.
    pub fn cookie(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.constant(ParameterPlace::Cookie, name, value)
    }

    /// Sets the body.
    pub fn body(mut self, body: BodyMapping) -> Self {
        self.body = body;
        self
    }

    /// Adds a form of authentication to those that exist.
    pub fn auth(mut self, auth: HttpAuth) -> Self {
        self.auth.push(auth);
        self
    }

    /// Sets the mapping of the response.
    pub fn response(mut self, response: ResponseMapping) -> Self {
        self.response = response;
        self
    }

    /// Sets the attempts at the request. By default there is one.
    pub fn retry(mut self, retry: HttpRetry) -> Self {
        self.retry = retry;
        self
    }

    /// Sends a key in the header with this name, by which the server recognises a request that it has seen. Every attempt
    /// at a call has the same [key](haft_core::Cx::idempotency_key).
    pub fn idempotency_key(mut self, header: impl Into<String>) -> Self {
        self.idempotency_key = Some(header.into());
        self
    }

    /// Sets the timeout of each attempt, from the start of the request to the end of the body. It is 30 seconds by
    /// default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Returns the names of the secrets that calls will read.
    #[must_use]
    pub fn secret_names(&self) -> BTreeSet<&str> {
        self.auth.iter().map(HttpAuth::secret_name).collect()
    }

    /// Builds the tool of an entry: its name, its description, the schema of its arguments and all settings that every kind
    /// of tool has. Without a schema, the variables of the URL are required strings and the other arguments of the mapping
    /// are optional strings. Hints that the entry leaves unset follow from the method.
    ///
    /// All faults of the mapping are reported, at the settings that the kind `http` has for them.
    pub fn build(&self, entry: &Entry) -> Result<Tool, EntryError> {
        let _ = entry;
        Err(EntryError::at("", "not built yet"))
    }

    fn constant(mut self, place: ParameterPlace, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.constants.push(RequestConstant { place, name: name.into(), value: value.into() });
        self
    }
}
