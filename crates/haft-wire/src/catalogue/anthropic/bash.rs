//! Anthropic's shell.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::function;
use crate::catalogue::typed::settings;
use crate::catalogue::{ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`bash`], which takes none.
    pub struct AnthropicBash {}
}

/// A call to [`bash`]: a command, or a request to restart the shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BashCall {
    /// The command. Absent if the call restarts the shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Set to restart the shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<bool>,
}

impl CatalogueSettings for AnthropicBash {
    const ENTRY: CatalogueEntry =
        function("anthropic.bash_20250124", "AnthropicBash", "bash", "bash_20250124").types::<Self>();
    type Params = BashCall;
    type Success = String;
    type Failure = NoFailure;
}

impl ApplicationTool for AnthropicBash {}

/// Creates the tool with which Claude uses a shell that your application provides. The result is the command's output.
///
/// ```
/// use haft_wire::catalogue::anthropic::{self, BashCall};
///
/// let bash = anthropic::bash().handler(|call: BashCall, _cx| async move { call.command.unwrap_or_default() })?;
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
pub fn bash() -> CatalogueTool<AnthropicBash> {
    CatalogueTool::new(AnthropicBash::new())
}
