//! The arguments of a call, as policies and approvers see them.
//!
//! A policy, a middleware, an approver and a digest must see exactly what the handler receives. A [`serde_json::Value`]
//! has no integers beyond 64 bits: it rounds them to the nearest float, which may be another number. Arguments that a
//! tree would round therefore have no tree here. They can be deserialized into types with 128-bit integers, or used as
//! text; code that requires the tree gets an error, and the call is rejected.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::handler::BoxError;
use crate::issue::Issues;
use crate::schema::{DecodeOptions, INEXACT};
use crate::tool::Tool;

/// Arguments that the tool accepts.
#[derive(Debug, Default)]
pub(crate) enum Arguments {
    /// The tree, which represents the arguments exactly.
    Exact(Value),
    /// No tree represents the arguments exactly; only their text and types with 128-bit integers do.
    #[default]
    TextOnly,
}

impl Arguments {
    /// Reads argument text with the checks that apply to the tool's handler.
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

    /// Reads argument text into a tree, or rejects it if no tree represents it exactly.
    pub(crate) fn tree(tool: &Tool, text: &str, options: &DecodeOptions) -> Result<Value, Issues> {
        match Self::read(tool, text, options)? {
            Self::Exact(tree) => Ok(tree),
            // Decoding the text again produces the issue that explains why there is no tree.
            Self::TextOnly => tool.parameters().decode_exactly(text, options).map(|decoded| decoded.value),
        }
    }
}

/// The arguments that an approval policy decides on.
pub(crate) struct PolicyArguments<'a> {
    /// The tree that represents them exactly, if there is one.
    tree: Option<&'a Value>,
    /// The text, to be decoded as the tool decodes it; `None` for arguments that never were text.
    text: Option<ArgumentText<'a>>,
}

/// Argument text with the tool and options to decode it.
#[derive(Clone, Copy)]
struct ArgumentText<'a> {
    tool: &'a Tool,
    written: &'a str,
    options: &'a DecodeOptions,
}

/// The error of a policy that reads the arguments as a type that does not accept them, although the tool does.
#[derive(Debug, thiserror::Error)]
#[error("the policy reads the arguments as `{type_name}`, which does not accept them: {issues}")]
struct PolicyTypeError {
    type_name: &'static str,
    #[source]
    issues: Issues,
}

impl<'a> PolicyArguments<'a> {
    /// Creates policy arguments from arguments that were read and the text they were read from.
    pub(crate) fn of(arguments: &'a Arguments, tool: &'a Tool, text: &'a str, options: &'a DecodeOptions) -> Self {
        let tree = match arguments {
            Arguments::Exact(tree) => Some(tree),
            Arguments::TextOnly => None,
        };
        Self { tree, text: Some(ArgumentText { tool, written: text, options }) }
    }

    /// Creates policy arguments from a tree.
    pub(crate) fn tree(tree: &'a Value) -> Self {
        Self { tree: Some(tree), text: None }
    }

    /// Deserializes the arguments into a type, exactly or not at all.
    pub(crate) fn read<P: DeserializeOwned>(&self) -> Result<P, BoxError> {
        let error = match self.tree.map(read_tree) {
            Some(Ok(read)) => return Ok(read),
            Some(Err(error)) => Some(error),
            None => None,
        };
        // A tree holds an integer beyond 64 bits as a float, which 128-bit integer types do not accept.
        match (self.text, error) {
            (Some(ArgumentText { tool, written, options }), _) => {
                let decoded = tool.parameters().decode_exactly(written, options);
                Ok(decoded.map_err(|issues| PolicyTypeError { type_name: std::any::type_name::<P>(), issues })?.value)
            }
            (None, Some(error)) => Err(error.into()),
            (None, None) => Err("there are no arguments".into()),
        }
    }
}

/// Deserializes a tree. An empty object stands for no arguments, so it is also read as `()`.
fn read_tree<P: DeserializeOwned>(arguments: &Value) -> Result<P, serde_json::Error> {
    P::deserialize(arguments).or_else(|error| match arguments {
        Value::Object(none) if none.is_empty() => P::deserialize(&Value::Null).map_err(|_| error),
        _ => Err(error),
    })
}
