//! The calls that a command runs: plain ones, or those in a provider's response.
//!
//! ```text
//! text ─┬─ record.rs ─ plain.rs ─ name.rs ─┬─> ReadCalls
//!       └─ provider.rs ────────────────────┘
//! ```

pub(crate) mod name;
mod plain;
mod provider;
pub(crate) mod record;

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use haft::conversation::{Finish, Turn};
use haft::registry::Executor;
use haft::run::{Dispatch, ToolCall};
use haft::toolkit::{ToolSource, Toolkit};
use haft::wire::KnownWire;

use crate::error::CommandError;
use crate::input::TextInput;
use crate::wire::WireName;

/// The form of a text with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputForm {
    /// A provider's response.
    Response(KnownWire),
    /// Plain calls.
    Calls,
}

impl ValueEnum for InputForm {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<InputForm>> =
            LazyLock::new(|| KnownWire::ALL.map(InputForm::Response).into_iter().chain([InputForm::Calls]).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Response(wire) => {
                PossibleValue::new(wire.as_str()).help(format!("A response of the {}", wire.title()))
            }
            Self::Calls => PossibleValue::new("calls").help("Plain calls: a JSON array, one call, or a call per line"),
        })
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
pub(crate) fn read(input: &TextInput, form: Option<InputForm>, executor: &Executor) -> Result<ReadCalls, CommandError> {
    let provider = match form {
        Some(InputForm::Response(wire)) => Some(WireName(wire)),
        Some(InputForm::Calls) => None,
        None => WireName::recognise(&input.text),
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
