//! The HTTP client behind the clients of model providers: keys, timeouts, proxies, size limits.
//!
//! A client takes a key as a [`Secret`], which is never shown, and one [`HttpClient`] can serve several models:
//!
//! ```
//! use std::time::Duration;
//! use haft::http::{HttpClient, Secret, Timeouts};
//! use haft::model::{Anthropic, OpenAi};
//!
//! let http = HttpClient::builder().timeouts(Timeouts::none().first_byte(Duration::from_secs(60))).build()?;
//! let fast = OpenAi::new(Secret::new("sk-123")).model("gpt-5-mini").http_client(http.clone());
//! let good = Anthropic::new(Secret::new("sk-ant-123")).model("claude-opus-4-5").http_client(http);
//! assert!(!format!("{fast:?} {good:?}").contains("123"));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! Every wait has a timeout and every size a limit. Nothing is retried or logged, no status is an error, and dropping a
//! future, response or stream cancels its request.

#[doc(inline)]
pub use haft_core::{Secret, SecretError};
#[doc(inline)]
pub use haft_http::{
    AddressClass, AddressGuard, BodyChunks, Bytes, CanonicalError, Endpoint, GuardRejection, GuardedClient, HeaderMap,
    HeaderName, HeaderValue, HostCheckError, HostRuleError, HttpClient, HttpClientBuilder, HttpError, HttpRequest,
    HttpResponse, IpNet, Method, Resolver, Resolving, SizeLimits, SseDecoder, SseError, SseEvent, SseEvents,
    StatusCode, TimeoutKind, Timeouts, canonical_host, canonical_url, retry_after,
};
