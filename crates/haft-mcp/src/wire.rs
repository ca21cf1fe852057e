//! The messages between a server and rmcp, on both transports.
//!
//! ```text
//! call ─► rmcp's peer ─► line.rs or http.rs ─► server
//!   ▲                          │ registers the call's slot
//!   └──── slot ◄──── tap ◄─────┴──────────────── server
//!                     └─► rmcp: handshakes, requests of the server, and placeholders for the answers above
//! ```
//!
//! rmcp owns the protocol: ids, the handshake of both eras, HTTP sessions, cancellation. What a server says passes the
//! [`Tap`] first, for three reasons. rmcp's types drop unknown members and reject a whole list or result for one
//! malformed part, so answers are taken here as they were sent. rmcp starts a task for every notification, so progress
//! would arrive out of order and a flood without a bound. And rmcp logs what it receives, so what it does not need is
//! kept from it.

pub(crate) mod http;
pub(crate) mod line;
mod message;
pub(crate) mod slot;
pub(crate) mod tap;
