//! Responses of model providers: recognising one, reading its calls, and writing the results that are sent back.

use std::sync::Arc;

use haft::conversation::Turn;
use haft::run::ToolResult;
use haft::tool::ToolDescriptor;

use super::record::quoted;
use crate::error::Fault;
use crate::input::TextInput;

/// A provider whose responses are read, and which results are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Provider {
    /// The Responses API of OpenAI
    Openai,
    /// The Chat Completions API of OpenAI and of compatible servers
    OpenaiChat,
    /// The Messages API of Anthropic
    Anthropic,
    /// The API of Gemini
    Gemini,
}

/// The results of a turn's calls, as a provider takes them back.
#[derive(Debug)]
pub(crate) struct WireResults {
    pub(crate) member: &'static str,
    pub(crate) json: String,
    pub(crate) dropped: Vec<String>,
}

impl Provider {
    /// Returns the name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::OpenaiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// Recognises the response of a provider.
    pub(crate) fn recognise(_: &str) -> Option<Self> {
        None
    }

    /// Reads a response, whole or streamed. The names and arguments of its calls are those of the tools.
    pub(crate) fn read(self, input: &TextInput, _: &[Arc<ToolDescriptor>]) -> Result<Turn, Fault> {
        Err(Fault::new(format!("{} can't be read as a response of {self}", quoted(&input.origin))))
    }

    /// Writes results as the provider takes them back.
    pub(crate) fn results(self, _: &Turn, _: &[ToolResult], _: &[Arc<ToolDescriptor>]) -> Result<WireResults, Fault> {
        Err(Fault::new(format!("the results can't be written for {self}")))
    }
}

impl std::fmt::Display for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
