//! A request to be sent.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use haft_core::Secret;
use http::header::{AUTHORIZATION, CONTENT_TYPE, InvalidHeaderValue};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use reqwest::Url;
use serde::Serialize;

use crate::endpoint::Endpoint;
use crate::error::HttpError;
use crate::size_limits::SizeLimits;
use crate::timeouts::Timeouts;

/// A request to send with [`HttpClient::send`](crate::HttpClient::send), which also reports its first fault.
///
/// ```
/// use haft_http::{HttpRequest, Secret};
///
/// let request = HttpRequest::post("https://api.example/v1/messages?key=k")
///     .secret_header("x-api-key", &Secret::new("sk-123"))
///     .header("api-version", "2023-06-01")
///     .header("x-attempt", 2)
///     .json(&serde_json::json!({"model": "m"}));
/// let shown = format!("{request:?}");
/// assert!(shown.contains("api.example/v1/messages"));
/// assert!(!shown.contains("sk-123") && !shown.contains("key=k") && !shown.contains("model"));
/// ```
#[must_use = "a request does nothing until it is sent"]
pub struct HttpRequest {
    pub(crate) method: Method,
    /// The URL, or the request's first fault.
    pub(crate) url: Result<Url, HttpError>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) timeouts: Option<Timeouts>,
    pub(crate) limits: Option<SizeLimits>,
    pub(crate) redirects: Option<usize>,
}

impl HttpRequest {
    /// Creates a request with this method and an absolute `http` or `https` URL.
    pub fn new(method: Method, url: impl AsRef<str>) -> Self {
        let url = parse(url.as_ref());
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            timeouts: None,
            limits: None,
            redirects: None,
        }
    }

    /// Creates a GET request.
    pub fn get(url: impl AsRef<str>) -> Self {
        Self::new(Method::GET, url)
    }

    /// Creates a POST request.
    pub fn post(url: impl AsRef<str>) -> Self {
        Self::new(Method::POST, url)
    }

    /// Sets a header, replacing one with the same name. The name is a text or a [`HeaderName`]; the value is anything
    /// that converts into a [`HeaderValue`]: text, bytes or a number. If a header can't have this name or value,
    /// sending the request fails.
    pub fn header(self, name: impl AsRef<[u8]>, value: impl TryInto<HeaderValue>) -> Self {
        self.insert(name, value.try_into().ok())
    }

    /// Sets a header that is never shown, replacing one with the same name. It does not follow a redirect to another
    /// origin.
    pub fn secret_header(self, name: impl AsRef<[u8]>, value: &Secret) -> Self {
        self.insert(name, secret_value("", value).ok())
    }

    /// Sets the `authorization` header to this bearer token. It is never shown.
    pub fn bearer(self, token: &Secret) -> Self {
        self.insert(AUTHORIZATION, secret_value("Bearer ", token).ok())
    }

    /// Sets the `authorization` header to this user and password. It is never shown. If the user contains a colon,
    /// sending the request fails.
    pub fn basic(self, user: &str, password: &Secret) -> Self {
        let is_valid = !user.contains(':') && !user.contains(char::is_control);
        let credentials = BASE64_STANDARD.encode(format!("{user}:{}", password.expose()));
        let value = secret_value("Basic ", &Secret::new(credentials)).ok();
        self.insert(AUTHORIZATION, value.filter(|_| is_valid))
    }

    /// Sets the body. A `String` or a `Vec<u8>` is moved, not copied.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the body to a value, written as JSON, and the header `content-type` unless it is set. If JSON can't hold
    /// the value, such as a map whose keys are not strings, sending the request fails.
    ///
    /// A text becomes a JSON string. For text that already is JSON, use [`json_text`](Self::json_text).
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Self {
        match serde_json::to_vec(value) {
            Ok(text) => self.json_text(text),
            Err(source) => self.fault(HttpError::InvalidBody { source: source.into() }),
        }
    }

    /// Sets the body to this JSON text, unchecked, and the header `content-type` unless it is set.
    pub fn json_text(mut self, text: impl Into<Bytes>) -> Self {
        self.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        self.body(text)
    }

    /// Sets this request's timeouts, replacing the client's.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = Some(timeouts);
        self
    }

    /// Sets this request's size limits, replacing the client's.
    pub fn limits(mut self, limits: SizeLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets how many redirects to follow for this request, replacing the client's number. If the body holds
    /// credentials, follow none: a redirect may send the body to another origin.
    pub fn redirects(mut self, limit: usize) -> Self {
        self.redirects = Some(limit);
        self
    }

    fn insert(mut self, name: impl AsRef<[u8]>, value: Option<HeaderValue>) -> Self {
        let name = name.as_ref();
        match (HeaderName::from_bytes(name), value) {
            (Ok(name), Some(value)) => {
                self.headers.insert(name, value);
                self
            }
            _ => self.fault(HttpError::InvalidHeader { name: String::from_utf8_lossy(name).into_owned() }),
        }
    }

    /// Keeps this fault if it is the first one.
    fn fault(mut self, error: HttpError) -> Self {
        self.url = self.url.and(Err(error));
        self
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &self.url.as_ref().map(|url| Endpoint::of(url, 0).to_string()))
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .field("timeouts", &self.timeouts)
            .field("limits", &self.limits)
            .field("redirects", &self.redirects)
            .finish()
    }
}

/// Creates a header value that is marked as sensitive: `Debug` output hides it, and HTTP/2 does not index it.
fn secret_value(prefix: &str, secret: &Secret) -> Result<HeaderValue, InvalidHeaderValue> {
    let mut value = HeaderValue::try_from(format!("{prefix}{}", secret.expose()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Parses an absolute URL. The error does not repeat it.
fn parse(text: &str) -> Result<Url, HttpError> {
    let url = Url::parse(text).map_err(|error| HttpError::InvalidUrl { reason: error.to_string() })?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(HttpError::InvalidUrl { reason: "the scheme is neither http nor https".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::error::Error as _;

    use haft_core::Secret;
    use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
    use http::{HeaderValue, Method};
    use serde_json::json;

    use super::{HttpRequest, secret_value};
    use crate::error::HttpError;

    const JSON: HeaderValue = HeaderValue::from_static("application/json");

    #[test]
    fn values_of_secrets_are_sensitive() {
        let value = secret_value("Bearer ", &Secret::new("sk-1")).unwrap();
        assert_eq!(value, "Bearer sk-1");
        assert!(value.is_sensitive());
        assert!(secret_value("", &Secret::new("sk\n1")).is_err());
    }

    #[test]
    fn a_user_and_a_password_are_encoded_and_sensitive() {
        let request = HttpRequest::new(Method::DELETE, "http://a.example").basic("user", &Secret::new("pass:wörd"));
        let value = &request.headers["authorization"];
        assert_eq!(value, "Basic dXNlcjpwYXNzOnfDtnJk");
        assert!(value.is_sensitive());
        for user in ["a:b", "a\nb"] {
            let request = HttpRequest::get("http://a.example").basic(user, &Secret::new("p"));
            assert!(
                matches!(request.url, Err(HttpError::InvalidHeader { name }) if name == "authorization"),
                "{user:?}"
            );
        }
    }

    #[test]
    fn the_first_fault_is_kept() {
        let request = HttpRequest::get("not a url").header("bad name", "x");
        assert!(matches!(request.url, Err(HttpError::InvalidUrl { .. })));
        let request = HttpRequest::get("http://a.example").header("bad name", "x").header("x", "a\nb");
        assert!(matches!(request.url, Err(HttpError::InvalidHeader { name }) if name == "bad name"));
        let request = HttpRequest::get("http://a.example").bearer(&Secret::new("sk\r\nx: y"));
        assert!(matches!(request.url, Err(HttpError::InvalidHeader { name }) if name == "authorization"));
    }

    #[test]
    fn errors_of_a_url_do_not_repeat_it() {
        for url in ["", "sk-123", "http://", "file:///sk-123", "http://host:sk-123/", "//sk-123", "http://a b/?sk-123"]
        {
            let error = HttpRequest::get(url).url.unwrap_err();
            assert!(matches!(error, HttpError::InvalidUrl { .. }), "{url}: {error}");
            assert!(!format!("{error} {error:?}").contains("sk-123"), "{url}: {error:?}");
        }
    }

    #[test]
    fn a_body_is_moved() {
        let text = "x".repeat(1000);
        let address = text.as_ptr();
        assert_eq!(HttpRequest::post("http://a.example").json_text(text).body.as_ptr(), address);
    }

    #[test]
    fn headers_take_names_and_values_of_any_form() {
        let request = HttpRequest::get("http://a.example")
            .header("X-Text", String::from("a"))
            .header(String::from("x-bytes"), b"b".as_slice())
            .header(b"x-number".as_slice(), 3)
            .header(ACCEPT, HeaderValue::from_static("text/plain"))
            .header(&CONTENT_LENGTH, HeaderValue::from(0_u64));
        let named = |name: &str| request.headers[name].to_str().unwrap();
        let values = ["x-text", "x-bytes", "x-number", "accept", "content-length"].map(named);
        assert_eq!(values, ["a", "b", "3", "text/plain", "0"]);
        assert!(request.url.is_ok());
    }

    #[test]
    fn a_value_is_written_as_json_and_names_its_type_unless_it_is_set() {
        let request = HttpRequest::post("http://a.example").json(&json!({"a": 1}));
        assert_eq!((&request.body[..], &request.headers[CONTENT_TYPE]), (&b"{\"a\":1}"[..], &JSON));
        let request = HttpRequest::post("http://a.example").json("text");
        assert_eq!(request.body, "\"text\"");
        for is_set_first in [true, false] {
            let set = |request: HttpRequest| request.header(CONTENT_TYPE, "application/merge-patch+json");
            let request = HttpRequest::post("http://a.example");
            let request = if is_set_first { set(request).json(&1) } else { set(request.json(&1)) };
            assert_eq!(request.headers[CONTENT_TYPE], "application/merge-patch+json");
        }
    }

    #[test]
    fn a_value_that_json_does_not_hold_is_a_fault() {
        let request = HttpRequest::post("http://a.example").json(&BTreeMap::from([((1, 2), 3)]));
        let error = request.url.unwrap_err();
        assert_eq!(error.to_string(), "the body of the request can't be written as JSON");
        assert_eq!(error.source().unwrap().to_string(), "key must be a string");
        assert!(!error.sent() && !error.retryable());
    }

    #[test]
    fn debug_output_contains_no_values() {
        let secret = Secret::new("sk-123");
        let request = HttpRequest::post("https://user:sk-123@a.example/p?key=sk-123#sk-123")
            .bearer(&secret)
            .secret_header("x-api-key", &secret)
            .header("x-plain", "sk-123")
            .body("sk-123");
        let shown = format!("{request:?} {request:#?}");
        assert!(!shown.contains("sk-123"), "{shown}");
        assert!(shown.contains("x-api-key") && shown.contains("a.example/p"), "{shown}");
    }
}
