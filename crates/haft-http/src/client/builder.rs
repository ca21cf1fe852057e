//! Client settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use reqwest::{ClientBuilder, redirect};

use super::HttpClient;
use super::proxy::{ProxySetting, ProxyUse};
use super::tls;
use super::transport::{GuardedTransport, Transport};
use crate::error::{HttpError, Route};
use crate::guard::{AddressCheck, AddressGuard};
use crate::guarded::GuardedClient;
use crate::resolver::{CheckedResolver, OpenResolver, Resolver, SystemResolver};
use crate::size_limits::SizeLimits;
use crate::timeouts::Timeouts;

const USER_AGENT: &str = concat!("haft/", env!("CARGO_PKG_VERSION"));

/// Settings for an [`HttpClient`]. The last step, [`build`](Self::build), reports what is wrong with them.
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
    /// `None` means the default for the client that is built.
    timeouts: Option<Timeouts>,
    limits: SizeLimits,
    redirects: usize,
    user_agent: String,
    proxy: ProxySetting,
    root_certificates: Vec<Vec<u8>>,
    /// `None` means the system's resolver.
    resolver: Option<Arc<dyn Resolver>>,
}

impl Default for HttpClientBuilder {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            timeouts: None,
            limits: SizeLimits::default(),
            redirects: 0,
            user_agent: USER_AGENT.to_owned(),
            proxy: ProxySetting::Environment,
            root_certificates: Vec::new(),
            resolver: None,
        }
    }
}

impl HttpClientBuilder {
    /// Sets the time to establish a connection, including name resolution, proxy and encryption. The default is ten
    /// seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the timeouts for requests that set none. The default is [`Timeouts::default`] for an [`HttpClient`] and
    /// [`Timeouts::for_tools`] for a [`GuardedClient`].
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = Some(timeouts);
        self
    }

    /// Sets the size limits for requests that set none.
    pub fn limits(mut self, limits: SizeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many redirects to follow. By default none: the redirect is the response.
    ///
    /// Secret headers go to their own origin only, and a redirect from `https` to `http` is never followed.
    pub fn redirects(mut self, limit: usize) -> Self {
        self.redirects = limit;
        self
    }

    /// Sets the header `user-agent`. The default is `haft/` with the version.
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

    /// Trusts these certificates, in PEM form, in addition to the system's.
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Resolves host names with this resolver instead of the system's.
    pub fn resolver(mut self, resolver: impl Resolver) -> Self {
        self.resolver = Some(Arc::new(resolver));
        self
    }

    /// Creates the client.
    pub fn build(self) -> Result<HttpClient, HttpError> {
        let transport = match &self.resolver {
            None => self.transport()?,
            Some(resolver) => self.transport()?.dns_resolver(OpenResolver(resolver.clone())),
        };
        let transport = Transport::Open(connected(transport)?);
        Ok(self.client(transport, Timeouts::default()))
    }

    /// Creates a client that connects only where the guard permits it, redirects included.
    ///
    /// A guard can't check the addresses that a proxy connects to. So if you or the environment set a proxy, the guard
    /// must list the hosts with [`AddressGuard::allow_only_hosts`], or the client must ignore the environment with
    /// [`no_proxy`](Self::no_proxy). Everything else is [`HttpError::UncheckedProxy`]. A proxy counts even if
    /// `NO_PROXY` excludes all hosts. Addresses in URLs are checked with and without a proxy.
    ///
    /// ```
    /// use haft_http::{AddressGuard, HttpClient, HttpError, HttpRequest};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    /// # runtime.block_on(async {
    /// let client = HttpClient::builder().no_proxy().guarded(AddressGuard::new())?;
    /// let error = client.send(HttpRequest::get("http://0x7f.1:8080/admin")).await.unwrap_err();
    /// assert!(matches!(error, HttpError::Forbidden { .. }));
    /// assert!(!error.sent() && !error.retryable());
    /// # Ok::<_, HttpError>(())
    /// # }).unwrap();
    /// ```
    pub fn guarded(self, guard: AddressGuard) -> Result<GuardedClient, HttpError> {
        self.guarded_client(guard).map(GuardedClient::of)
    }

    /// Creates a client as [`guarded`](Self::guarded) does, but sets everything up only for the first request, which
    /// returns the error if that fails. A program that may never send a request starts faster this way, and works where
    /// only requests are impossible.
    ///
    /// ```
    /// use haft_http::{AddressGuard, HttpClient, HttpError, HttpRequest};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    /// # runtime.block_on(async {
    /// let client = HttpClient::builder().proxy("http://proxy.example").guarded_on_use(AddressGuard::new());
    /// let error = client.send(HttpRequest::get("http://a.example")).await.unwrap_err();
    /// assert!(matches!(error, HttpError::UncheckedProxy { .. }));
    /// # });
    /// ```
    #[must_use]
    pub fn guarded_on_use(self, guard: AddressGuard) -> GuardedClient {
        GuardedClient::on_use(self, guard)
    }

    pub(crate) fn guarded_client(mut self, guard: AddressGuard) -> Result<HttpClient, HttpError> {
        let proxies = match self.proxy.in_use() {
            ProxyUse::Direct => {
                // The transport must not find a proxy that was not found here.
                self.proxy = ProxySetting::Direct;
                Arc::default()
            }
            ProxyUse::Proxied { set_by, .. } if !guard.has_host_list() => {
                return Err(HttpError::UncheckedProxy { set_by });
            }
            ProxyUse::Proxied { hosts, .. } => Arc::from(hosts),
        };
        let guard = Arc::new(guard);
        let checked = CheckedResolver {
            resolver: self.resolver.clone().unwrap_or_else(|| Arc::new(SystemResolver)),
            guard: guard.clone(),
            check: AddressCheck::Public,
            proxies: Arc::clone(&proxies),
        };
        let exempt = CheckedResolver { check: AddressCheck::Exempt, ..checked.clone() };
        let checked = connected(self.transport()?.dns_resolver(checked))?;
        // Most guards exempt no host, and then nothing uses a second pool.
        let exempt =
            if guard.has_exempt_hosts() { connected(self.transport()?.dns_resolver(exempt))? } else { checked.clone() };
        let transport = Transport::Guarded(GuardedTransport { guard, checked, exempt, proxies });
        Ok(self.client(transport, Timeouts::for_tools()))
    }

    /// Starts a transport with everything but its resolver.
    fn transport(&self) -> Result<ClientBuilder, HttpError> {
        let user_agent = HeaderValue::try_from(self.user_agent.as_str());
        let user_agent = user_agent.map_err(|error| HttpError::setting("user agent", error))?;
        let transport = reqwest::Client::builder()
            .connect_timeout(self.connect_timeout)
            .user_agent(user_agent)
            .redirect(redirect::Policy::none())
            .referer(false);
        let transport = self.proxy.apply(transport)?;
        Ok(transport.tls_backend_preconfigured(tls::config(&self.root_certificates)?))
    }

    /// Creates the client, with these timeouts unless others are set.
    fn client(self, transport: Transport, default: Timeouts) -> HttpClient {
        let Self { connect_timeout, timeouts, limits, redirects, proxy, .. } = self;
        let timeouts = timeouts.unwrap_or(default);
        let by_set_proxy = matches!(proxy, ProxySetting::Set(_));
        HttpClient { transport, route: Route { connect_timeout, by_set_proxy }, timeouts, limits, redirects }
    }
}

fn connected(transport: ClientBuilder) -> Result<reqwest::Client, HttpError> {
    transport.build().map_err(|error| HttpError::setting("TLS configuration", error.without_url()))
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
    use crate::guard::AddressGuard;
    use crate::timeouts::Timeouts;

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
    fn clients_of_tools_have_shorter_timeouts_unless_others_are_set() {
        let builder = || HttpClientBuilder::default().no_proxy();
        let guarded = |builder: HttpClientBuilder| builder.guarded_client(AddressGuard::new()).unwrap().timeouts;
        assert_eq!(builder().build().unwrap().timeouts, Timeouts::default());
        assert_eq!(guarded(builder()), Timeouts::for_tools());
        assert_eq!(guarded(builder().timeouts(Timeouts::none())), Timeouts::none());
    }

    #[test]
    fn debug_output_hides_the_proxy() {
        let builder = HttpClientBuilder::default().proxy("http://user:sk-123@proxy.example");
        assert!(!format!("{builder:?}").contains("sk-123"));
        assert!(!format!("{:?}", builder.build().unwrap()).contains("sk-123"));
    }
}
