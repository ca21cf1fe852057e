//! Workspaces as files: `haft.toml`.
//!
//! ```
//! use haft::registry::Executor;
//! use haft::workspace::{LoadOptions, Trust, load};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("haft.toml");
//! std::fs::write(&path, "[toolbox.dev.tool.list]\nkind = 'command'\ncommand = ['ls']\n")?;
//! let options = LoadOptions::new(haft::tools::kinds())?.trust(Trust::Always);
//! let loaded = load(&path, &options).await?;
//! let executor: Executor = loaded.executor().build(loaded.registry()?.build()?);
//! assert!(executor.find("dev/list").is_ok());
//! # Ok(())
//! # }
//! ```
//!
//! [`load`] reads a file and builds its tools; a file that nobody has [trusted](TrustStore) gets tools that reach nothing
//! outside of it. [`WatchedWorkspace`] follows changes of the file. The module [`pins`] keeps what you accepted of imported
//! tools, and compares it with what they are now.

#[doc(inline)]
pub use haft_workspace::{
    ANONYMOUS, CallerTokens, Callers, FileDigest, FileError, FileFault, FilePosition, FileSettings, FileWatch,
    GuardSettings, KindFormatError, LimitSettings, LoadOptions, Loaded, LoadedCaller, LoadedEntry, LoadedPins,
    Privilege, PrivilegeKind, ReadFile, ReloadError, RuleFinding, Seconds, SecondsError, SetAsideEntry, StandardChoice,
    TOOL_CHANGED, TOOL_REMOVED, Trust, TrustError, TrustStatus, TrustStore, UnknownCaller, UntrustedAuthor, UserPolicy,
    WatchStatus, WatchedWorkspace, json_schema, load, pins,
};
