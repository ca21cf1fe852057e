//! Anthropic's execution of code.
//!
//! One tool makes calls under three names: `code_execution`, `bash_code_execution` and `text_editor_code_execution`.
//! Its parameters and results are therefore unions. The first version, 20250522, makes only calls of the first name.

use haft_core::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::code;
use crate::catalogue::typed::{open_enum, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// The settings of [`code_execution`], of which there are none.
    pub struct AnthropicCodeExecution {}
}

/// A call of [`code_execution`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum CodeExecutionCall {
    /// Python code, by the name `code_execution`.
    Code {
        /// The code.
        code: String,
    },
    /// A change to a file, by the name `text_editor_code_execution`.
    Editor(CodeFileCommand),
    /// A shell command, by the name `bash_code_execution`.
    Bash {
        /// The command.
        command: String,
    },
}

/// A command of the editor of [`code_execution`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CodeFileCommand {
    /// Shows a file.
    View {
        /// The path of the file.
        path: String,
    },
    /// Creates or overwrites a file.
    Create {
        /// The path of the file.
        path: String,
        /// The content.
        file_text: String,
    },
    /// Replaces text in a file.
    StrReplace {
        /// The path of the file.
        path: String,
        /// The text to replace.
        old_str: String,
        /// The new text.
        #[serde(default)]
        new_str: String,
    },
}

/// The result of a call of [`code_execution`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CodeExecutionResult {
    /// The result of Python code.
    CodeExecutionResult(ProcessResult),
    /// The result of Python code whose output only the provider can read.
    EncryptedCodeExecutionResult {
        /// The standard output.
        encrypted_stdout: String,
        /// The standard error.
        stderr: String,
        /// The exit code.
        return_code: i32,
        /// The files that were created.
        content: Vec<CreatedFile>,
    },
    /// The result of a shell command.
    BashCodeExecutionResult(ProcessResult),
    /// The content of a file.
    TextEditorCodeExecutionViewResult {
        /// The kind of file: `text`, `image` or `pdf`.
        file_type: String,
        /// The content.
        content: String,
        /// The number of lines that are contained.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        num_lines: Option<u64>,
        /// The first line that is contained.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start_line: Option<u64>,
        /// The number of lines of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_lines: Option<u64>,
    },
    /// The creation of a file.
    TextEditorCodeExecutionCreateResult {
        /// Set if the file existed.
        is_file_update: bool,
    },
    /// The replacement of text in a file.
    TextEditorCodeExecutionStrReplaceResult {
        /// The changed lines, as a diff.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<Vec<String>>,
        /// The first changed line of the old file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_start: Option<u64>,
        /// The number of changed lines of the old file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_lines: Option<u64>,
        /// The first changed line of the new file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_start: Option<u64>,
        /// The number of changed lines of the new file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_lines: Option<u64>,
    },
}

/// The result of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ProcessResult {
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
    /// The exit code.
    pub return_code: i32,
    /// The files that were created.
    pub content: Vec<CreatedFile>,
}

/// A file that code has created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CreatedFile {
    /// The provider's id of the file.
    pub file_id: String,
}

/// The failure of a call of [`code_execution`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CodeExecutionError {
    /// Of Python code.
    CodeExecutionToolResultError {
        /// The reason.
        error_code: CodeExecutionErrorCode,
    },
    /// Of a shell command.
    BashCodeExecutionToolResultError {
        /// The reason.
        error_code: CodeExecutionErrorCode,
    },
    /// Of a command of the editor.
    TextEditorCodeExecutionToolResultError {
        /// The reason.
        error_code: CodeExecutionErrorCode,
        /// Details.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
    },
}

open_enum! {
    /// The reason that an execution failed.
    pub enum CodeExecutionErrorCode {
        /// The input is invalid.
        InvalidToolInput,
        /// An internal error.
        Unavailable,
        /// The rate limit is exceeded.
        TooManyRequests,
        /// The execution took too long.
        ExecutionTimeExceeded,
        /// A file that the code created is too large.
        OutputFileTooLarge,
        /// There is no such file.
        FileNotFound,
    }
}

impl CodeExecutionError {
    /// Returns the reason.
    #[must_use]
    pub fn code(&self) -> &CodeExecutionErrorCode {
        match self {
            Self::CodeExecutionToolResultError { error_code }
            | Self::BashCodeExecutionToolResultError { error_code }
            | Self::TextEditorCodeExecutionToolResultError { error_code, .. } => error_code,
        }
    }
}

impl Failure for CodeExecutionError {
    fn message(&self) -> String {
        format!("the code was not executed: {:?}", self.code())
    }
}

impl CatalogueSettings for AnthropicCodeExecution {
    const ENTRY: CatalogueEntry =
        code("anthropic.code_execution_20260521", "code_execution_20260521").fallible::<Self>();
    type Params = CodeExecutionCall;
    type Success = CodeExecutionResult;
    type Failure = CodeExecutionError;
}

/// Creates the tool by which Claude executes code in a container of the provider.
pub fn code_execution() -> CatalogueTool<AnthropicCodeExecution> {
    CatalogueTool::new(AnthropicCodeExecution::new())
}
