//! A tool that is a request.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use haft_core::{Destructive, Idempotent, IntoDescription, OpenWorld, Readonly};
use haft_executor::{Cx, Open, Tool, ToolBuilder};
use haft_http::{GuardedClient, Method};
use haft_registry::{CallEffect, CallPreview, Entry, EntryError, EntryFault, Reach, Recipient, Secrets, ToolSettings};
use haft_schema::{JsonText, Schema, SchemaError};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::arguments::ArgumentNames;
use super::auth::{ClientCredentials, HttpAuth};
use super::body::{BodyFormat, BodyMapping, BodySource};
use super::content::ContentMapping;
use super::exchange::Exchange;
use super::failure::Repetition;
use super::mapping::RequestMapping;
use super::parameter::{ParameterPlace, RequestParameter};
use super::response::ResponseMapping;
use super::retry::HttpRetry;
use super::template::{UrlTemplate, UrlTemplateError};
use super::token::TokenCache;

/// The default request timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The default number of redirects for a request that only reads.
const DEFAULT_REDIRECTS: usize = 5;

/// A request as data, from which you build a tool.
///
/// Arguments without a declared place go to the query for GET, HEAD, DELETE and OPTIONS, and to a JSON body for other
/// methods. If the status is 2xx, the result is the body, parsed by its type.
///
/// ```
/// use haft_tools::http::{HttpAuth, HttpTool, RequestParameter, ResponseMapping};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Search { owner: String, text: String }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Issue { title: String }
///
/// let search = HttpTool::get("https://api.example.com/repos/{owner}/issues")?
///     .params::<Search>()
///     .success::<Vec<Issue>>()
///     .parameter(RequestParameter::query("text").named("q"))
///     .header("accept", "application/json")
///     .auth(HttpAuth::bearer("github"))
///     .response(ResponseMapping::new().pointer("/items"));
/// let tool = search.tool("search")?;
/// assert!(tool.annotations().readonly());
/// assert_eq!(tool.json_schema()["required"], serde_json::json!(["owner", "text"]));
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
    redirects: usize,
    tokens: TokenCache,
    /// The settings of its tool that an entry leaves unset.
    tool: ToolSettings,
    /// Faults in the settings that the request was read from.
    faults: Vec<EntryFault>,
}

/// A constant part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestConstant {
    pub(super) place: ParameterPlace,
    pub(super) name: String,
    pub(super) value: String,
}

impl HttpTool {
    /// Creates a request with its method's default mapping.
    pub fn new(method: Method, url: UrlTemplate) -> Self {
        Self {
            body: BodyMapping::default_of(&method),
            redirects: if is_safe(&method) { DEFAULT_REDIRECTS } else { 0 },
            method,
            url,
            parameters: Vec::new(),
            constants: Vec::new(),
            auth: Vec::new(),
            response: ResponseMapping::new(),
            retry: HttpRetry::never(),
            idempotency_key: None,
            timeout: DEFAULT_TIMEOUT,
            tokens: TokenCache::new(),
            tool: ToolSettings::default(),
            faults: Vec::new(),
        }
    }

    /// Creates a GET request.
    pub fn get(url: &str) -> Result<Self, UrlTemplateError> {
        Ok(Self::new(Method::GET, url.parse()?))
    }

    /// Creates a POST request.
    pub fn post(url: &str) -> Result<Self, UrlTemplateError> {
        Ok(Self::new(Method::POST, url.parse()?))
    }

    /// Creates a PUT request.
    pub fn put(url: &str) -> Result<Self, UrlTemplateError> {
        Ok(Self::new(Method::PUT, url.parse()?))
    }

    /// Creates a PATCH request.
    pub fn patch(url: &str) -> Result<Self, UrlTemplateError> {
        Ok(Self::new(Method::PATCH, url.parse()?))
    }

    /// Creates a DELETE request.
    pub fn delete(url: &str) -> Result<Self, UrlTemplateError> {
        Ok(Self::new(Method::DELETE, url.parse()?))
    }

    /// Sets the description for models.
    pub fn describe<M>(mut self, text: impl IntoDescription<M>) -> Self {
        self.tool.description = text.into_description();
        self
    }

    /// Sets the type of the arguments, whose schema the model reads and every call is checked by.
    pub fn params<A: JsonSchema>(mut self) -> Self {
        self.tool.parameters = self.keep("/parameters", Schema::of_params::<A>());
        self
    }

    /// Sets the type of the result, by whose schema the response is checked.
    pub fn success<T: JsonSchema>(mut self) -> Self {
        self.tool.output = self.keep("/output", Schema::of_output::<T>());
        self
    }

    fn keep(&mut self, pointer: &str, schema: Result<Schema, SchemaError>) -> Option<Value> {
        match schema {
            Ok(schema) => Some(schema.as_json().clone()),
            Err(error) => {
                self.faults.push(EntryFault::at(pointer, error.to_string()));
                None
            }
        }
    }

    /// Sends an argument at its own place. Path variables with an argument's name need no parameter.
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

    /// Adds another way to authenticate.
    pub fn auth(mut self, auth: HttpAuth) -> Self {
        self.auth.push(auth);
        self
    }

    /// Sets the response mapping.
    pub fn response(mut self, response: ResponseMapping) -> Self {
        self.response = response;
        self
    }

    /// Sets the attempts at the request. By default there is one.
    pub fn retry(mut self, retry: HttpRetry) -> Self {
        self.retry = retry;
        self
    }

    /// Sends a key in the header with this name, so that the server can recognise a repeated request. Every attempt at
    /// a call has the same [key](haft_executor::Cx::idempotency_key).
    pub fn idempotency_key(mut self, header: impl Into<String>) -> Self {
        self.idempotency_key = Some(header.into());
        self
    }

    /// Sets the timeout for each attempt, from the request's start to the body's end. The default is 30 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many redirects to follow. The default is 5 for GET, HEAD and OPTIONS, and 0 for others, whose body a
    /// redirect may send to another server. Credentials go to the first server only.
    pub fn redirects(mut self, limit: usize) -> Self {
        self.redirects = limit;
        self
    }

    /// Shares OAuth 2 tokens with other tools. By default each tool has its own.
    pub fn tokens(mut self, tokens: &TokenCache) -> Self {
        self.tokens = tokens.clone();
        self
    }

    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the URL with its variables.
    #[must_use]
    pub fn url(&self) -> &UrlTemplate {
        &self.url
    }

    /// Returns the names of the secrets that calls will read.
    #[must_use]
    pub fn secret_names(&self) -> BTreeSet<&str> {
        self.auth.iter().map(HttpAuth::secret_name).collect()
    }

    /// Returns the servers that calls send requests to, with the secrets that each gets. An OAuth 2 client's secret
    /// goes to the token endpoint alone.
    #[must_use]
    pub fn reach(&self) -> Reach {
        let host = |url: &UrlTemplate| Recipient::Host(url.origin().to_owned());
        let reach = Reach::nothing().with(host(&self.url), []);
        self.auth.iter().fold(reach, |reach, auth| {
            let recipient = match auth {
                HttpAuth::Bearer { .. }
                | HttpAuth::Basic { .. }
                | HttpAuth::BasicPair { .. }
                | HttpAuth::Header { .. }
                | HttpAuth::Query { .. }
                | HttpAuth::Cookie { .. } => host(&self.url),
                // An invalid URL is a fault, so no request is sent.
                HttpAuth::OAuth2(ClientCredentials { token_url, .. }) => match token_url.parse() {
                    Ok(url) => host(&url),
                    Err(_) => Recipient::Host(token_url.clone()),
                },
            };
            reach.with(recipient, [auth.secret_name().to_owned()])
        })
    }

    /// Builds the tool under this name. Calls find the HTTP client and the secrets among the services of the executor or
    /// the toolkit.
    pub fn tool(&self, name: impl Into<String>) -> Result<Tool, EntryError> {
        self.build(&Entry::new(name, Value::Null))
    }

    /// Builds an entry's tool with its name, description, argument schema and all settings that every kind of tool has.
    ///
    /// Without a schema, the URL's variables are required strings and the mapping's other arguments are optional
    /// strings. Hints that the entry leaves unset follow from the method.
    ///
    /// All faults in the mapping are reported, at the settings that the kind `http` has for them.
    pub fn build(&self, entry: &Entry) -> Result<Tool, EntryError> {
        let mut entry = entry.clone();
        let ToolSettings { description, parameters, output, .. } = &self.tool;
        entry.tool.description = entry.tool.description.or_else(|| description.clone());
        entry.tool.parameters = entry.tool.parameters.or_else(|| parameters.clone());
        entry.tool.output = entry.tool.output.or_else(|| output.clone());
        let default = self.default_parameters();
        let schema = entry.tool.parameters.as_ref().unwrap_or(&default);
        let mut faults = self.faults.clone();
        let mapping = RequestMapping::checked(self, &ArgumentNames::of(schema), &mut faults);
        let content = ContentMapping::checked(&self.response, &mut faults);
        self.check_settings(&mut faults);
        for auth in &self.auth {
            auth.check(&mut faults);
        }
        EntryError::check(faults)?;
        let exchange = Arc::new(Exchange {
            method: self.method.clone(),
            mapping,
            auth: self.auth.clone(),
            tokens: self.tokens.clone(),
            rules: self.response.rules.clone(),
            content,
            limit: self.response.limit,
            errors: self.response.errors.clone(),
            retry: self.retry.clone(),
            idempotency_key: self.idempotency_key.clone(),
            timeout: self.timeout,
            redirects: self.redirects,
            repetition: self.repetition(&entry.tool),
        });
        let previewed = Arc::clone(&exchange);
        let preview = CallPreview::new(self.effect(), move |arguments| previewed.effect(arguments));
        let builder = self.annotated(entry.builder(default), &entry.tool).annotate(preview);
        let mut builder = builder.depends_on::<GuardedClient>();
        if !self.auth.is_empty() {
            builder = builder.depends_on::<Secrets>();
        }
        let tool = builder.try_handler_mixed(move |arguments: JsonText, cx: Cx| {
            let exchange = Arc::clone(&exchange);
            async move { exchange.call(&arguments, &cx).await }
        })?;
        Ok(tool)
    }

    /// Returns the calls' effect with the URL's variables.
    fn effect(&self) -> CallEffect {
        CallEffect::Sends {
            method: self.method.to_string(),
            url: self.url.as_str().to_owned(),
            headers: Vec::new(),
            body: None,
            secrets: self.auth.iter().map(|auth| auth.secret_name().to_owned()).collect(),
        }
    }

    /// Returns the argument schema for an entry without one.
    fn default_parameters(&self) -> Value {
        let mut properties = Map::new();
        let mut required: Vec<&str> = Vec::new();
        let text = || json!({"type": "string"});
        for variable in self.url.path_variables() {
            let is_it = |parameter: &&RequestParameter| {
                parameter.place == ParameterPlace::Path && parameter.wire_name == variable
            };
            let name = self.parameters.iter().find(is_it).map_or(variable, |parameter| parameter.argument.as_str());
            required.push(name);
        }
        required.extend(self.url.query_variables());
        for (at, name) in required.iter().enumerate() {
            if !required[..at].contains(name) {
                properties.insert((*name).to_owned(), text());
            }
        }
        let required: Vec<String> = properties.keys().cloned().collect();
        for parameter in self.parameters.iter().filter(|parameter| parameter.place != ParameterPlace::Path) {
            properties.entry(parameter.argument.clone()).or_insert_with(text);
        }
        if let BodySource::Argument(name) = &self.body.source {
            let any = || if self.body.format == BodyFormat::Text { text() } else { json!({}) };
            properties.entry(name.clone()).or_insert_with(any);
        }
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    fn check_settings(&self, faults: &mut Vec<EntryFault>) {
        if matches!(self.method, Method::CONNECT | Method::TRACE) {
            faults.push(EntryFault::at("/method", "the methods CONNECT and TRACE are not supported"));
        }
        if self.timeout.is_zero() {
            faults.push(EntryFault::at("/timeout-seconds", "the timeout must be greater than 0"));
        }
    }

    /// Adds the hints that follow from the method where the entry has none.
    fn annotated(&self, mut builder: ToolBuilder<Open, Open>, settings: &ToolSettings) -> ToolBuilder<Open, Open> {
        if settings.readonly.is_none() && is_safe(&self.method) {
            builder = builder.annotate(Readonly(true));
        }
        if settings.destructive.is_none() && self.method == Method::DELETE && settings.readonly != Some(true) {
            builder = builder.annotate(Destructive(true));
        }
        if settings.idempotent.is_none() && self.is_idempotent() {
            builder = builder.annotate(Idempotent(true));
        }
        if settings.open_world.is_none() {
            builder = builder.annotate(OpenWorld(true));
        }
        builder
    }

    fn is_idempotent(&self) -> bool {
        is_safe(&self.method) || matches!(self.method, Method::PUT | Method::DELETE)
    }

    fn repetition(&self, settings: &ToolSettings) -> Repetition {
        let is_idempotent = settings.idempotent.unwrap_or(self.is_idempotent() || settings.readonly == Some(true));
        if is_idempotent || self.idempotency_key.is_some() { Repetition::Harmless } else { Repetition::Harmful }
    }

    /// Adds faults that [`build`](Self::build) reports with its own.
    pub(super) fn with_faults(mut self, faults: Vec<EntryFault>) -> Self {
        self.faults = faults;
        self
    }

    pub(super) fn constant(mut self, place: ParameterPlace, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.constants.push(RequestConstant { place, name: name.into(), value: value.into() });
        self
    }
}

/// Reports whether requests with this method change nothing.
fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}
