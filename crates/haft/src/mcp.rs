//! Tools of MCP servers.
//!
//! A [`McpServer`] describes a program or a URL. Once you [connect](McpServer::connect), its tools are a live
//! [source](crate::toolkit::ToolSource), which a turn loop, a registry and `Dispatch` take as any other.
//!
//! ```no_run
//! use haft::mcp::McpServer;
//! use haft::toolkit::ToolSource;
//!
//! # async fn example() -> Result<(), haft::mcp::McpError> {
//! let time = McpServer::command("uvx", ["mcp-server-time"]).named("time").connect().await?;
//! for tool in time.snapshot().toolkit() {
//!     assert!(tool.is_dynamic());
//! }
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "mcp-oauth")]
#[doc(inline)]
pub use haft_mcp::OAuth;
#[cfg(feature = "mcp-server")]
#[doc(inline)]
pub use haft_mcp::serve;
#[doc(inline)]
pub use haft_mcp::{
    Era, LOGIN_REQUIRED, Listing, McpClient, McpClients, McpError, McpLimits, McpServer, McpServerInfo, McpServers,
    McpTool, QuarantineReason, QuarantinedTool, ResultPolicy, TOOL_CHANGED, TOOL_REMOVED, TraceContext, content,
    definition, definition_digest, elicitation,
};
