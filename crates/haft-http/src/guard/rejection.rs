//! The reasons for which a guard rejects a request.

use super::class::AddressClass;

/// The reason why an [`AddressGuard`](crate::AddressGuard) rejects a request.
///
/// Its text names the rule and never an address that a name resolves to, because it may reach whoever chose the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardRejection {
    /// The host is written as an address that is not public.
    #[error(
        "its host is {}; if that is intended, exempt it: `http.allow-hosts` in a workspace file, \
         `AddressGuard::allow_host` in Rust",
        .0.phrase()
    )]
    Address(AddressClass),
    /// The host's name resolves to an address that is not public.
    #[error(
        "its host name resolves to {}; if that is intended, exempt it: `http.allow-hosts` in a workspace \
         file, `AddressGuard::allow_host` in Rust",
        .0.phrase()
    )]
    ResolvedAddress(AddressClass),
    /// The address is in an [`AddressGuard::deny_net`](crate::AddressGuard::deny_net) network.
    #[error("its address is in a denied network")]
    DeniedNet,
    /// The host's name belongs to a metadata service.
    #[error(
        "its host is the metadata service of a cloud; if that is intended, exempt it: `http.allow-hosts` in a workspace \
         file, `AddressGuard::allow_host` in Rust"
    )]
    MetadataHost,
    /// The host is not in the [`AddressGuard::allow_only_hosts`](crate::AddressGuard::allow_only_hosts) list.
    #[error("its host is not in the list of permitted hosts, see `AddressGuard::allow_only_hosts`")]
    UnlistedHost,
    /// The host is the proxy, whose address is not checked.
    #[error(
        "its host is the proxy itself; if that is intended, exempt it: `http.allow-hosts` in a workspace \
         file, `AddressGuard::allow_host` in Rust"
    )]
    ProxyHost,
    /// The request has a header `host`, which may name another host than the checked one.
    #[error("the request sets the header `host`, which may differ from the host that is checked")]
    HostHeader,
}
