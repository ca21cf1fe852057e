//! OpenAI's shell.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::item::PlainForm;
use crate::catalogue::openai::{MemoryLimit, NetworkPolicy, handled};
use crate::catalogue::typed::settings;
use crate::catalogue::{ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`shell`].
    pub struct OpenAiShell {
        optional {
            /// The environment. By default it is your application.
            environment: ShellEnvironment,
        }
    }
}

/// The environment in which commands are executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ShellEnvironment {
    /// The application, which requires a handler.
    Local {
        /// The skills that the application has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skills: Option<Vec<LocalSkill>>,
    },
    /// A new container that the provider runs.
    ContainerAuto {
        /// The files that it contains, by their ids.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_ids: Option<Vec<String>>,
        /// Its memory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory_limit: Option<MemoryLimit>,
        /// Its access to the network.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network_policy: Option<NetworkPolicy>,
        /// The skills that it has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skills: Option<Vec<ContainerSkill>>,
    },
    /// An existing container that the provider runs.
    ContainerReference {
        /// The container's id.
        container_id: String,
    },
}

/// A skill that the application has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalSkill {
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The path to the directory that contains the skill.
    pub path: String,
}

/// A container's skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ContainerSkill {
    /// A skill that was uploaded.
    SkillReference {
        /// The skill's id.
        skill_id: String,
        /// The version, or `latest`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// A skill that the request contains.
    Inline {
        /// The name.
        name: String,
        /// The description.
        description: String,
        /// The content.
        source: SkillSource,
    },
}

/// A skill's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum SkillSource {
    /// A file.
    Base64 {
        /// The MIME type, `application/zip`.
        media_type: String,
        /// The file, in base64.
        data: String,
    },
}

/// A call to [`shell`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ShellCall {
    /// The action.
    pub action: ShellAction,
}

/// An action for [`shell`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ShellAction {
    /// The commands, which may be executed concurrently.
    pub commands: Vec<String>,
    /// Each command's timeout in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// The most characters to return for each command's output. Your result must repeat it.
    #[serde(default)]
    pub max_output_length: Option<u64>,
}

/// A result from [`shell`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ShellOutput {
    /// The commands' results, in order.
    pub output: Vec<CommandOutput>,
    /// The call's maximum output length, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_length: Option<u64>,
}

/// A command's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CommandOutput {
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
    /// The command's end.
    pub outcome: CommandEnd,
}

/// A command's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommandEnd {
    /// The command has exited.
    Exit {
        /// The exit code.
        exit_code: i32,
    },
    /// The command has timed out.
    Timeout {},
}

impl ShellEnvironment {
    /// Returns a new container with default properties.
    #[must_use]
    pub fn container() -> Self {
        Self::ContainerAuto { file_ids: None, memory_limit: None, network_policy: None, skills: None }
    }
}

impl CommandOutput {
    /// Creates a result for a command that has exited.
    #[must_use]
    pub fn exit(exit_code: i32, stdout: impl Into<String>, stderr: impl Into<String>) -> Self {
        Self { stdout: stdout.into(), stderr: stderr.into(), outcome: CommandEnd::Exit { exit_code } }
    }

    /// Creates a result for a command that timed out, with its output until then.
    #[must_use]
    pub fn timeout(stdout: impl Into<String>, stderr: impl Into<String>) -> Self {
        Self { stdout: stdout.into(), stderr: stderr.into(), outcome: CommandEnd::Timeout {} }
    }
}

impl ShellAction {
    /// Creates this action's result.
    #[must_use]
    pub fn result(&self, outputs: impl IntoIterator<Item = CommandOutput>) -> ShellOutput {
        ShellOutput { output: outputs.into_iter().collect(), max_output_length: self.max_output_length }
    }
}

impl CatalogueSettings for OpenAiShell {
    const ENTRY: CatalogueEntry = handled("openai.shell", "OpenAiShell", "shell")
        .items("shell_call", &["action"], "shell_call_output", PlainForm::Commands)
        .executed_by("/environment/type", &[None, Some("local")])
        .types::<Self>();
    type Params = ShellCall;
    type Success = ShellOutput;
    type Failure = NoFailure;
}

impl ApplicationTool for OpenAiShell {}

/// Creates the tool with which a model executes commands: in your application, or in a container that the provider
/// runs.
///
/// ```
/// use haft_wire::catalogue::openai::{self, CommandOutput, ShellCall, ShellEnvironment};
///
/// let local = openai::shell().handler(|call: ShellCall, _cx| async move {
///     call.action.result(call.action.commands.iter().map(|command| CommandOutput::exit(0, command, "")))
/// })?;
/// let hosted = openai::shell().environment(ShellEnvironment::container()).define()?;
/// assert!(!hosted.descriptor().requires_handler());
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
pub fn shell() -> CatalogueTool<OpenAiShell> {
    CatalogueTool::new(OpenAiShell::new())
}
