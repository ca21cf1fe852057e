//! `haft.toml`: a workspace as a file.
mod build;
mod document;
mod error;
mod format;
mod load;
mod loaded;
mod section;
mod settings;
mod source;
mod tree;
mod trust;
mod watched;

pub use self::error::{FileError, FileFault, FilePosition};
pub use self::format::json_schema;
pub use self::load::{LoadOptions, load};
pub use self::loaded::Loaded;
pub use self::settings::{HttpSettings, LimitSettings, Seconds, StandardChoice};
pub use self::source::{FileDigest, ReadFile};
pub use self::trust::{Trust, TrustError, TrustStatus, TrustStore};
pub use self::watched::{FileWatch, ReloadError, WatchStatus, WatchedWorkspace};
