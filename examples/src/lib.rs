//! Examples of haft: one small program per idea, beside this folder. Each runs without arguments and checks its own
//! output: `cargo run --example quickstart`.
//!
//! The doc tests of this crate are the Rust of the guide in `docs`.

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/approvals.md")]
mod approvals {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/axum.md")]
mod axum {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/chat-service.md")]
mod chat_service {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/errors.md")]
mod errors {}

#[cfg(all(doctest, feature = "workspace"))]
#[doc = include_str!("../../docs/src/first-tool.md")]
mod first_tool {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/middleware.md")]
mod middleware {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/opentelemetry.md")]
mod opentelemetry {}

#[cfg(all(doctest, feature = "workspace"))]
#[doc = include_str!("../../docs/src/permissions.md")]
mod permissions {}

#[cfg(all(doctest, feature = "clients"))]
#[doc = include_str!("../../docs/src/providers.md")]
mod providers {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/raw-schema.md")]
mod raw_schema {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/sub-agents.md")]
mod sub_agents {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/tenants.md")]
mod tenants {}

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/testing.md")]
mod testing {}
