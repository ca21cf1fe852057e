//! OpenAI's first shell.

use std::collections::BTreeMap;

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::item::PlainForm;
use crate::catalogue::openai::handled;
use crate::catalogue::typed::settings;
use crate::catalogue::{ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`local_shell`], which takes none.
    pub struct OpenAiLocalShell {}
}

/// A call to [`local_shell`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LocalShellCall {
    /// The action.
    pub action: LocalShellAction,
}

/// An action for [`local_shell`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LocalShellAction {
    /// Executes a command.
    Exec {
        /// The command and its arguments.
        command: Vec<String>,
        /// The environment variables.
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// The timeout in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
        /// The user that executes the command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<String>,
        /// The directory in which the command is executed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        working_directory: Option<String>,
    },
}

/// A result from [`local_shell`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LocalShellOutput {
    /// The command's output.
    pub output: String,
}

impl LocalShellOutput {
    /// Creates a result.
    #[must_use]
    pub fn new(output: impl Into<String>) -> Self {
        Self { output: output.into() }
    }
}

impl CatalogueSettings for OpenAiLocalShell {
    const ENTRY: CatalogueEntry = handled("openai.local_shell", "OpenAiLocalShell", "local_shell")
        .items("local_shell_call", &["action"], "local_shell_call_output", PlainForm::Output)
        .output_id("id")
        .types::<Self>()
        .superseded();
    type Params = LocalShellCall;
    type Success = LocalShellOutput;
    type Failure = NoFailure;
}

impl ApplicationTool for OpenAiLocalShell {}

/// Creates the tool with which models from before [`shell`](crate::catalogue::openai::shell) execute commands.
pub fn local_shell() -> CatalogueTool<OpenAiLocalShell> {
    CatalogueTool::new(OpenAiLocalShell::new())
}
