//! haft's HTTP client: timeouts, size limits, server-sent events, and errors without secrets.
//!
//! An [`HttpClient`] sends an [`HttpRequest`] and returns an [`HttpResponse`], whose body you read whole, as chunks, or
//! as events:
//!
//! ```
//! use haft_http::{HttpClient, HttpRequest, Secret};
//!
//! # use std::io::{Read, Write};
//! # fn serve(response: &'static str) -> std::io::Result<String> {
//! #     let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
//! #     let address = listener.local_addr()?;
//! #     std::thread::spawn(move || {
//! #         let (mut socket, _) = listener.accept()?;
//! #         let mut request = Vec::new();
//! #         while !request.ends_with(b"}") {
//! #             let mut piece = [0; 1024];
//! #             let length = socket.read(&mut piece)?;
//! #             request.extend_from_slice(&piece[..length]);
//! #         }
//! #         socket.write_all(response.as_bytes())
//! #     });
//! #     Ok(format!("http://{address}/v1/messages"))
//! # }
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! # let url = serve("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: {\"a\":1}\n\ndata: [DONE]\n\n")?;
//! let client = HttpClient::builder().no_proxy().build()?;
//! let request = HttpRequest::post(url).bearer(&Secret::new("sk-123")).json(&serde_json::json!({"stream": true}));
//! let response = client.send(request).await?;
//! assert!(response.status().is_success());
//!
//! let mut events = response.events()?;
//! while let Some(event) = events.next_event().await {
//!     let event = event?;
//!     assert_eq!(event.name, "message");
//!     if event.data == "[DONE]" {
//!         break;
//!     }
//!     assert_eq!(event.data, r#"{"a":1}"#);
//! }
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! - Every wait has a timeout ([`Timeouts`], [`HttpClientBuilder::connect_timeout`]) and every size a limit
//!   ([`SizeLimits`]). Dropping a future, response or stream cancels the request.
//! - Nothing is retried and no status is an error. [`HttpError`] reports the cause, [`retryable`](HttpError::retryable)
//!   and [`sent`](HttpError::sent); [`retry_after()`] reads the time that a server asks for.
//! - Nothing is logged. A [`Secret`] is never shown, and errors contain only a URL's host and path.
//! - [`SseDecoder`] decodes server-sent events without I/O.
//! - A [`GuardedClient`] is for URLs that your program does not choose itself. It connects where its [`AddressGuard`]
//!   permits it, by default to public addresses only, whatever names resolve to and redirects lead to.

mod canonical;
mod client;
mod deadline;
mod endpoint;
mod error;
mod guard;
mod guarded;
mod request;
mod resolver;
mod response;
mod retry_after;
mod size_limits;
mod sse;
mod timeouts;

pub use bytes::Bytes;
pub use haft_core::{Secret, SecretError};
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
pub use ipnet::IpNet;

pub use self::canonical::{CanonicalError, canonical_host, canonical_url};
pub use self::client::{HttpClient, HttpClientBuilder};
pub use self::endpoint::Endpoint;
pub use self::error::HttpError;
pub use self::guard::{AddressClass, AddressGuard, GuardRejection, HostCheckError, HostRuleError};
pub use self::guarded::GuardedClient;
pub use self::request::HttpRequest;
pub use self::resolver::{Resolver, Resolving};
pub use self::response::{BodyChunks, HttpResponse, SseEvents};
pub use self::retry_after::retry_after;
pub use self::size_limits::SizeLimits;
pub use self::sse::{SseDecoder, SseError, SseEvent};
pub use self::timeouts::{TimeoutKind, Timeouts};
