//! The part of a URL that errors may contain.

use std::fmt;

use reqwest::Url;

/// The host, path and any unusual port of a URL that a request was sent to, or should have been. The query, the
/// fragment and the user may hold credentials and are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    text: Box<str>,
    redirects: usize,
}

impl Endpoint {
    /// Creates the endpoint for a URL that this many redirects led to.
    pub(crate) fn of(url: &Url, redirects: usize) -> Self {
        let host = url.host_str().unwrap_or_default();
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Self { text: format!("{host}{port}{}", url.path()).into(), redirects }
    }

    /// Returns the endpoint as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns how many redirects led to the endpoint. It is zero for the request's own URL.
    #[must_use]
    pub fn redirects(&self) -> usize {
        self.redirects
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::Endpoint;

    #[test]
    fn an_endpoint_contains_host_port_and_path_only() {
        let of = |url: &str| Endpoint::of(&Url::parse(url).unwrap(), 0).to_string();
        assert_eq!(of("https://user:pass@api.example:8443/v1/a%20b?key=k#f"), "api.example:8443/v1/a%20b");
        assert_eq!(of("https://api.example:443"), "api.example/");
        assert_eq!(of("http://[::1]:80/x"), "[::1]/x");
    }
}
