//! The calls that a command runs: plain ones, or those in a provider's response.
//!
//! ```text
//! text ─┬─ record.rs ─ plain.rs ─ name.rs ─┬─> ReadCalls
//!       └─ provider.rs ────────────────────┘
//! ```

pub(crate) mod name;
mod plain;
pub(crate) mod provider;
pub(crate) mod record;

use haft::conversation::{Finish, Turn};
use haft::registry::Executor;
use haft::run::{Dispatch, ToolCall};
use haft::toolkit::{ToolSource, Toolkit};

use self::provider::Provider;
use crate::error::CommandError;
use crate::input::TextInput;

/// The form of a text with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CallForm {
    /// A response of the Responses API of OpenAI
    Openai,
    /// A response of the Chat Completions API
    OpenaiChat,
    /// A response of the Messages API of Anthropic
    Anthropic,
    /// A response of Gemini
    Gemini,
    /// Plain calls: a JSON array, one call, or a call per line
    Calls,
}

impl CallForm {
    fn provider(self) -> Option<Provider> {
        match self {
            Self::Openai => Some(Provider::Openai),
            Self::OpenaiChat => Some(Provider::OpenaiChat),
            Self::Anthropic => Some(Provider::Anthropic),
            Self::Gemini => Some(Provider::Gemini),
            Self::Calls => None,
        }
    }
}

/// Calls with the tools that run them.
#[derive(Debug)]
pub(crate) struct ReadCalls {
    /// The model's turn. For plain calls it has nothing else.
    pub(crate) turn: Turn,
    /// The calls that are to be run.
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) tools: Toolkit,
}

/// Reads calls. Without a form it is recognised.
pub(crate) fn read(input: &TextInput, form: Option<CallForm>, executor: &Executor) -> Result<ReadCalls, CommandError> {
    let provider = match form {
        Some(form) => form.provider(),
        None => Provider::recognise(&input.text),
    };
    let Some(provider) = provider else {
        let mut calls = plain::read(input)?;
        name::resolve(&mut calls, executor);
        let tools = name::tools_for(&calls, executor)?;
        let turn = Turn::new(calls.iter().cloned().map(Into::into).collect(), Finish::ToolCalls);
        return Ok(ReadCalls { turn, calls, tools });
    };
    let turn = provider.read(input, &executor.list(&executor.options()))?;
    let calls = turn.tool_calls();
    Ok(ReadCalls { turn, calls, tools: executor.snapshot().toolkit().clone() })
}
