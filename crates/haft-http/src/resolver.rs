//! Host name resolution.
//!
//! A resolver returns addresses without ports: the port is always the URL's. A guarded client resolves with a
//! [`CheckedResolver`], the only place where a connection's addresses come from. It must return the addresses that it
//! has checked, and must not resolve a name a second time.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve};

use crate::guard::{AddressCheck, AddressGuard};

/// The future that [`Resolver::resolve`] returns.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// A host name resolver, for applications with their own name service and for tests. By default the system's resolver
/// is used.
///
/// ```
/// use std::collections::HashMap;
/// use std::io;
/// use std::net::IpAddr;
///
/// use haft_http::{HttpClient, Resolver, Resolving};
///
/// struct Table(HashMap<String, Vec<IpAddr>>);
///
/// impl Resolver for Table {
///     fn resolve(&self, host: &str) -> Resolving {
///         let found = self.0.get(host).cloned().ok_or_else(|| io::ErrorKind::NotFound.into());
///         Box::pin(std::future::ready(found))
///     }
/// }
///
/// let table = Table(HashMap::from([("api.example".to_owned(), vec![[127, 0, 0, 1].into()])]));
/// let client = HttpClient::builder().resolver(table).build()?;
/// # Ok::<_, haft_http::HttpError>(())
/// ```
pub trait Resolver: Send + Sync + 'static {
    /// Resolves a host name, which may end with a dot. It is called once for each new connection.
    fn resolve(&self, host: &str) -> Resolving;
}

/// The system's resolver.
pub(crate) struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str) -> Resolving {
        let host = host.to_owned();
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host, 0)).await?;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    }
}

/// A resolver whose answers are not checked.
pub(crate) struct OpenResolver(pub(crate) Arc<dyn Resolver>);

impl Resolve for OpenResolver {
    fn resolve(&self, name: Name) -> reqwest::dns::Resolving {
        let resolving = self.0.resolve(name.as_str());
        Box::pin(async move { Ok(sockets(found(resolving.await?)?)) })
    }
}

/// A resolver whose answers are checked by a guard.
#[derive(Clone)]
pub(crate) struct CheckedResolver {
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) guard: Arc<AddressGuard>,
    pub(crate) check: AddressCheck,
    /// Proxies' names. The application or the operator chose them, and no URL may have them as its host.
    pub(crate) proxies: Arc<[Box<str>]>,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> reqwest::dns::Resolving {
        let Self { resolver, guard, check, proxies } = self.clone();
        let resolving = resolver.resolve(name.as_str());
        Box::pin(async move {
            let addresses = found(resolving.await?)?;
            if !proxies.iter().any(|proxy| proxy.eq_ignore_ascii_case(name.as_str())) {
                guard.check_resolved(check, &addresses)?;
            }
            Ok(sockets(addresses))
        })
    }
}

/// Rejects an answer without addresses, which the transport would report as a failed connection.
fn found(addresses: Vec<IpAddr>) -> io::Result<Vec<IpAddr>> {
    if addresses.is_empty() {
        Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
    } else {
        Ok(addresses)
    }
}

/// Adds port 0, which the transport replaces by the URL's.
fn sockets(addresses: Vec<IpAddr>) -> Addrs {
    Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)))
}

impl fmt::Debug for dyn Resolver + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}
