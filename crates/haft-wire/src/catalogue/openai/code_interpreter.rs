//! OpenAI's code interpreter.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::openai::{MemoryLimit, NetworkPolicy, executed};
use crate::catalogue::typed::settings;
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, IntoSetting};

settings! {
    /// Settings for [`code_interpreter`].
    pub struct OpenAiCodeInterpreter {
        required {
            /// The container.
            container: InterpreterContainer,
        }
    }
}

/// The container that a code interpreter runs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum InterpreterContainer {
    /// An existing container, by its id.
    Id(String),
    /// A container that is created.
    New(NewContainer),
}

/// A container that is created for a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum NewContainer {
    /// A container with these properties.
    Auto {
        /// The files that it contains, by their ids.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_ids: Option<Vec<String>>,
        /// Its memory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory_limit: Option<MemoryLimit>,
        /// Its access to the network.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network_policy: Option<NetworkPolicy>,
    },
}

/// A call to [`code_interpreter`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct InterpreterCall {
    /// The code. Absent if the provider does not reveal it.
    #[serde(default)]
    pub code: Option<String>,
    /// The container's id.
    pub container_id: String,
}

/// A result from [`code_interpreter`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct InterpreterResult {
    /// The outputs. Absent unless the request includes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<InterpreterOutput>>,
    /// The code. Absent if the provider does not reveal it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The container's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_id: Option<String>,
    /// The call's status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// A code interpreter's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum InterpreterOutput {
    /// Text that the code has printed.
    Logs {
        /// The text.
        logs: String,
    },
    /// An image.
    Image {
        /// The image's address.
        url: String,
    },
}

impl InterpreterContainer {
    /// Returns a container that is created with default properties.
    #[must_use]
    pub fn auto() -> Self {
        Self::New(NewContainer::Auto { file_ids: None, memory_limit: None, network_policy: None })
    }
}

impl IntoSetting<InterpreterContainer> for &str {
    /// Returns the existing container with this id.
    fn into_setting(self) -> InterpreterContainer {
        InterpreterContainer::Id(self.to_owned())
    }
}

impl CatalogueSettings for OpenAiCodeInterpreter {
    const ENTRY: CatalogueEntry =
        executed("openai.code_interpreter", "OpenAiCodeInterpreter", "code_interpreter", "code_interpreter_call")
            .types::<Self>();
    type Params = InterpreterCall;
    type Success = InterpreterResult;
    type Failure = NoFailure;
}

/// Creates the tool with which a model runs Python code in a container that the provider runs.
///
/// ```
/// use haft_wire::catalogue::openai::{self, InterpreterContainer};
///
/// let new = openai::code_interpreter(InterpreterContainer::auto()).define()?;
/// let existing = openai::code_interpreter("cntr_1").name("python").define()?;
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
pub fn code_interpreter(container: impl IntoSetting<InterpreterContainer>) -> CatalogueTool<OpenAiCodeInterpreter> {
    CatalogueTool::new(OpenAiCodeInterpreter::new(container.into_setting()))
}
