//! OpenAI's tool calls from programs.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::openai::executed;
use crate::catalogue::typed::settings;
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`programmatic_tool_calling`], which takes none.
    pub struct OpenAiProgrammaticToolCalling {}
}

/// A program that calls tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ProgramCall {
    /// The code.
    pub code: String,
}

/// A program's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ProgramResult {
    /// The result.
    pub result: String,
    /// The program's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

impl CatalogueSettings for OpenAiProgrammaticToolCalling {
    const ENTRY: CatalogueEntry = executed(
        "openai.programmatic_tool_calling",
        "OpenAiProgrammaticToolCalling",
        "programmatic_tool_calling",
        "program",
    )
    .reported(&[], "program", &["program_output"])
    .types::<Self>();
    type Params = ProgramCall;
    type Success = ProgramResult;
    type Failure = NoFailure;
}

/// Creates the tool with which a model writes programs that call other tools. Set
/// [`allowed_caller`](haft_core::ProviderOptions::allowed_caller) on the tools that programs may call.
pub fn programmatic_tool_calling() -> CatalogueTool<OpenAiProgrammaticToolCalling> {
    CatalogueTool::new(OpenAiProgrammaticToolCalling::new())
}
