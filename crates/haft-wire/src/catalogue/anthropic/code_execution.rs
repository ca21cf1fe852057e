//! Anthropic's code execution.
//!
//! One tool makes calls under three names: `code_execution`, `bash_code_execution` and `text_editor_code_execution`.
//! Its parameters and results are therefore unions. The first version, 20250522, uses only the first name.

use haft_executor::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::code;
use crate::catalogue::typed::{open_enum, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`code_execution`], which takes none.
    pub struct AnthropicCodeExecution {}
}

/// A call to [`code_execution`].
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

/// An editor command of [`code_execution`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CodeFileCommand {
    /// Shows a file.
    View {
        /// The file's path.
        path: String,
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
        #[serde(default)]
        new_str: String,
    },
}

/// A result from [`code_execution`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CodeExecutionResult {
    /// A Python code result.
    CodeExecutionResult(ProcessResult),
    /// A Python code result whose output only the provider can read.
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
    /// A shell command's result.
    BashCodeExecutionResult(ProcessResult),
    /// A file's content.
    TextEditorCodeExecutionViewResult {
        /// The file type: `text`, `image` or `pdf`.
        file_type: String,
        /// The content.
        content: String,
        /// The number of lines in `content`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        num_lines: Option<u64>,
        /// The first line in `content`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start_line: Option<u64>,
        /// The file's total number of lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_lines: Option<u64>,
    },
    /// A created file.
    TextEditorCodeExecutionCreateResult {
        /// True if the file existed before.
        is_file_update: bool,
    },
    /// A replaced text in a file.
    TextEditorCodeExecutionStrReplaceResult {
        /// The changed lines, as a diff.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<Vec<String>>,
        /// The first changed line in the old file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_start: Option<u64>,
        /// The number of changed lines in the old file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_lines: Option<u64>,
        /// The first changed line in the new file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_start: Option<u64>,
        /// The number of changed lines in the new file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_lines: Option<u64>,
    },
}

/// A process's result.
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
    /// The provider's file id.
    pub file_id: String,
}

/// A failed call to [`code_execution`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CodeExecutionError {
    /// Python code failed.
    CodeExecutionToolResultError {
        /// The reason.
        error_code: CodeExecutionErrorCode,
    },
    /// A shell command failed.
    BashCodeExecutionToolResultError {
        /// The reason.
        error_code: CodeExecutionErrorCode,
    },
    /// An editor command failed.
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

/// Creates the tool with which Claude executes code in a container that the provider runs.
pub fn code_execution() -> CatalogueTool<AnthropicCodeExecution> {
    CatalogueTool::new(AnthropicCodeExecution::new())
}
