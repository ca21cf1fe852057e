//! A transport error's cause, found by its sources' types, never by their wording.

use std::error::Error;
use std::io;
use std::time::Duration;

use super::HttpError;
use crate::endpoint::Endpoint;
use crate::guard::GuardRejection;
use crate::timeouts::TimeoutKind;

/// The facts about a connection that its errors do not contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The timeout for connecting.
    pub(crate) connect_timeout: Duration,
    /// True if every connection goes to a proxy that the application has set.
    pub(crate) by_set_proxy: bool,
}

impl HttpError {
    /// Creates the error for a request without a response.
    pub(crate) fn of_request(error: reqwest::Error, endpoint: Endpoint, route: Route) -> Self {
        let error = error.without_url();
        if error.is_builder() {
            return Self::InvalidUrl { reason: root(&error).to_string() };
        }
        if !error.is_connect() {
            return Self::Closed { endpoint, source: error.into() };
        }
        let (kind, by_system) = match io_error(&error) {
            Some(io) => (Some(io.kind()), io.raw_os_error().is_some()),
            None => (None, false),
        };
        if error.is_timeout() && !by_system {
            return Self::TimedOut { endpoint, timeout: TimeoutKind::Connect, after: route.connect_timeout };
        }
        let source = error.into();
        match kind {
            // Records that are not TLS, untrusted certificates, and a peer that ends the handshake. Before it is
            // connected, the transport reads nothing else but a proxy's answer, which has no such error.
            Some(io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) => Self::Tls { endpoint, source },
            _ if route.by_set_proxy => Self::Proxy { endpoint, source },
            _ if is_dns(source.as_ref()) => Self::Dns { endpoint, source },
            _ => Self::Connect { endpoint, source },
        }
    }

    /// Creates the error for a body that broke off.
    pub(crate) fn of_body(error: reqwest::Error, endpoint: Endpoint) -> Self {
        Self::Closed { endpoint, source: error.without_url().into() }
    }
}

/// Returns the reason why a guarded client's resolver rejected a name.
pub(crate) fn rejection(error: &reqwest::Error) -> Option<GuardRejection> {
    chain(error).find_map(|error| error.downcast_ref().copied())
}

fn is_dns(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    error.downcast_ref().is_some_and(reqwest::Error::is_dns)
}

/// Returns the innermost source.
fn root<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Returns the innermost I/O error. An I/O error that wraps another contains it, but does not have it as its source.
fn io_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    let outer = chain(error).find_map(|error| error.downcast_ref::<io::Error>())?;
    std::iter::successors(Some(outer), |error| error.get_ref()?.downcast_ref()).last()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::io_error;

    #[test]
    fn the_innermost_io_error_is_found() {
        let inner = io::Error::from(io::ErrorKind::InvalidData);
        let outer = io::Error::other(io::Error::other(inner));
        assert_eq!(io_error(&outer).unwrap().kind(), io::ErrorKind::InvalidData);
        assert!(io_error(&std::fmt::Error).is_none());
    }
}
