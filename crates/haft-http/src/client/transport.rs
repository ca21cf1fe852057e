//! A client's connections, with or without a guard.
//!
//! A guarded client has one connection pool for hosts whose addresses are checked and another for exempt hosts. A
//! resolver sees a host's name and not its port: only the URL distinguishes `localhost:8080`, which is exempt, from
//! `localhost:9090`, which is not. So the URL decides about the pool, and each pool has its own resolver. A connection
//! never moves between the pools, and a request never reaches a pool before its URL was checked.

use std::sync::Arc;

use http::header::HOST;
use reqwest::Client;

use super::redirect::Hop;
use crate::guard::{AddressCheck, AddressGuard, GuardRejection, UrlHost};

#[derive(Clone)]
pub(super) enum Transport {
    /// Connects to every address.
    Open(Client),
    /// Connects to the addresses that a guard permits.
    Guarded(GuardedTransport),
}

#[derive(Clone)]
pub(super) struct GuardedTransport {
    pub(super) guard: Arc<AddressGuard>,
    /// The pool whose resolver checks by [`AddressCheck::Public`].
    pub(super) checked: Client,
    /// The pool whose resolver checks by [`AddressCheck::Exempt`].
    pub(super) exempt: Client,
    /// The proxies' names, which the resolvers do not check.
    pub(super) proxies: Arc<[Box<str>]>,
}

impl Transport {
    /// Checks a request and returns its pool.
    pub(super) fn admit(&self, hop: &Hop) -> Result<&Client, GuardRejection> {
        match self {
            Self::Open(client) => Ok(client),
            Self::Guarded(guarded) => guarded.admit(hop),
        }
    }
}

impl GuardedTransport {
    fn admit(&self, hop: &Hop) -> Result<&Client, GuardRejection> {
        if hop.headers.contains_key(HOST) {
            return Err(GuardRejection::HostHeader);
        }
        match self.guard.check_url(&hop.url)? {
            AddressCheck::Exempt => Ok(&self.exempt),
            AddressCheck::Public if self.is_proxy(hop) => Err(GuardRejection::ProxyHost),
            AddressCheck::Public => Ok(&self.checked),
        }
    }

    fn is_proxy(&self, hop: &Hop) -> bool {
        let Some(UrlHost::Name(name)) = UrlHost::of(&hop.url) else { return false };
        self.proxies.iter().any(|proxy| proxy.trim_end_matches('.').eq_ignore_ascii_case(&name))
    }
}
