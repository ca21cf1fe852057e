//! Tests of the HTTP client over real sockets on the loopback interface.

mod cancellation;
mod event;
mod exchange;
mod failure;
mod limit;
mod proxy;
mod redirect;
mod secrecy;
mod server;
mod sse;
mod timeout;
