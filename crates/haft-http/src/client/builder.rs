//! The settings of a client.

use std::fmt;
use std::time::Duration;

use http::HeaderValue;
use reqwest::{Certificate, Proxy, redirect};

use super::HttpClient;
use crate::error::{HttpError, Route};
use crate::size_limits::SizeLimits;
use crate::timeouts::Timeouts;

const USER_AGENT: &str = concat!("haft/", env!("CARGO_PKG_VERSION"));

/// The settings of an [`HttpClient`]. The last step, [`build`](Self::build), reports what is wrong with them.
///
/// ```
/// use std::time::Duration;
/// use haft_http::{HttpClient, SizeLimits, Timeouts};
///
/// let client = HttpClient::builder()
///     .connect_timeout(Duration::from_secs(5))
///     .timeouts(Timeouts::default().total(Duration::from_secs(60)))
///     .limits(SizeLimits::default().body(1024 * 1024))
///     .proxy("http://user:password@proxy.example:3128")
///     .build()?;
/// assert!(!format!("{client:?}").contains("password"));
/// # Ok::<_, haft_http::HttpError>(())
/// ```
#[derive(Clone)]
#[must_use = "the settings do nothing until the client is built"]
pub struct HttpClientBuilder {
    connect_timeout: Duration,
    timeouts: Timeouts,
    limits: SizeLimits,
    redirects: usize,
    user_agent: String,
    proxy: ProxySetting,
    root_certificates: Vec<Vec<u8>>,
}

#[derive(Clone)]
enum ProxySetting {
    Environment,
    Set(String),
    Direct,
}

impl Default for HttpClientBuilder {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            timeouts: Timeouts::default(),
            limits: SizeLimits::default(),
            redirects: 0,
            user_agent: USER_AGENT.to_owned(),
            proxy: ProxySetting::Environment,
            root_certificates: Vec::new(),
        }
    }
}

impl HttpClientBuilder {
    /// Sets the time to establish a connection: name resolution, proxy and encryption included. It is ten seconds by
    /// default.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the timeouts of requests that set none.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the size limits of requests that set none.
    pub fn limits(mut self, limits: SizeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the number of redirects to follow. By default none is followed, and the redirect is the response.
    ///
    /// Secret headers are sent to their own origin only, and a redirect from `https` to `http` is never followed.
    pub fn redirects(mut self, limit: usize) -> Self {
        self.redirects = limit;
        self
    }

    /// Sets the header `user-agent`. It is `haft/` with the version by default.
    pub fn user_agent(mut self, name: impl Into<String>) -> Self {
        self.user_agent = name.into();
        self
    }

    /// Sends every request through this HTTP proxy, whatever the environment says.
    ///
    /// By default the variables `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, or their names in lower case,
    /// decide when the client is built.
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = ProxySetting::Set(url.into());
        self
    }

    /// Connects directly, whatever the environment says.
    pub fn no_proxy(mut self) -> Self {
        self.proxy = ProxySetting::Direct;
        self
    }

    /// Trusts these certificates, in PEM form, in addition to those that the system trusts.
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Creates the client.
    pub fn build(self) -> Result<HttpClient, HttpError> {
        let Self { connect_timeout, timeouts, limits, redirects, user_agent, proxy, root_certificates } = self;
        let user_agent = HeaderValue::try_from(user_agent).map_err(|error| HttpError::setting("user agent", error))?;
        let mut transport = reqwest::Client::builder()
            .connect_timeout(connect_timeout)
            .user_agent(user_agent)
            .redirect(redirect::Policy::none())
            .referer(false);
        let by_set_proxy = matches!(proxy, ProxySetting::Set(_));
        transport = match proxy {
            ProxySetting::Environment => transport,
            ProxySetting::Set(url) => transport.no_proxy().proxy(http_proxy(&url)?),
            ProxySetting::Direct => transport.no_proxy(),
        };
        for pem in root_certificates {
            transport = transport.tls_certs_merge(certificates(&pem)?);
        }
        let transport = transport.build();
        let transport = transport.map_err(|error| HttpError::setting("TLS configuration", error.without_url()))?;
        Ok(HttpClient { transport, route: Route { connect_timeout, by_set_proxy }, timeouts, limits, redirects })
    }
}

fn http_proxy(url: &str) -> Result<Proxy, HttpError> {
    // The transport ignores a proxy that it does not support, and would connect directly.
    let parsed = reqwest::Url::parse(url).map_err(|error| HttpError::setting("proxy", error))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(HttpError::setting("proxy", "the scheme of its URL is neither http nor https"));
    }
    Proxy::all(parsed).map_err(|error| HttpError::setting("proxy", error.without_url()))
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate>, HttpError> {
    const SETTING: &str = "root certificate";
    let certificates = Certificate::from_pem_bundle(pem).map_err(|error| HttpError::setting(SETTING, error))?;
    if certificates.is_empty() {
        return Err(HttpError::setting(SETTING, "the text contains no certificate in PEM form"));
    }
    Ok(certificates)
}

impl fmt::Debug for HttpClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClientBuilder")
            .field("connect_timeout", &self.connect_timeout)
            .field("timeouts", &self.timeouts)
            .field("limits", &self.limits)
            .field("redirects", &self.redirects)
            .field("user_agent", &self.user_agent)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::HttpClientBuilder;
    use crate::error::HttpError;

    /// A certificate that was made for this test.
    const PEM: &str = "-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUOesjKk0LvVCeTiVHUUO650G702QwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJaGFmdCB0ZXN0MCAXDTI2MTExNjEyNTQwMVoYDzIxMjYxMDIz
MTI1NDAxWjAUMRIwEAYDVQQDDAloYWZ0IHRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASbnMdRbUjGwtqO/ghv7YUVvN3RtjLRxeiYxVc/BBTSqD0XwkxxIZfy
C/n3HsOXZZdDcZykbXE4Piibmof/vW2Wo1MwUTAdBgNVHQ4EFgQUw419SjxnEX+5
0MduPW8T+wnzAIowHwYDVR0jBBgwFoAUw419SjxnEX+50MduPW8T+wnzAIowDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiB0kKyy1iKEdDztBxkKSM3y
p7EPaFWikkAhjSFl/7yrVwIhANUwvd71/rOK5nx+8tKYa/ADfc4IvzdT/2nSa8cj
fGEj
-----END CERTIFICATE-----
";

    fn rejected(builder: HttpClientBuilder) -> &'static str {
        match builder.build() {
            Err(HttpError::InvalidSetting { setting, source }) => {
                let mut shown = format!("{source} {source:?}");
                let mut inner = source.source();
                while let Some(error) = inner {
                    shown += &error.to_string();
                    inner = error.source();
                }
                assert!(!shown.contains("sk-123"), "{shown}");
                setting
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn invalid_settings_are_named() {
        let builder = HttpClientBuilder::default;
        assert_eq!(rejected(builder().user_agent("a\nb")), "user agent");
        for proxy in ["", "proxy.example:sk-123", "socks5://sk-123@a.example", "http://", "http://u:sk-123@:0x/"] {
            assert_eq!(rejected(builder().proxy(proxy)), "proxy", "{proxy}");
        }
        for pem in ["", "no certificate", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
            assert_eq!(rejected(builder().root_certificates(pem)), "root certificate", "{pem}");
        }
        let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(builder().root_certificates(garbage).build().is_err());
    }

    #[test]
    fn certificates_are_read_one_by_one_and_in_bundles() {
        let builder = HttpClientBuilder::default().root_certificates(PEM);
        assert!(builder.root_certificates(format!("{PEM}\n{PEM}")).build().is_ok());
    }

    #[test]
    fn debug_output_hides_the_proxy() {
        let builder = HttpClientBuilder::default().proxy("http://user:sk-123@proxy.example");
        assert!(!format!("{builder:?}").contains("sk-123"));
        assert!(!format!("{:?}", builder.build().unwrap()).contains("sk-123"));
    }
}
