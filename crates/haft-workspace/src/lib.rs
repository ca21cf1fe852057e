//! `haft.toml`: a workspace as a file.
//!
//! ```toml
#![doc = include_str!("example.toml")]
//! ```
//!
//! Every key is optional, except a tool's or import's `kind`. Besides their kind's own keys, all entries have `title`,
//! `description`, `version`, `parameters`, `output`, `examples`, `resources`, the hints `readonly`, `destructive`,
//! `idempotent` and `open-world`, and `export`, `timeout`, `idle-timeout`, `max-output`, `concurrency` and `approval`.
//! Imports have the last six. They mean the same for every kind. Relative paths start at the file's folder.
//!
//! | section | type | documented at |
//! |---|---|---|
//! | `[workspace]` | [`StandardChoice`] | [`standard`](haft_tools::standard) |
//! | `[secrets]` | [`SecretOrigin`](haft_registry::SecretOrigin) | [`Secrets`](haft_registry::Secrets) |
//! | `[http]` | [`GuardSettings`] | [`AddressGuard`](haft_http::AddressGuard) |
//! | `[files]` | [`FileSettings`] | [`StandardToolbox::deny_files`](haft_tools::standard::StandardToolbox::deny_files) |
//! | `[limits]` | [`LimitSettings`] | [`RunOptions`](haft_executor::RunOptions) |
//! | `[permissions]` | [`PermissionSettings`](haft_registry::PermissionSettings) | [`Permissions`](haft_registry::Permissions) |
//! | `[[approval]]` | [`AskSettings`](haft_registry::AskSettings) | [`AskRules`](haft_registry::AskRules) |
//! | `[callers.*]` | [`LoadedCaller`] | [`Callers`] |
//! | `[toolbox.*]` | [`Kinds`](haft_registry::Kinds) | [`command`](haft_tools::command), [`http`](haft_tools::http), [`openapi`](haft_tools::openapi) |
//!
//! The sections `[limits]`, `[callers]` and `workspace.standard` count only in the file that you load, not in the files of the
//! organisations that it names. You trust all of a workspace's files together.
//!
//! Rules add up, and never permit more. In `[permissions]`, rules that allow count only in the file that you load.
//! Rules that deny count in all files, including those in the sets that the same file uses. So does every approval
//! rule. The [user's own policy](UserPolicy) applies on top, whether the files are trusted or not. A rule from any file
//! but the loaded one carries its file's name.
//!
//! ```text
//! text ─> JSON ─> one JSON Schema ─> entries ─> kinds ─> tools ─> Workspace ─┐
//!                                    sections ─> settings ───────────────────┴─> Loaded
//! ```
//!
//! The text is converted to JSON and checked by [one schema](json_schema), which is also published for editors. An
//! [error](FileError) lists all faults, with line, column and key. A file is applied as a whole or not at all; see
//! [`WatchedWorkspace`].
//!
//! Loading never starts a command, never contacts a host and never reads a secret. A file that you have not
//! [trusted](TrustStore) reaches nothing outside itself later either:
//!
//! - Its entries are checked, but tools with any [`Reach`](haft_registry::Reach) are left out.
//! - Its secrets are withheld.
//! - Hosts that are not public and files outside its folder stay out of reach.
//! - The standard tool `fetch` is left out, and no export replaces a standard tool.
//!
//! [`Loaded::privileges`] lists everything that it would reach. Trusted or not, secret files must not be below the
//! folder that standard tools read. Organisations' files load in the same way.
//!
//! ```
//! use haft_workspace::{LoadOptions, Trust, load};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! # std::fs::create_dir_all(folder.join("project/docs"))?;
//! # std::fs::create_dir_all(folder.join("acme"))?;
//! # std::fs::write(folder.join("acme/haft.toml"), "[workspace]\norg = \"acme\"\n")?;
//! # std::fs::write(folder.join("project/haft.toml"), include_str!("example.toml"))?;
//! # let document = "openapi: 3.1.0\ninfo: { title: Pets, version: '1' }\npaths: {}\n";
//! # std::fs::write(folder.join("project/petstore.yaml"), document)?;
//! # let path = folder.join("project/haft.toml");
//! let options = LoadOptions::new(haft_tools::kinds())?.trust(Trust::Always);
//! let loaded = load(&path, &options).await?;
//! let executor = loaded.executor().build(loaded.registry()?.build()?);
//! assert_eq!(executor.registry().find("search")?.name.to_string(), "dev/search");
//! let sum = executor.run("calculate", serde_json::json!({"expression": "1 + 2"})).await?;
//! assert_eq!(sum["result"], "3");
//! # Ok(())
//! # }
//! ```

mod build;
mod caller;
mod document;
mod entry;
mod entry_tools;
mod error;
mod format;
mod kept;
mod load;
mod loaded;
mod locked;
pub mod pins;
mod policy;
mod privilege;
mod resource;
mod rule;
mod section;
mod set_aside;
mod settings;
mod simplify;
mod source;
mod tree;
mod trust;
mod unmatched;
mod untrusted;
mod watched;

pub use self::caller::{ANONYMOUS, CallerTokens, Callers, LoadedCaller, UnknownCaller};
pub use self::entry::LoadedEntry;
pub use self::error::{FileError, FileFault, FilePosition};
pub use self::format::{KindFormatError, json_schema};
pub use self::load::{LoadOptions, load};
pub use self::loaded::Loaded;
pub use self::locked::LoadedPins;
pub use self::policy::UserPolicy;
pub use self::privilege::{Privilege, PrivilegeKind};
pub use self::rule::RuleFinding;
pub use self::set_aside::SetAsideEntry;
pub use self::settings::{FileSettings, GuardSettings, LimitSettings, Seconds, SecondsError, StandardChoice};
pub use self::source::{FileDigest, ReadFile};
pub use self::trust::{Trust, TrustError, TrustStatus, TrustStore};
pub use self::untrusted::UntrustedAuthor;
pub use self::watched::{FileWatch, ReloadError, WatchStatus, WatchedWorkspace};
#[doc(inline)]
pub use haft_mcp::{TOOL_CHANGED, TOOL_REMOVED};
