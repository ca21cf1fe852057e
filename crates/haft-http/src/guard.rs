//! The rule that decides which hosts and addresses a guarded client may connect to.
//!
//! A URL is checked twice. [`AddressGuard::check_url`] checks what is written: the host list, metadata services' names,
//! and hosts that are addresses. It runs for every request and every redirect. [`AddressGuard::check_resolved`] checks
//! what a name resolves to. It runs within the connection's resolver, so that the client connects to exactly the
//! checked addresses. The guard keeps nothing between the two, and must not cache an answer: a name may resolve to
//! another address at any time.

mod class;
mod host;
mod host_check;
mod rejection;

use std::net::IpAddr;

use ipnet::IpNet;
use reqwest::Url;

pub use self::class::AddressClass;
use self::host::HostRule;
pub use self::host::HostRuleError;
pub(crate) use self::host::UrlHost;
pub use self::host_check::HostCheckError;
pub use self::rejection::GuardRejection;

/// Metadata services' names. They are rejected by name because a proxy, or a resolver other than the cloud's, may have
/// its own idea of their address.
const METADATA_HOSTS: [&str; 8] = [
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
];

/// The rule that decides which hosts and addresses a [`GuardedClient`](crate::GuardedClient) may connect to: by default
/// every host whose addresses are all public.
///
/// [`AddressClass`] lists the addresses that are not public. You can exempt hosts and networks, limit hosts to a list,
/// and deny networks. If two rules contradict each other, the earlier one in this list applies:
///
/// 1. [`deny_net`](Self::deny_net) always applies.
/// 2. [`allow_host`](Self::allow_host) exempts from all that follows.
/// 3. [`allow_only_hosts`](Self::allow_only_hosts) and metadata services' names reject by name.
/// 4. [`allow_net`](Self::allow_net) exempts from the rule that addresses must be public.
///
/// ```
/// use haft_http::{AddressGuard, HttpClient};
///
/// let guard = AddressGuard::new()
///     .allow_host("localhost:8080")?
///     .allow_net("10.20.0.0/16".parse()?)
///     .deny_net("203.0.112.0/24".parse()?);
/// assert!(guard.check_address([10, 20, 0, 1].into()).is_ok());
/// assert!(guard.check_address([10, 21, 0, 1].into()).is_err());
/// let client = HttpClient::builder().no_proxy().redirects(5).guarded(guard)?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a guard does nothing until it is set for a client"]
pub struct AddressGuard {
    exempt: Vec<HostRule>,
    /// None permits every host.
    listed: Option<Vec<HostRule>>,
    allowed: Vec<IpNet>,
    denied: Vec<IpNet>,
}

/// The remaining check for a URL whose host is permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressCheck {
    /// The addresses must be public or exempt.
    Public,
    /// The host is exempt. Only denied networks and metadata services are rejected.
    Exempt,
}

impl AddressGuard {
    /// Creates a guard that permits public addresses only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Exempts one host, such as `localhost:8080`, `[::1]:8080` or `db.internal`. Without a port, all its ports are
    /// exempt.
    ///
    /// The host is compared with the URL's as written: `127.0.0.1` does not exempt `localhost`, nor the reverse. An
    /// exempt name may resolve to any address except a metadata service's, which you have to exempt as an address.
    pub fn allow_host(mut self, host: &str) -> Result<Self, HostRuleError> {
        self.exempt.push(HostRule::exact(host)?);
        Ok(self)
    }

    /// Exempts a network's addresses, whether they are written in a URL or a name resolves to them.
    ///
    /// Only a network with a single address exempts a metadata service. An IPv4 network applies to IPv4-mapped IPv6
    /// addresses, and to no other form of embedded addresses.
    pub fn allow_net(mut self, net: IpNet) -> Self {
        self.allowed.push(net);
        self
    }

    /// Rejects a network's addresses, in all forms, whatever else permits them.
    pub fn deny_net(mut self, net: IpNet) -> Self {
        self.denied.push(net);
        self
    }

    /// Limits the hosts to a list, in addition to all other rules: exact hosts as in [`allow_host`](Self::allow_host),
    /// or `*.example.com` for all names below `example.com`. Exempt hosts need not be in the list. A second list is
    /// added to the first.
    ///
    /// ```
    /// use haft_http::AddressGuard;
    ///
    /// let guard = AddressGuard::new().allow_only_hosts(["api.example.com:443", "*.example.org"])?;
    /// # Ok::<_, haft_http::HostRuleError>(())
    /// ```
    pub fn allow_only_hosts<'a>(mut self, hosts: impl IntoIterator<Item = &'a str>) -> Result<Self, HostRuleError> {
        let rules: Result<Vec<HostRule>, HostRuleError> = hosts.into_iter().map(HostRule::pattern).collect();
        self.listed.get_or_insert_default().extend(rules?);
        Ok(self)
    }

    /// Checks an address that no host name stands for.
    pub fn check_address(&self, address: IpAddr) -> Result<(), GuardRejection> {
        self.check_denied(address)?;
        match AddressClass::of(address) {
            Some(class) if !self.is_allowed(address, class) => Err(GuardRejection::Address(class)),
            _ => Ok(()),
        }
    }

    /// Checks a URL's host and port.
    pub(crate) fn check_url(&self, url: &Url) -> Result<AddressCheck, GuardRejection> {
        // A URL with the scheme `http` or `https` always has a host.
        let host = UrlHost::of(url).ok_or(GuardRejection::UnlistedHost)?;
        let port = url.port_or_known_default();
        if let UrlHost::Address(address) = host {
            self.check_denied(address)?;
        }
        let is_in = |rules: &[HostRule]| rules.iter().any(|rule| rule.matches(&host, port));
        if is_in(&self.exempt) {
            return Ok(AddressCheck::Exempt);
        }
        if self.listed.as_deref().is_some_and(|listed| !is_in(listed)) {
            return Err(GuardRejection::UnlistedHost);
        }
        match &host {
            UrlHost::Address(address) => self.check_address(*address)?,
            UrlHost::Name(name) if METADATA_HOSTS.contains(&name.trim_end_matches('.')) => {
                return Err(GuardRejection::MetadataHost);
            }
            UrlHost::Name(_) => {}
        }
        Ok(AddressCheck::Public)
    }

    /// Checks all addresses that a name resolves to. One rejected address rejects the whole name: a public host has no
    /// reason to name an address that is not.
    pub(crate) fn check_resolved(&self, check: AddressCheck, addresses: &[IpAddr]) -> Result<(), GuardRejection> {
        for &address in addresses {
            self.check_denied(address)?;
            let Some(class) = AddressClass::of(address) else { continue };
            let is_exempt = match check {
                AddressCheck::Public => false,
                AddressCheck::Exempt => class != AddressClass::Metadata,
            };
            if !is_exempt && !self.is_allowed(address, class) {
                return Err(GuardRejection::ResolvedAddress(class));
            }
        }
        Ok(())
    }

    pub(crate) fn has_exempt_hosts(&self) -> bool {
        !self.exempt.is_empty()
    }

    pub(crate) fn has_host_list(&self) -> bool {
        self.listed.is_some()
    }

    fn is_allowed(&self, address: IpAddr, class: AddressClass) -> bool {
        let is_single = |net: &IpNet| net.prefix_len() == net.max_prefix_len();
        self.allowed.iter().any(|net| {
            (net.contains(&address) || net.contains(&address.to_canonical()))
                && (class != AddressClass::Metadata || is_single(net))
        })
    }

    fn check_denied(&self, address: IpAddr) -> Result<(), GuardRejection> {
        let is_denied = |address: IpAddr| self.denied.iter().any(|net| net.contains(&address));
        let is_embedded_denied = match address {
            IpAddr::V4(_) => false,
            IpAddr::V6(address) => class::embedded(address).any(|address| is_denied(address.into())),
        };
        if is_denied(address) || is_embedded_denied { Err(GuardRejection::DeniedNet) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
