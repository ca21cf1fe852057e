//! Kinds of implementations: how an entry of a workspace file becomes tools.
//!
//! ```text
//! [toolbox.web.tool.search]          ImplementationKind "http"
//! kind = "http"            ─> Entry ───────────────────────────> Tool ─> Toolbox
//! url = "https://..."         settings, checked by its schema
//! ```
//!
//! A kind has a name, a JSON Schema of its settings and a function from an [`Entry`] to tools. The kinds of this crate
//! are values of the same trait as those of other crates, and nothing else depends on which kinds exist. Whatever a kind
//! builds is an ordinary [`Tool`], so its calls take the same path, with the same checks, as all others.
//!
//! Building never runs a tool and never reads a secret. A kind reports all faults of its entry, each at the setting that
//! caused it.

#[cfg(feature = "command")]
pub mod command;
mod entry;
mod error;
#[cfg(feature = "http")]
pub mod http;
mod kinds;
#[cfg(feature = "openapi")]
pub mod openapi;
pub(crate) mod reading;
#[cfg(any(feature = "command", feature = "http"))]
#[cfg_attr(
    not(all(feature = "command", feature = "http")),
    allow(dead_code, reason = "commands and requests use different parts of it")
)]
mod redactor;

use std::fmt;
use std::pin::Pin;

use haft_core::Tool;
use serde_json::Value;

pub use self::entry::{Entry, ToolSettings};
pub use self::error::{EntryError, EntryFault};
pub use self::kinds::{DuplicateKind, Kinds};

/// The future that [`ImplementationKind::build`] returns.
pub type Building = Pin<Box<dyn Future<Output = Result<Built, EntryError>> + Send>>;

/// A kind of implementation, such as `http`.
///
/// ```
/// use haft_registry::{Building, Built, Entry, ImplementationKind, TrustNeed, Yields};
/// use serde_json::{Value, json};
///
/// /// Returns the same text for every call.
/// struct Constant;
///
/// impl ImplementationKind for Constant {
///     fn name(&self) -> &str {
///         "constant"
///     }
///
///     fn yields(&self) -> Yields {
///         Yields::OneTool
///     }
///
///     fn settings_schema(&self) -> Value {
///         json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})
///     }
///
///     fn trust(&self) -> TrustNeed {
///         TrustNeed::None
///     }
///
///     fn build(&self, entry: Entry) -> Building {
///         Box::pin(async move {
///             let text = entry.settings["text"].as_str().unwrap_or_default().to_owned();
///             let builder = entry.builder(json!({"type": "object", "additionalProperties": false}));
///             let tool = builder.handler(move |_: Value, _cx| std::future::ready(text.clone()))?;
///             Ok(Built::tool(tool))
///         })
///     }
/// }
/// ```
pub trait ImplementationKind: Send + Sync + 'static {
    /// Returns the name by which entries refer to the kind.
    fn name(&self) -> &str;

    /// Returns the number of tools that an entry yields.
    fn yields(&self) -> Yields;

    /// Returns the JSON Schema of the settings: an object whose `properties` are the keys that the kind adds to an
    /// entry. They can't have the names of the keys that all entries have. Other keys are rejected by whoever reads the
    /// entry.
    fn settings_schema(&self) -> Value;

    /// Reports whether building or calling its tools requires that the author of the entry is trusted. Kinds that
    /// start programs require it.
    fn trust(&self) -> TrustNeed;

    /// Builds the tools of an entry, whose settings are valid by the schema.
    fn build(&self, entry: Entry) -> Building;
}

/// The number of tools that an entry of a kind yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// One tool with the name of the entry.
    OneTool,
    /// Any number of tools, which have names of their own.
    ManyTools,
}

/// The trust that a kind of implementation requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustNeed {
    /// None: its tools reach nothing but the services that the program provides, and no secret unless the author is
    /// trusted.
    None,
    /// The author of the entry must be trusted as the author of a program that is run.
    Required,
}

/// The tools of an entry.
#[derive(Debug)]
#[non_exhaustive]
pub struct Built {
    /// The tools, under their simple names.
    pub tools: Vec<Tool>,
    /// Remarks about what was left out, for the operator.
    pub remarks: Vec<EntryFault>,
    /// The names of the secrets that calls of the tools read.
    pub secrets: Vec<String>,
}

impl Built {
    /// Creates the outcome of an entry that yields one tool.
    #[must_use]
    pub fn tool(tool: Tool) -> Self {
        Self::tools(vec![tool])
    }

    /// Creates the outcome of an entry that yields many tools.
    #[must_use]
    pub fn tools(tools: Vec<Tool>) -> Self {
        Self { tools, remarks: Vec::new(), secrets: Vec::new() }
    }

    /// Adds remarks about what was left out.
    #[must_use]
    pub fn with_remarks(mut self, remarks: impl IntoIterator<Item = EntryFault>) -> Self {
        self.remarks.extend(remarks);
        self
    }

    /// Adds the names of secrets that calls of the tools read, so that missing ones are found before the first call.
    #[must_use]
    pub fn with_secrets(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.secrets.extend(names);
        self
    }
}

impl fmt::Debug for dyn ImplementationKind + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ImplementationKind").field(&self.name()).finish()
    }
}
