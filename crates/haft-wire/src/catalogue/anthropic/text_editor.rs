//! Anthropic's text editor.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::editor;
use crate::catalogue::typed::settings;
use crate::catalogue::{ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`text_editor`].
    pub struct AnthropicTextEditor {
        optional {
            /// The number of characters after which a shown file is truncated.
            max_characters: u64,
        }
    }
}

/// A call to [`text_editor`].
///
/// Models write inserted text to `insert_text`. Versions before 20250429 use `new_str`, and also have `undo_edit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextEditorCommand {
    /// Shows a file or a directory.
    View {
        /// The file's or directory's path.
        path: String,
        /// The first and last line to show, counted from one. The last may be -1 for the file's end.
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
    /// Replaces a text that occurs exactly once.
    StrReplace {
        /// The file's path.
        path: String,
        /// The text to replace.
        old_str: String,
        /// The new text. If absent, the old text is removed.
        #[serde(default)]
        new_str: String,
    },
    /// Inserts text.
    Insert {
        /// The file's path.
        path: String,
        /// The line after which the text is inserted; zero for the file's beginning.
        insert_line: u64,
        /// The text.
        insert_text: String,
    },
}

impl CatalogueSettings for AnthropicTextEditor {
    const ENTRY: CatalogueEntry =
        editor("anthropic.text_editor_20250728", "str_replace_based_edit_tool", "text_editor_20250728").types::<Self>();
    type Params = TextEditorCommand;
    type Success = String;
    type Failure = NoFailure;
}

impl ApplicationTool for AnthropicTextEditor {}

/// Creates the tool with which Claude edits your application's files.
pub fn text_editor() -> CatalogueTool<AnthropicTextEditor> {
    CatalogueTool::new(AnthropicTextEditor::new())
}
