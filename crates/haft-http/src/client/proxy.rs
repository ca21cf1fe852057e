//! A client's proxy, and who set it.
//!
//! A guard can't check the addresses that a proxy connects to, so a guarded client has to know whether there is a proxy
//! before it sends anything. It errs on the side of a proxy: a variable that is set counts, even if `NO_PROXY` or the
//! transport would ignore it for some or all requests.

use std::ffi::OsString;

use http::Uri;
use reqwest::{ClientBuilder, Proxy, Url};

use crate::error::HttpError;

/// The variables that the transport reads.
const VARIABLES: [&str; 6] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const BUILDER: &str = "HttpClientBuilder::proxy";

#[derive(Clone)]
pub(super) enum ProxySetting {
    Environment,
    Set(String),
    Direct,
}

/// The proxies that a client's requests may go through.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProxyUse {
    /// None.
    Direct,
    /// Those with these hosts.
    Proxied {
        /// The variable or method that set one.
        set_by: &'static str,
        /// Their hosts, as far as they can be read. An address needs no exemption, because it is not resolved.
        hosts: Vec<Box<str>>,
    },
}

impl ProxySetting {
    /// Applies the setting to a transport.
    pub(super) fn apply(&self, transport: ClientBuilder) -> Result<ClientBuilder, HttpError> {
        Ok(match self {
            Self::Environment => transport,
            Self::Set(url) => transport.no_proxy().proxy(http_proxy(url)?),
            Self::Direct => transport.no_proxy(),
        })
    }

    /// Returns the proxies that requests may go through.
    pub(super) fn in_use(&self) -> ProxyUse {
        match self {
            Self::Direct => ProxyUse::Direct,
            Self::Set(url) => ProxyUse::Proxied { set_by: BUILDER, hosts: host(url).into_iter().collect() },
            Self::Environment => by_environment(|name| std::env::var_os(name)),
        }
    }
}

fn by_environment(read: impl Fn(&str) -> Option<OsString>) -> ProxyUse {
    let set = VARIABLES.into_iter().filter_map(|name| Some((name, read(name).filter(|value| !value.is_empty())?)));
    let set: Vec<(&'static str, OsString)> = set.collect();
    let Some(&(set_by, _)) = set.first() else { return ProxyUse::Direct };
    let hosts = set.iter().filter_map(|(_, value)| host(value.to_str()?)).collect();
    ProxyUse::Proxied { set_by, hosts }
}

/// Returns a proxy's host as the transport reads it. The scheme is optional.
fn host(url: &str) -> Option<Box<str>> {
    url.parse::<Uri>().ok()?.host().map(Into::into)
}

fn http_proxy(url: &str) -> Result<Proxy, HttpError> {
    // The transport ignores an unsupported proxy, and would connect directly.
    let parsed = Url::parse(url).map_err(|error| HttpError::setting("proxy", error))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(HttpError::setting("proxy", "the scheme of its URL is neither http nor https"));
    }
    Proxy::all(parsed).map_err(|error| HttpError::setting("proxy", error.without_url()))
}

#[cfg(test)]
mod tests {
    use super::{BUILDER, ProxySetting, ProxyUse, by_environment};

    fn in_environment(variables: &[(&str, &str)]) -> ProxyUse {
        by_environment(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
    }

    fn proxied(set_by: &'static str, hosts: &[&str]) -> ProxyUse {
        ProxyUse::Proxied { set_by, hosts: hosts.iter().map(|&host| host.into()).collect() }
    }

    #[test]
    fn every_variable_that_is_set_counts() {
        assert_eq!(in_environment(&[]), ProxyUse::Direct);
        assert_eq!(in_environment(&[("HTTP_PROXY", ""), ("NO_PROXY", "*")]), ProxyUse::Direct);
        for name in super::VARIABLES {
            let variables =
                [(name, "http://user:pass@Proxy.example:3128/"), ("NO_PROXY", "*"), ("REQUEST_METHOD", "GET")];
            assert_eq!(in_environment(&variables), proxied(name, &["Proxy.example"]));
        }
        let both = [("http_proxy", "a.example:1"), ("ALL_PROXY", "socks5://b.example")];
        assert_eq!(in_environment(&both), proxied("http_proxy", &["a.example", "b.example"]));
        assert_eq!(in_environment(&[("https_proxy", "not a url")]), proxied("https_proxy", &[]));
    }

    #[test]
    fn a_set_proxy_counts_whatever_the_environment_contains() {
        assert_eq!(ProxySetting::Direct.in_use(), ProxyUse::Direct);
        let set = ProxySetting::Set("https://u:p@proxy.example:8443".to_owned());
        assert_eq!(set.in_use(), proxied(BUILDER, &["proxy.example"]));
    }
}
