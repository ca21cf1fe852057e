//! Google's code execution.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::google::executed;
use crate::catalogue::typed::{open_enum, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`code_execution`], which takes none.
    pub struct GoogleCodeExecution {}
}

/// A call to [`code_execution`]: a part's `executableCode`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ExecutableCode {
    /// The code.
    pub code: String,
    /// The language, which is `PYTHON`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// A call's result: a part's `codeExecutionResult`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ExecutedCode {
    /// The execution's end.
    pub outcome: ExecutedOutcome,
    /// The text that the code printed, including errors if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

open_enum! {
    /// An execution's end.
    pub enum ExecutedOutcome {
        /// The code was executed.
        #[serde(rename = "OUTCOME_OK")]
        Ok,
        /// The code failed.
        #[serde(rename = "OUTCOME_FAILED")]
        Failed,
        /// The code took too long.
        #[serde(rename = "OUTCOME_DEADLINE_EXCEEDED")]
        DeadlineExceeded,
    }
}

impl CatalogueSettings for GoogleCodeExecution {
    const ENTRY: CatalogueEntry =
        executed("google.code_execution", "GoogleCodeExecution", "code_execution", "codeExecution")
            .reported(&[], "executableCode", &["codeExecutionResult"])
            .types::<Self>();
    type Params = ExecutableCode;
    type Success = ExecutedCode;
    type Failure = NoFailure;
}

/// Creates the tool with which a model runs Python code in a container that the provider runs.
pub fn code_execution() -> CatalogueTool<GoogleCodeExecution> {
    CatalogueTool::new(GoogleCodeExecution::new())
}
