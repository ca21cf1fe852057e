//! The reasons for which a guard rejects a request.

use super::class::AddressClass;

/// The reason for which an [`AddressGuard`](crate::AddressGuard) rejects a request.
///
/// Its text names the rule and never an address that a name resolves to, because the text may reach those who chose the
/// URL.
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
    /// The name of the host resolves to an address that is not public.
    #[error(
        "its host name resolves to {}; if that is intended, exempt it: `http.allow-hosts` in a workspace \
         file, `AddressGuard::allow_host` in Rust",
        .0.phrase()
    )]
    ResolvedAddress(AddressClass),
    /// The address is in a network of [`AddressGuard::deny_net`](crate::AddressGuard::deny_net).
    #[error("its address is in a denied network")]
    DeniedNet,
    /// The name of the host is that of a metadata service.
    #[error(
        "its host is the metadata service of a cloud; if that is intended, exempt it: `http.allow-hosts` in a workspace \
         file, `AddressGuard::allow_host` in Rust"
    )]
    MetadataHost,
    /// The host is not in the list of [`AddressGuard::allow_only_hosts`](crate::AddressGuard::allow_only_hosts).
    #[error("its host is not in the list of permitted hosts, see `AddressGuard::allow_only_hosts`")]
    UnlistedHost,
    /// The host is the proxy, whose address is not checked.
    #[error(
        "its host is the proxy itself; if that is intended, exempt it: `http.allow-hosts` in a workspace \
         file, `AddressGuard::allow_host` in Rust"
    )]
    ProxyHost,
    /// The request has a header `host`, which may name another host than the one that was checked.
    #[error("the request sets the header `host`, which may differ from the host that is checked")]
    HostHeader,
}
