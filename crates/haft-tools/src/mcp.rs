//! Tools of MCP servers: the kind `mcp` of imports.
//!
//! ```toml
//! [toolbox.github.import.server]
//! kind = "mcp"
//! command = ["npx", "-y", "@modelcontextprotocol/server-github"]
//! secret-env = { GITHUB_PERSONAL_ACCESS_TOKEN = "github" }
//! ```
//!
//! The tools are those that a person has accepted, from the lock beside the workspace file: nothing is started to list
//! them. The server is started, or connected to, when one of them is first called, and lists its tools then. A call to
//! a tool that is not as it was accepted fails, and a new tool is not offered.
//!
//! ```text
//! lock ─> definitions ─> McpSource ──call──> McpImport ─> McpClient, created with the secrets at the first call
//!                            ^                   │
//!                            └── lists of the server
//! ```

mod auth;
mod given;
mod import;
mod kind;
mod log_file;
mod login;
mod name;
mod preview;
mod redact;
mod server;
mod settings;
mod source;

pub use self::kind::McpKind;
