//! Redirects.
//!
//! Credentials stay with the origin that they were meant for: every header marked as sensitive, by whatever name, is
//! removed before a request goes elsewhere.

use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE, COOKIE,
    LOCATION, PROXY_AUTHORIZATION,
};
use http::{HeaderMap, HeaderName, Method, StatusCode};
use reqwest::Url;

/// Headers that hold credentials even if they are not marked.
const CREDENTIALS: [HeaderName; 3] = [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION];
/// Headers that describe a body.
const DESCRIPTIONS: [HeaderName; 5] =
    [CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_TYPE];

/// One request in a redirect chain.
pub(super) struct Hop {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Hop {
    /// Prepares the request. The body is shared, not copied.
    pub(super) fn start(&self, transport: &reqwest::Client) -> reqwest::RequestBuilder {
        let request = transport.request(self.method.clone(), self.url.clone()).headers(self.headers.clone());
        if self.body.is_empty() { request } else { request.body(self.body.clone()) }
    }

    /// Returns the request that a response redirects to. Returns `None` if the response is not a redirect, has no valid
    /// location, or leads from `https` to `http`.
    pub(super) fn redirected(&self, status: StatusCode, response: &HeaderMap) -> Option<Self> {
        let keeps_method = match status {
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            // Browsers have always changed POST to GET, and the standard permits it.
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method != Method::POST,
            StatusCode::SEE_OTHER => self.method == Method::GET || self.method == Method::HEAD,
            _ => return None,
        };
        let location = response.get(LOCATION)?.to_str().ok()?;
        let mut url = self.url.join(location).ok()?;
        match (self.url.scheme(), url.scheme()) {
            ("http", "http") | (_, "https") => {}
            _ => return None,
        }
        let mut headers = self.headers.clone();
        if url.origin() != self.url.origin() {
            let secret = self.headers.iter().filter(|(name, value)| value.is_sensitive() || CREDENTIALS.contains(name));
            for (name, _) in secret {
                headers.remove(name);
            }
            // A URL with a host accepts both.
            let _ = (url.set_username(""), url.set_password(None));
        }
        if keeps_method {
            return Some(Self { method: self.method.clone(), url, headers, body: self.body.clone() });
        }
        for name in &DESCRIPTIONS {
            headers.remove(name);
        }
        Some(Self { method: Method::GET, url, headers, body: Bytes::new() })
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue, Method, StatusCode};
    use reqwest::Url;

    use super::Hop;

    fn post(url: &str) -> Hop {
        let mut headers = HeaderMap::new();
        let mut key = HeaderValue::from_static("sk-123");
        key.set_sensitive(true);
        headers.insert("x-api-key", key);
        headers.insert("authorization", HeaderValue::from_static("Basic abc"));
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("text/plain"));
        Hop { method: Method::POST, url: Url::parse(url).unwrap(), headers, body: Bytes::from_static(b"{}") }
    }

    fn redirected(from: &Hop, status: u16, location: &str) -> Option<Hop> {
        let mut headers = HeaderMap::new();
        headers.insert("location", HeaderValue::from_str(location).unwrap());
        from.redirected(StatusCode::from_u16(status).unwrap(), &headers)
    }

    fn names(hop: &Hop) -> Vec<&str> {
        let mut names: Vec<&str> = hop.headers.keys().map(http::HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_status_decides_about_method_and_body() {
        let from = post("https://a.example/x");
        for (status, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
            let next = redirected(&from, status, "/y").unwrap();
            assert_eq!(next.url.as_str(), "https://a.example/y");
            assert_eq!(next.method, method, "{status}");
            assert_eq!(next.body.is_empty(), method == "GET", "{status}");
            assert_eq!(next.headers.contains_key("content-type"), method == "POST", "{status}");
            assert!(next.headers.contains_key("x-api-key"), "{status}");
        }
        for status in [200, 300, 304, 401] {
            assert!(redirected(&from, status, "/y").is_none(), "{status}");
        }
    }

    #[test]
    fn other_methods_are_kept_unless_the_status_asks_for_get() {
        let with = |method| Hop { method, ..post("https://a.example/x") };
        assert_eq!(redirected(&with(Method::PUT), 302, "/y").unwrap().method, "PUT");
        assert_eq!(redirected(&with(Method::PUT), 303, "/y").unwrap().method, "GET");
        assert_eq!(redirected(&with(Method::HEAD), 303, "/y").unwrap().method, "HEAD");
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        let from = post("https://user:sk-123@a.example/x");
        for location in
            ["https://b.example/", "https://a.example:8443/", "//b.a.example/y", "https://u:sk-123@b.example"]
        {
            let next = redirected(&from, 307, location).unwrap();
            assert_eq!(names(&next), ["accept", "content-type"], "{location}");
            assert!(!next.url.as_str().contains("sk-123"), "{location}");
        }
        assert_eq!(names(&redirected(&from, 307, "https://a.example:443/z").unwrap()).len(), 4);
        let plain = post("http://a.example/x");
        assert_eq!(names(&redirected(&plain, 307, "https://a.example/x").unwrap()), ["accept", "content-type"]);
    }

    #[test]
    fn unsafe_and_invalid_locations_are_not_followed() {
        let from = post("https://a.example/x");
        for location in ["http://a.example/", "file:///etc/passwd", "ftp://a.example/", "https://", "https://a b/"] {
            assert!(redirected(&from, 302, location).is_none(), "{location}");
        }
        assert!(from.redirected(StatusCode::FOUND, &HeaderMap::new()).is_none());
    }
}
