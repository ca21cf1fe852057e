#![doc = include_str!("../README.md")]

mod call;
mod client;
mod convert;
mod era;
mod error;
mod limit;
mod link;
mod listing;
mod log;
#[cfg(feature = "oauth")]
mod oauth;
mod process;
mod result_policy;
mod sampling;
#[cfg(feature = "server")]
pub mod serve;
mod server;
mod servers;
mod session;
mod trace_context;
mod wire;

pub use self::call::{LOGIN_REQUIRED, TOOL_CHANGED, TOOL_REMOVED};
pub use self::client::McpClient;
pub use self::convert::{content, definition, elicitation};
pub use self::era::Era;
pub use self::error::McpError;
pub use self::limit::McpLimits;
pub use self::listing::{Listing, McpTool, QuarantineReason, QuarantinedTool, definition_digest};
#[cfg(feature = "oauth")]
pub use self::oauth::OAuth;
pub use self::result_policy::ResultPolicy;
pub use self::server::McpServer;
pub use self::servers::{McpClients, McpServers};
pub use self::session::McpServerInfo;
pub use self::trace_context::TraceContext;
