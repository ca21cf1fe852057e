//! Tests of the HTTP client over real sockets on the loopback interface.

#![allow(clippy::unwrap_used, reason = "a failure outside of the assertions of a test ends it too")]

mod cancellation;
mod event;
mod exchange;
mod failure;
mod guard;
mod limit;
mod proxy;
mod redirect;
mod secrecy;
mod server;
mod sse;
mod timeout;
mod tls;
