//! OpenAI's calls of tools by programs.

use haft_core::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::openai::executed;
use crate::catalogue::typed::settings;
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// The settings of [`programmatic_tool_calling`], of which there are none.
    pub struct OpenAiProgrammaticToolCalling {}
}

/// A program that calls tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ProgramCall {
    /// The code.
    pub code: String,
}

/// The result of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ProgramResult {
    /// The result.
    pub result: String,
    /// The status of the program.
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

/// Creates the tool by which a model writes programs that call other tools. Which of them they may call is stated by
/// [`allowed_caller`](haft_core::ProviderOptions::allowed_caller) of these tools.
pub fn programmatic_tool_calling() -> CatalogueTool<OpenAiProgrammaticToolCalling> {
    CatalogueTool::new(OpenAiProgrammaticToolCalling::new())
}
