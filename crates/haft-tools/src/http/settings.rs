//! An HTTP tool's settings, as written in a workspace file.
//!
//! The types here are the notation and its descriptions for editors. They are converted to an [`HttpTool`], which gives
//! them their meaning and checks what a schema can't.

mod auth;
mod request;
mod response;

use std::collections::BTreeMap;
use std::time::Duration;

use haft_executor::Backoff;
use haft_http::Method;
use haft_registry::{EntryError, EntryFault};
use schemars::JsonSchema;
use serde::Deserialize;

use self::auth::AuthSettings;
#[cfg(feature = "mcp")]
pub(crate) use self::auth::{BasicSettings, HeaderAuthSettings};
use self::request::{BodySettings, SourceSettings};
pub(crate) use self::response::ErrorsSetting;
use self::response::{ResultSettings, StatusSettings};
use super::body::BodyMapping;
use super::mapping::pointer;
use super::parameter::ParameterPlace;
use super::retry::HttpRetry;
use super::status::StatusSet;
use super::template::UrlTemplate;
use super::tool::HttpTool;

/// The settings of a tool that sends an HTTP request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct HttpSettings {
    /// The absolute URL. `{x}` in the path is replaced by the argument `x`, escaped, within one segment; `{+x}` is a whole
    /// segment that keeps its slashes; `{x}` may also be a value in the query. Arguments never change the host.
    url: String,
    /// The method. Without it: `POST` if `body` is set, else `GET`.
    method: Option<MethodSetting>,
    /// Parameters of the query, by their names in the request: a text such as `"{text}"` is the argument `text`, any
    /// other text, number or boolean is sent as it is.
    #[serde(default)]
    query: BTreeMap<String, SourceSettings>,
    /// Headers, written as in `query`. Credentials belong to `auth`.
    #[serde(default)]
    headers: BTreeMap<String, SourceSettings>,
    /// Cookies, written as in `query`. Credentials belong to `auth`.
    #[serde(default)]
    cookies: BTreeMap<String, SourceSettings>,
    /// The body. Without it: nothing for GET, HEAD, DELETE and OPTIONS, whose other arguments go to the query; else a JSON
    /// object of all arguments that nothing else uses.
    body: Option<BodySettings>,
    /// The authentication, by the names of secrets. Several forms are used together.
    auth: Option<AuthSettings>,
    /// The part of the response that is the result. Without it: the whole body, parsed by its type.
    #[serde(default)]
    result: ResultSettings,
    /// The outcomes of statuses such as `404`, `4xx` or `500-503`. Without them, 2xx is success and all else is a failure.
    #[serde(default)]
    status: BTreeMap<String, StatusSettings>,
    /// The part of a failed response that the model reads besides its status: `status`, the default, is nothing; `body` is its
    /// beginning; a JSON Pointer such as `/error/message` is a part of it. The body is always shown to the operator.
    errors: Option<ErrorsSetting>,
    /// The attempts at the request. Without it there is one.
    retry: Option<RetrySettings>,
    /// The header that receives a key by which the server recognises a repeated request, such as `idempotency-key`.
    idempotency_key: Option<String>,
    /// The timeout of one attempt in seconds, 30 by default.
    #[schemars(extend("exclusiveMinimum" = 0))]
    timeout_seconds: Option<f64>,
    /// The number of redirects to follow: 5 by default for GET, HEAD and OPTIONS, 0 for others. Credentials are sent to the
    /// first server only, but a body may be sent on.
    #[schemars(range(max = 20))]
    redirects: Option<usize>,
}

/// An HTTP method.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum MethodSetting {
    Get,
    Head,
    Options,
    Post,
    Put,
    Patch,
    Delete,
}

/// The attempts at a request. It is repeated if it certainly did not arrive; or if the tool is idempotent or has an
/// `idempotency-key`, and the server answered with 408, 429, 500, 502, 503 or 504 or not at all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RetrySettings {
    /// The maximum number of attempts, the first included.
    #[schemars(range(min = 1, max = 20))]
    attempts: u32,
    /// The wait before the second attempt in seconds, 0.2 by default. Each further one is twice as long.
    #[schemars(range(min = 0))]
    first_wait_seconds: Option<f64>,
    /// The longest wait in seconds, 30 by default. The call fails at once if the server asks for more.
    #[schemars(range(min = 0))]
    max_wait_seconds: Option<f64>,
}

impl HttpSettings {
    /// Converts the settings and reports all faults.
    pub(super) fn into_tool(self) -> Result<HttpTool, EntryError> {
        let mut faults = Vec::new();
        let url = self.url.parse::<UrlTemplate>();
        let method = match (self.method, &self.body) {
            (Some(method), _) => method.method(),
            (None, Some(_)) => Method::POST,
            (None, None) => Method::GET,
        };
        // Further faults are found in the tool, which needs a URL to find them all.
        let url = url.or_else(|error| {
            faults.push(EntryFault::at("/url", error.to_string()));
            "http://invalid.example/".parse()
        });
        let Ok(url) = url else { return Err(EntryError { faults }) };
        let mut tool = HttpTool::new(method, url);
        let places = [
            (ParameterPlace::Query, "/query", self.query),
            (ParameterPlace::Header, "/headers", self.headers),
            (ParameterPlace::Cookie, "/cookies", self.cookies),
        ];
        for (place, at, sources) in places {
            for (name, source) in sources {
                let at = format!("{at}{}", pointer(&name));
                tool = source.add(tool, place, name, &at, &mut faults);
            }
        }
        tool = tool.body_or_default(self.body.map(BodySettings::into_mapping));
        if let Some(auth) = self.auth {
            tool = auth.into_auth().into_iter().fold(tool, HttpTool::auth);
        }
        let mut response = self.result.into_mapping(&mut faults);
        for (text, outcome) in self.status {
            let at = format!("/status{}", pointer(&text));
            match text.parse::<StatusSet>() {
                Ok(statuses) => response = response.status(statuses, outcome.into_outcome()),
                Err(error) => faults.push(EntryFault::at(at, error.to_string())),
            }
        }
        if let Some(errors) = self.errors {
            response = response.errors(errors.into_detail());
        }
        // A single status is more specific than a range, whatever the file's order.
        response.rules.sort_by_key(|rule| rule.statuses.len());
        tool = tool.response(response);
        if let Some(retry) = self.retry {
            tool = tool.retry(retry.into_retry(&mut faults));
        }
        if let Some(header) = self.idempotency_key {
            tool = tool.idempotency_key(header);
        }
        if let Some(timeout) = self.timeout_seconds {
            tool = tool.timeout(seconds(timeout, "/timeout-seconds", &mut faults));
        }
        if let Some(redirects) = self.redirects {
            tool = tool.redirects(redirects);
        }
        Ok(tool.with_faults(faults))
    }
}

impl HttpTool {
    fn body_or_default(self, body: Option<BodyMapping>) -> Self {
        match body {
            Some(body) => self.body(body),
            None => self,
        }
    }
}

impl MethodSetting {
    fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Head => Method::HEAD,
            Self::Options => Method::OPTIONS,
            Self::Post => Method::POST,
            Self::Put => Method::PUT,
            Self::Patch => Method::PATCH,
            Self::Delete => Method::DELETE,
        }
    }
}

impl RetrySettings {
    fn into_retry(self, faults: &mut Vec<EntryFault>) -> HttpRetry {
        let mut retry = HttpRetry::attempts(self.attempts);
        if let Some(first) = self.first_wait_seconds {
            retry.backoff = Backoff::exponential(seconds(first, "/retry/first-wait-seconds", faults));
        }
        if let Some(max) = self.max_wait_seconds {
            let max = seconds(max, "/retry/max-wait-seconds", faults);
            retry.backoff = retry.backoff.cap(max);
            retry.max_wait = max;
        }
        retry
    }
}

/// Reads a number of seconds.
fn seconds(number: f64, at: &str, faults: &mut Vec<EntryFault>) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_else(|_| {
        faults.push(EntryFault::at(at, "is not a valid number of seconds"));
        Duration::from_secs(1)
    })
}
