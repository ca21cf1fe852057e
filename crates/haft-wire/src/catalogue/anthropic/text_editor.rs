//! Anthropic's text editor.

use haft_core::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::editor;
use crate::catalogue::typed::settings;
use crate::catalogue::{ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// The settings of [`text_editor`].
    pub struct AnthropicTextEditor {
        optional {
            /// The number of characters after which the content of a file is truncated when it is shown.
            max_characters: u64,
        }
    }
}

/// A call of [`text_editor`].
///
/// An insertion has its text in `insert_text`, which is what models write. The versions before 20250429 have it in
/// `new_str`, and `undo_edit` besides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextEditorCommand {
    /// Shows a file or a directory.
    View {
        /// The path of the file or directory.
        path: String,
        /// The first and the last line to show, counted from one; the last may be -1 for the end of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        view_range: Option<[i64; 2]>,
    },
    /// Creates or overwrites a file.
    Create {
        /// The path of the file.
        path: String,
        /// The content.
        file_text: String,
    },
    /// Replaces the only occurrence of a text.
    StrReplace {
        /// The path of the file.
        path: String,
        /// The text to replace.
        old_str: String,
        /// The new text. If absent, the old text is removed.
        #[serde(default)]
        new_str: String,
    },
    /// Inserts text.
    Insert {
        /// The path of the file.
        path: String,
        /// The line after which the text is inserted, zero for the beginning of the file.
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

/// Creates the tool by which Claude edits files of the application.
pub fn text_editor() -> CatalogueTool<AnthropicTextEditor> {
    CatalogueTool::new(AnthropicTextEditor::new())
}
