//! Anthropic's memory.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::function;
use crate::catalogue::typed::settings;
use crate::catalogue::{ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`memory`], which takes none.
    pub struct AnthropicMemory {}
}

/// A call to [`memory`]. All paths begin with `/memories`; your handler must reject any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
#[non_exhaustive]
pub enum MemoryCommand {
    /// Shows a directory or a file.
    View {
        /// The directory's or file's path.
        path: String,
        /// The first and the last line to show.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        view_range: Option<[i64; 2]>,
    },
    /// Creates or overwrites a file.
    Create {
        /// The file's path.
        path: String,
        /// The content.
        file_text: String,
    },
    /// Replaces text in a file.
    StrReplace {
        /// The file's path.
        path: String,
        /// The text to replace.
        old_str: String,
        /// The new text.
        new_str: String,
    },
    /// Inserts text into a file.
    Insert {
        /// The file's path.
        path: String,
        /// The line after which the text is inserted; zero for the file's beginning.
        insert_line: u64,
        /// The text.
        insert_text: String,
    },
    /// Deletes a file or a directory.
    Delete {
        /// The file's or directory's path.
        path: String,
    },
    /// Renames or moves a file or a directory.
    Rename {
        /// The current path.
        old_path: String,
        /// The new path.
        new_path: String,
    },
}

impl CatalogueSettings for AnthropicMemory {
    const ENTRY: CatalogueEntry =
        function("anthropic.memory_20250818", "AnthropicMemory", "memory", "memory_20250818").types::<Self>();
    type Params = MemoryCommand;
    type Success = String;
    type Failure = NoFailure;
}

impl ApplicationTool for AnthropicMemory {}

/// Creates the tool with which Claude keeps files between conversations, in storage that your application provides.
pub fn memory() -> CatalogueTool<AnthropicMemory> {
    CatalogueTool::new(AnthropicMemory::new())
}
