//! The arguments of a call, as those who decide about it see them.
//!
//! A policy, a middleware, a person and a digest must see what the handler is given, not something near it. A
//! [`serde_json::Value`] has no integers beyond 64 bits: it holds the float next to one, which may be another number. So
//! arguments that a tree would round have no tree here. They are read into types that take such integers, or by their text; whoever wants the tree is
//! told that there is none, and the call goes no further.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::handler::BoxError;
use crate::issue::Issues;
use crate::schema::{DecodeOptions, INEXACT};
use crate::tool::Tool;

/// Arguments that the tool accepts.
#[derive(Debug, Default)]
pub(crate) enum Arguments {
    /// The tree, which holds them exactly.
    Exact(Value),
    /// No tree holds them: only their text, and types of more than 64 bits.
    #[default]
    TextOnly,
}

impl Arguments {
    /// Reads argument text as the tool's handler would accept it.
    pub(crate) fn read(tool: &Tool, text: &str, options: &DecodeOptions) -> Result<Self, Issues> {
        match tool.parameters().decode_exactly::<Value>(text, options) {
            Ok(decoded) => Ok(Self::Exact(decoded.value)),
            Err(issues) if issues.iter().all(|issue| issue.keyword == INEXACT) => match tool.handler() {
                Some(handler) => handler.check(tool, text, options).map(|()| Self::TextOnly),
                None => Err(issues),
            },
            Err(issues) => Err(issues),
        }
    }

    /// Reads argument text into a tree, or rejects what no tree holds.
    pub(crate) fn tree(tool: &Tool, text: &str, options: &DecodeOptions) -> Result<Value, Issues> {
        match Self::read(tool, text, options)? {
            Self::Exact(tree) => Ok(tree),
            // Reading it again says why there is no tree.
            Self::TextOnly => tool.parameters().decode_exactly(text, options).map(|decoded| decoded.value),
        }
    }
}

/// Arguments that a policy decides on.
pub(crate) struct PolicyArguments<'a> {
    /// A tree that holds them exactly, if there is one.
    tree: Option<&'a Value>,
    /// The text, to be read as the tool reads it; not there for arguments that never were text.
    text: Option<ArgumentText<'a>>,
}

/// Argument text, and what it takes to read it.
#[derive(Clone, Copy)]
struct ArgumentText<'a> {
    tool: &'a Tool,
    written: &'a str,
    options: &'a DecodeOptions,
}

impl<'a> PolicyArguments<'a> {
    /// Takes the arguments as far as they were read, and the text they were read from.
    pub(crate) fn of(arguments: &'a Arguments, tool: &'a Tool, text: &'a str, options: &'a DecodeOptions) -> Self {
        let tree = match arguments {
            Arguments::Exact(tree) => Some(tree),
            Arguments::TextOnly => None,
        };
        Self { tree, text: Some(ArgumentText { tool, written: text, options }) }
    }

    /// Takes arguments that somebody has as a tree.
    pub(crate) fn tree(tree: &'a Value) -> Self {
        Self { tree: Some(tree), text: None }
    }

    /// Reads the arguments into a type, exactly or not at all.
    pub(crate) fn read<P: DeserializeOwned>(&self) -> Result<P, BoxError> {
        let error = match self.tree.map(read_tree) {
            Some(Ok(read)) => return Ok(read),
            Some(Err(error)) => Some(error),
            None => None,
        };
        // A tree holds an integer beyond 64 bits as a float, which no type of 128 bits takes.
        match (self.text, error) {
            (Some(ArgumentText { tool, written, options }), _) => {
                Ok(tool.parameters().decode_exactly(written, options)?.value)
            }
            (None, Some(error)) => Err(error.into()),
            (None, None) => Err("there are no arguments".into()),
        }
    }
}

/// No arguments are an empty object, which is nothing to those who read a `()`.
fn read_tree<P: DeserializeOwned>(arguments: &Value) -> Result<P, serde_json::Error> {
    P::deserialize(arguments).or_else(|error| match arguments {
        Value::Object(none) if none.is_empty() => P::deserialize(&Value::Null).map_err(|_| error),
        _ => Err(error),
    })
}
