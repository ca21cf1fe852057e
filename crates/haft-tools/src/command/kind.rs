//! The kind `command` of entries.

use std::sync::LazyLock;

use haft_registry::{Building, Built, Entry, EntryError, EntryFault, ImplementationKind, Yields};
use haft_schema::{Schema, SchemaError};
use serde_json::Value;

use super::code;
use super::settings::CommandSettings;

/// The kind `command`: an entry is a [`CommandTool`](super::CommandTool).
///
/// ```toml
/// [toolbox.dev.tool.grep]
/// kind = "command"
/// description = "Searches files."
/// command = ["rg", "--json", "--", "{pattern}"]
/// ```
///
/// The entry's author must be trusted, because the command can do whatever this process can.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct CommandKind;

impl CommandKind {
    /// Creates the kind.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl ImplementationKind for CommandKind {
    fn name(&self) -> &'static str {
        "command"
    }

    fn yields(&self) -> Yields {
        Yields::OneTool
    }

    fn settings_schema(&self) -> Value {
        settings_schema()
    }

    fn build(&self, entry: Entry) -> Building {
        Box::pin(async move {
            let command = read_settings(&entry.settings)?.into_command(&entry.folder);
            let builder = entry.builder(command.default_parameters());
            let mut started = command.started();
            started.uncovered = code::read(&entry, &started)?;
            let reach = command.reach_of(started);
            Ok(Built::tool(command.build(builder)?, reach))
        })
    }
}

fn settings_schema() -> Value {
    schemars::schema_for!(CommandSettings).into()
}

/// Reads the settings, or returns all their faults.
fn read_settings(settings: &Value) -> Result<CommandSettings, EntryError> {
    // Compiled once: a file may have many entries.
    static SCHEMA: LazyLock<Result<Schema, SchemaError>> = LazyLock::new(|| Schema::json(settings_schema()));
    let schema = SCHEMA.as_ref().map_err(|error| EntryError::at("", error.to_string()))?;
    schema.decode_value(settings).map_err(|issues| EntryError {
        faults: issues.iter().map(|issue| EntryFault::at(issue.pointer.clone(), issue.message.clone())).collect(),
    })
}
