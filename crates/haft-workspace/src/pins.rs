//! Pins: the definitions of imported tools, as a person accepted them.
//!
//! A server can change at any time what its tools say and take, and whoever chose them has read the old text. So the
//! definitions are written down, with the server's identity, and compared whenever the server lists its tools again:
//! nothing that differs is used until somebody accepts it. From the pins the tools are also known without the server.
//!
//! [`Pins`] is a value with a text form, for any store. [`LockFile`] keeps it in `haft.lock` beside the workspace file.
//!
//! ```text
//! haft.lock ─> Pins ─> PinnedImport ──┐
//!                                     ├─> compare ─> ImportDifference ─> shown, then Pins::accept
//! server, or document ─> PinnedImport ┘
//! ```

mod difference;
mod error;
mod field;
mod finding;
mod hidden;
mod instruction;
mod lock_file;
mod text;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

pub use haft_registry::{PinOrigin, PinnedImport, PinnedTool, ReportedServer};

pub use self::difference::{ImportDifference, ReportedChange, ToolChange, ToolDifference};
pub use self::error::{LockFault, LockFileError, PinsError};
pub use self::field::{FieldChange, FieldDifference};
pub use self::finding::{PinFinding, PinSuspicion};
pub use self::lock_file::{LOCK_EXTENSION, LockFile};
pub(crate) use self::lock_file::{MAX_LOCK, parse};
pub use self::words::TextPiece;

/// The accepted definitions of all imports, by the imports' names, such as `github/server`.
///
/// ```
/// use haft_workspace::pins::{PinOrigin, PinnedImport, Pins, ToolChange};
/// use serde_json::json;
///
/// let search = |text: &str| json!({"name": "search", "description": text, "inputSchema": {"type": "object"}});
/// let import = || PinnedImport::new("mcp", PinOrigin::url("https://user:key@mcp.example/v1?key=1"));
///
/// let mut pins = Pins::new();
/// pins.insert("docs/server", import().tool("search", search("Searches the docs.")));
///
/// // Another process reads what was stored, and compares it with what the server lists now.
/// let mut stored: Pins = pins.to_string().parse()?;
/// let live = import().tool("search", search("Searches all docs.")).tool("fetch", json!({"name": "fetch"}));
/// let difference = stored.compare("docs/server", &live);
/// let names: Vec<&str> = difference.tools.iter().map(|tool| &*tool.name).collect();
/// assert_eq!(names, ["fetch", "search"]);
/// assert!(matches!(difference.tools[0].change, ToolChange::New(_)));
///
/// stored.accept("docs/server", &live, |tool| tool == "search");
/// assert_eq!(stored.compare("docs/server", &live).tools.len(), 1);
/// # Ok::<_, haft_workspace::pins::PinsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pins {
    imports: BTreeMap<String, PinnedImport>,
}

impl Pins {
    /// Creates pins of no import.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports whether no import is pinned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.imports.is_empty()
    }

    /// Returns an import's pins.
    #[must_use]
    pub fn get(&self, import: &str) -> Option<&PinnedImport> {
        self.imports.get(import)
    }

    /// Returns all imports, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PinnedImport)> {
        self.imports.iter().map(|(name, import)| (name.as_str(), import))
    }

    /// Pins an import's tools. Returns its earlier pins.
    pub fn insert(&mut self, name: impl Into<String>, import: PinnedImport) -> Option<PinnedImport> {
        self.imports.insert(name.into(), import)
    }

    /// Removes an import's pins and returns them.
    pub fn remove(&mut self, import: &str) -> Option<PinnedImport> {
        self.imports.remove(import)
    }

    /// Compares an import's pins with what it offers now. Without pins, everything is new.
    #[must_use]
    pub fn compare(&self, import: &str, live: &PinnedImport) -> ImportDifference {
        match self.get(import) {
            Some(pinned) => ImportDifference::between(pinned, live),
            None => ImportDifference::between(&PinnedImport::new(live.kind(), live.origin().clone()), live),
        }
    }

    /// Accepts the changed, new and removed tools that a function picks by name, as the import offers them now. Returns
    /// their names.
    ///
    /// Another origin, and another version of the server, are taken over when no other difference is left.
    pub fn accept(&mut self, import: &str, live: &PinnedImport, mut pick: impl FnMut(&str) -> bool) -> Vec<String> {
        let different = self.compare(import, live).tools;
        let picked: Vec<String> = different.into_iter().map(|tool| tool.name).filter(|name| pick(name)).collect();
        let is_known = self.imports.contains_key(import);
        if picked.is_empty() && !is_known {
            return picked;
        }
        let empty = || PinnedImport::new(live.kind(), live.origin().clone());
        let pinned = self.imports.entry(import.to_owned()).or_insert_with(empty);
        for name in &picked {
            pinned.set(name, live.get(name).cloned());
        }
        if ImportDifference::between(pinned, live).tools.is_empty() {
            *pinned = live.clone();
        }
        picked
    }
}

/// Reads pins from their text.
impl FromStr for Pins {
    type Err = PinsError;

    fn from_str(text: &str) -> Result<Self, PinsError> {
        text::read(text).map(|imports| Self { imports })
    }
}

/// Formats the text of the pins: JSON with one value per line, in an order that depends on nothing but the names.
impl fmt::Display for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::write(&self.imports))
    }
}
