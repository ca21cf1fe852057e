//! Implementation kinds: how a workspace file's entry becomes tools.
//!
//! ```text
//! [toolbox.web.tool.search]          ImplementationKind "http"
//! kind = "http"            ─> Entry ───────────────────────────> Tool ─> Toolbox
//! url = "https://..."         settings, checked by its schema
//! ```
//!
//! A kind has a name, a JSON Schema for its settings and a function from an [`Entry`] to tools. This crate has none:
//! the kinds in `haft-tools` implement the same trait as yours, and nothing else depends on which kinds exist. Whatever
//! a kind builds is an ordinary [`Tool`], so its calls take the same path, with the same checks, as all others. A kind
//! for tools that change yields a [`LiveSource`] of such tools.
//!
//! A kind presents itself. People who approve a call or look at a tool read its [`CallPreview`]; people who trust a file
//! and `haft check` read the [`Reach`]; `haft check` asks the [`Probe`] for what else may be wrong. So the command and
//! the workspace know no kind by name.
//!
//! Building never runs a tool, contacts no host and never reads a secret: entries are built before their file is
//! trusted, so that faults are found first. A kind reports all faults in its entry, each at the setting that caused it,
//! and states the [`Reach`] of what it built.

mod command_line;
mod entry;
mod error;
mod kinds;
mod lister;
mod live;
mod login;
mod pinned;
mod preview;
mod probe;
mod reach;
pub mod reading;

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use haft_executor::Tool;
use serde_json::Value;

pub use self::command_line::command_line;
pub use self::entry::{Entry, ToolSettings};
pub use self::error::{EntryError, EntryFault};
pub use self::kinds::{DuplicateKind, Kinds};
pub use self::lister::{ImportLister, ListedImport, ListingImport};
pub use self::live::{Closing, LiveSource, Refreshing};
pub use self::login::{ImportLogin, LoggingIn, LoginRequired, OpenPage};
pub use self::pinned::{PinOrigin, PinnedImport, PinnedTool, ReportedServer};
pub use self::preview::{CallEffect, CallPreview, EffectFact};
pub use self::probe::Probe;
pub use self::reach::{Reach, Recipient, StartedCommand};

/// The future that [`ImplementationKind::build`] returns.
pub type Building = Pin<Box<dyn Future<Output = Result<Built, EntryError>> + Send>>;

/// An implementation kind, such as `http`.
///
/// ```
/// use haft_registry::{Building, Built, Entry, ImplementationKind, Reach, Yields};
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
///     fn build(&self, entry: Entry) -> Building {
///         Box::pin(async move {
///             let text = entry.settings["text"].as_str().unwrap_or_default().to_owned();
///             let builder = entry.builder(json!({"type": "object", "additionalProperties": false}));
///             let tool = builder.handler(move |_: Value, _cx| std::future::ready(text.clone()))?;
///             Ok(Built::tool(tool, Reach::nothing()))
///         })
///     }
/// }
/// ```
pub trait ImplementationKind: Send + Sync + 'static {
    /// Returns the name by which entries refer to the kind.
    fn name(&self) -> &str;

    /// Returns the number of tools that an entry yields.
    fn yields(&self) -> Yields;

    /// Returns the JSON Schema for the settings: an object whose `properties` are the keys that the kind adds to an
    /// entry. They can't reuse the keys that all entries have. The entry's reader rejects other keys.
    fn settings_schema(&self) -> Value;

    /// Builds an entry's tools. The settings already match the schema. The entry's author is not trusted yet: start,
    /// send and reveal nothing.
    fn build(&self, entry: Entry) -> Building;
}

/// The number of tools that a kind's entry yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// One tool, named like the entry.
    OneTool,
    /// Any number of tools with their own names.
    ManyTools,
}

/// An entry's tools.
#[derive(Debug)]
#[non_exhaustive]
pub struct Built {
    /// The tools, under their simple names.
    pub tools: Vec<Tool>,
    /// The source of tools that change, which come after the others. Only for kinds that yield many tools.
    pub live: Option<Arc<dyn LiveSource>>,
    /// Remarks about what was left out, for the operator.
    pub remarks: Vec<EntryFault>,
    /// The recipients that the tools use, and their secrets. Tools that reach anything require that the entry's author
    /// is trusted.
    pub reach: Reach,
    /// The kind's own check of the entry.
    pub probe: Option<Probe>,
    /// The definitions behind the tools, if the kind knows them without connecting. Tools whose definitions are not those
    /// that were accepted are then withheld.
    pub offered: Option<PinnedImport>,
    /// The way to the definitions that a server offers now.
    pub lister: Option<ImportLister>,
    /// The logins at the server, if it has any.
    pub login: Option<Arc<dyn ImportLogin>>,
    /// The file to which the server's log is written, which need not exist.
    pub log: Option<PathBuf>,
}

impl Built {
    /// Creates the outcome for an entry that yields one tool with this reach.
    #[must_use]
    pub fn tool(tool: Tool, reach: Reach) -> Self {
        Self::tools(vec![tool], reach)
    }

    /// Creates the outcome for an entry that yields many tools, which share this reach.
    #[must_use]
    pub fn tools(tools: Vec<Tool>, reach: Reach) -> Self {
        Self {
            tools,
            live: None,
            remarks: Vec::new(),
            reach,
            probe: None,
            offered: None,
            lister: None,
            login: None,
            log: None,
        }
    }

    /// Creates the outcome for an import whose tools change. All that it ever lists share this reach.
    #[must_use]
    pub fn live(source: impl LiveSource, reach: Reach) -> Self {
        Self { live: Some(Arc::new(source)), ..Self::tools(Vec::new(), reach) }
    }

    /// Adds a check of the entry, for `haft check`.
    #[must_use]
    pub fn with_probe(mut self, probe: Probe) -> Self {
        self.probe = Some(probe);
        self
    }

    /// Sets the definitions behind the tools.
    #[must_use]
    pub fn with_offered(mut self, offered: PinnedImport) -> Self {
        self.offered = Some(offered);
        self
    }

    /// Sets the way to the definitions that a server offers now.
    #[must_use]
    pub fn with_lister(mut self, lister: ImportLister) -> Self {
        self.lister = Some(lister);
        self
    }

    /// Sets the logins at the server.
    #[must_use]
    pub fn with_login(mut self, login: impl ImportLogin) -> Self {
        self.login = Some(Arc::new(login));
        self
    }

    /// Sets the file to which the server's log is written.
    #[must_use]
    pub fn with_log(mut self, file: impl Into<PathBuf>) -> Self {
        self.log = Some(file.into());
        self
    }

    /// Adds remarks about what was left out.
    #[must_use]
    pub fn with_remarks(mut self, remarks: impl IntoIterator<Item = EntryFault>) -> Self {
        self.remarks.extend(remarks);
        self
    }
}

impl fmt::Debug for dyn ImplementationKind + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ImplementationKind").field(&self.name()).finish()
    }
}
