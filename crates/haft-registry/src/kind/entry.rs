//! An entry: a tool or a tool import, described as data.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_core::{Destructive, Idempotent, OpenWorld, Readonly};
use haft_executor::{Open, Tool, ToolBuilder};
use serde_json::Value;

use super::pinned::PinnedImport;
use super::reading::ReadObserver;

/// One tool or one tool import, described for an [`ImplementationKind`](super::ImplementationKind).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Entry {
    /// The tool's simple name, or the import's name.
    pub name: String,
    /// The settings that every kind of tool has.
    pub tool: ToolSettings,
    /// The kind's settings: an object that matches the kind's schema.
    pub settings: Value,
    /// The folder that relative paths refer to.
    pub folder: PathBuf,
    /// The import's name with its toolbox, such as `github/server`, by which people know it; empty for a tool.
    pub import: String,
    /// The definitions that a person has accepted, for an import with any. A kind whose tools are known only to a server
    /// offers these and no others.
    pub pinned: Option<Arc<PinnedImport>>,
    /// Observes the files that the kind reads.
    reads: ReadObserver,
}

/// The settings that every kind of tool has. The kind chooses those that are unset.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolSettings {
    /// The title, for people.
    pub title: Option<String>,
    /// The description, for models.
    pub description: Option<String>,
    /// The JSON Schema for the arguments.
    pub parameters: Option<Value>,
    /// The JSON Schema for the result.
    pub output: Option<Value>,
    /// Example arguments.
    pub examples: Vec<Value>,
    /// A hint that calls change nothing.
    pub readonly: Option<bool>,
    /// A hint that calls may destroy something.
    pub destructive: Option<bool>,
    /// A hint that repeating a call has no further effect.
    pub idempotent: Option<bool>,
    /// A hint that calls reach systems beyond the program.
    pub open_world: Option<bool>,
}

impl Entry {
    /// Creates an entry with these settings for its kind.
    #[must_use]
    pub fn new(name: impl Into<String>, settings: Value) -> Self {
        Self { name: name.into(), settings, ..Self::default() }
    }

    /// Sets the settings that every kind of tool has.
    #[must_use]
    pub fn tool(mut self, tool: ToolSettings) -> Self {
        self.tool = tool;
        self
    }

    /// Sets the folder that relative paths refer to.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Sets an import's name with its toolbox.
    #[must_use]
    pub fn import(mut self, import: impl Into<String>) -> Self {
        self.import = import.into();
        self
    }

    /// Sets the definitions that a person has accepted.
    #[must_use]
    pub fn pinned(mut self, pinned: Option<Arc<PinnedImport>>) -> Self {
        self.pinned = pinned;
        self
    }

    /// Calls a function with every file that the kind [reads](Self::read_file) and its content, and with every path
    /// that can't be read.
    #[must_use]
    pub fn observe_reads(mut self, observe: impl Fn(PathBuf, Option<&[u8]>) + Send + Sync + 'static) -> Self {
        self.reads = ReadObserver::new(observe);
        self
    }

    /// Reads a file that the entry names, with at most `max` bytes. The path is relative to the entry's folder, and the
    /// file must be in that folder or below it: nothing else is opened, since nobody has trusted the entry yet.
    ///
    /// Read files only this way. A workspace that was loaded from a file is loaded again when such a file changes, and
    /// the trust in the workspace covers these files, because they decide what its tools do. Your errors must not
    /// contain what was read.
    pub fn read_file(&self, path: impl AsRef<Path>, max: u64) -> io::Result<Vec<u8>> {
        self.reads.read(&self.folder, path.as_ref(), max)
    }

    /// Starts a tool with this entry's name and tool settings. `parameters` is the JSON Schema for the arguments if the
    /// entry sets none. A result may be any JSON unless the entry has a schema for it.
    pub fn builder(&self, parameters: Value) -> ToolBuilder<Open, Open> {
        let ToolSettings { title, description, parameters: own, output, examples, .. } = &self.tool;
        let ToolSettings { readonly, destructive, idempotent, open_world, .. } = self.tool;
        let mut builder = Tool::dynamic(&self.name).params_json(own.clone().unwrap_or(parameters));
        if let Some(output) = output {
            builder = builder.success_json(output.clone());
        }
        if let Some(title) = title {
            builder = builder.title(title);
        }
        if let Some(description) = description {
            builder = builder.describe(description);
        }
        builder = examples.iter().fold(builder, ToolBuilder::example);
        if let Some(value) = readonly {
            builder = builder.annotate(Readonly(value));
        }
        if let Some(value) = destructive {
            builder = builder.annotate(Destructive(value));
        }
        if let Some(value) = idempotent {
            builder = builder.annotate(Idempotent(value));
        }
        if let Some(value) = open_world {
            builder = builder.annotate(OpenWorld(value));
        }
        builder
    }
}
