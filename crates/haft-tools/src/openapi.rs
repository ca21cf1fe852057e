//! Tools from OpenAPI documents.
//!
//! ```text
//! OpenApi ─> operations ─> arguments + body + security + server ─> HttpTool ─> Tool
//!            names         one schema, definitions in `$defs`
//!               └────────────────────────────────────────────────> Skipped, with a code
//! ```
//!
//! Every operation in a document, version 3.0 or 3.1, becomes one tool. Its arguments are one object: the parameters
//! under their own names, and the request body as `body`. GET and HEAD are hinted as readonly, DELETE as destructive,
//! and PUT and DELETE as idempotent. An operation that can't be imported is reported with a stable code, and never
//! takes others with it.
//!
//! A document is somebody else's data. Nothing that it refers to is fetched, it can't make a request carry a secret
//! that your options do not name, and its size and your options' limits bound the work and memory of an import.

mod argument;
mod body;
mod document;
mod error;
mod filter;
mod import;
mod kind;
mod name;
mod offered;
mod operation;
mod options;
mod path;
mod plain_text;
mod schema;
mod security;
mod server;
mod skip;
mod style;
mod text;

pub use self::document::OpenApi;
pub use self::error::OpenApiError;
pub use self::import::{Imported, ImportedOperation, LossyPart};
pub use self::kind::OpenApiKind;
pub use self::options::{ImportOptions, OutputCheck, SchemeCredential};
pub use self::schema::Loosened;
pub use self::skip::{SkipReason, Skipped};

#[cfg(feature = "mcp")]
pub(crate) use self::filter::Selected;
#[cfg(feature = "mcp")]
pub(crate) use self::name::plain_name;
