//! The arguments of a call, as those who decide about it see them.
//!
//! A policy, a middleware, a person and a digest must see what the handler is given, not something near it. A
//! [`serde_json::Value`] has no integers beyond 64 bits: it holds the float next to one. So arguments that a tree would
//! round have no tree here. They are read into types that take such integers, or by their text; whoever wants the tree is
//! told that there is none, and the call goes no further.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::handler::BoxError;
use crate::issue::{CharBoundary, Issue, Issues};
use crate::schema::{DecodeOptions, wide_integer};
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
        let issues = match tool.parameters().decode_exactly::<Value>(text, options) {
            Ok(decoded) => return Ok(Self::Exact(decoded.value)),
            Err(issues) => issues,
        };
        let Some(integer) = wide_integer(text) else { return Err(issues) };
        match tool.handler() {
            Some(handler) => handler.check(tool, text, options).map(|()| Self::TextOnly),
            None if issues.iter().all(|issue| issue.keyword == "decode") => Err(inexact(integer)),
            None => Err(issues),
        }
    }

    /// Reads argument text into a tree, or rejects what no tree holds.
    pub(crate) fn tree(tool: &Tool, text: &str, options: &DecodeOptions) -> Result<Value, Issues> {
        match Self::read(tool, text, options)? {
            Self::Exact(tree) => Ok(tree),
            Self::TextOnly => Err(inexact(wide_integer(text).unwrap_or_default())),
        }
    }
}

/// Arguments that a policy decides on.
pub(crate) enum Decisive<'a> {
    /// A tree that holds them exactly.
    Tree(&'a Value),
    /// Their text, to be read as the tool reads it.
    Text { tool: &'a Tool, text: &'a str, options: &'a DecodeOptions },
}

impl<'a> Decisive<'a> {
    /// The arguments as far as they were read, and the text they were read from.
    pub(crate) fn of(arguments: &'a Arguments, tool: &'a Tool, text: &'a str, options: &'a DecodeOptions) -> Self {
        match arguments {
            Arguments::Exact(tree) => Self::Tree(tree),
            Arguments::TextOnly => Self::Text { tool, text, options },
        }
    }

    /// Reads the arguments into a type, exactly or not at all.
    pub(crate) fn read<P: DeserializeOwned>(&self) -> Result<P, BoxError> {
        match self {
            Self::Tree(tree) => Ok(read_tree(tree)?),
            Self::Text { tool, text, options } => Ok(tool.parameters().decode_exactly(text, options)?.value),
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

/// Arguments that would have to be rounded for those who look at them.
fn inexact(integer: &str) -> Issues {
    const LONGEST: usize = 60;
    let (shown, rest) = integer.split_at(integer.floor_char_boundary_at(LONGEST));
    let more = if rest.is_empty() { "" } else { "…" };
    let message =
        format!("the integer {shown}{more} is beyond 64 bits and can't be checked exactly; send a smaller one");
    Issue::new("", "exact", message).expected("integers of at most 64 bits").found(format!("{shown}{more}")).into()
}
