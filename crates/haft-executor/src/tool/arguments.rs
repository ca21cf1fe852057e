//! The arguments of a call, as permits, policies and approvers see them.
//!
//! A permit, a policy, a middleware, an approver and a digest must see exactly what the handler receives. A
//! [`serde_json::Value`] has no integers beyond 64 bits: it rounds them to the nearest float, which may be another
//! number. Arguments that a tree would round therefore have no tree here. They can be deserialized into types with
//! 128-bit integers, or used as text; code that requires the tree gets an error, and the call is rejected.

use std::fmt;
use std::sync::OnceLock;

use haft_schema::internal::INEXACT;
use haft_schema::{DecodeOptions, Issues};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::handler::BoxError;
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

/// The decoded arguments of a call that a permit or a policy decides on: exactly what the handler would receive.
///
/// They are read when they are first needed, so a permit that ignores them costs nothing. Code that can't read them
/// gets an error and must deny the call: [`Permission`](crate::Permission) has no third state, and a permit that
/// returns the error denies.
///
/// ```
/// use haft_executor::CallArguments;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize)]
/// struct Transfer { cents: u64 }
///
/// let tree = json!({"cents": 5});
/// let arguments = CallArguments::from_tree(&tree);
/// assert_eq!(arguments.decode::<Transfer>()?.cents, 5);
/// assert_eq!(arguments.tree()?["cents"], 5);
/// assert!(arguments.decode::<String>().is_err());
/// # Ok::<_, haft_executor::BoxError>(())
/// ```
pub struct CallArguments<'a>(ArgumentForm<'a>);

enum ArgumentForm<'a> {
    /// A tree that never was text.
    Tree(&'a Value),
    /// Text, to be decoded as the tool decodes it.
    Text(ArgumentText<'a>),
}

/// Argument text with the tool and options to decode it.
#[derive(Clone, Copy)]
struct ArgumentText<'a> {
    tool: &'a Tool,
    written: &'a str,
    options: &'a DecodeOptions,
    /// The arguments, once they are read.
    read: &'a OnceLock<Arguments>,
}

/// The error of a permit or a policy that reads the arguments as a type that does not accept them, although the tool
/// does.
#[derive(Debug, thiserror::Error)]
#[error("the arguments were read as `{type_name}`, which does not accept them: {issues}")]
struct ArgumentTypeError {
    type_name: &'static str,
    #[source]
    issues: Issues,
}

impl<'a> CallArguments<'a> {
    /// Creates the arguments from a tree, to call a permit directly.
    #[must_use]
    pub fn from_tree(tree: &'a Value) -> Self {
        Self(ArgumentForm::Tree(tree))
    }

    /// Creates the arguments from their text. They are read into the cell when they are first needed.
    pub(crate) fn of(
        read: &'a OnceLock<Arguments>,
        tool: &'a Tool,
        written: &'a str,
        options: &'a DecodeOptions,
    ) -> Self {
        Self(ArgumentForm::Text(ArgumentText { tool, written, options, read }))
    }

    /// Deserializes the arguments into a type, exactly or not at all.
    ///
    /// # Errors
    ///
    /// The type does not accept the arguments, or would receive a rounded number, as a [`Value`] or a float does for an
    /// integer beyond 64 bits.
    pub fn decode<P: DeserializeOwned>(&self) -> Result<P, BoxError> {
        match self.0 {
            ArgumentForm::Tree(tree) => Ok(read_tree(tree)?),
            ArgumentForm::Text(text) => {
                if let Some(Ok(read)) = text.tree()?.map(read_tree) {
                    return Ok(read);
                }
                // A tree holds an integer beyond 64 bits as a float, which 128-bit integer types do not accept.
                text.decode()
            }
        }
    }

    /// Returns the arguments as a tree.
    ///
    /// # Errors
    ///
    /// No tree represents the arguments exactly, because they contain an integer beyond 64 bits.
    pub fn tree(&self) -> Result<&Value, BoxError> {
        match self.0 {
            ArgumentForm::Tree(tree) => Ok(tree),
            ArgumentForm::Text(text) => match text.tree()? {
                Some(tree) => Ok(tree),
                // Decoding the text again produces the issue that explains why there is no tree.
                None => Err(text.decode::<Value>().err().unwrap_or_else(|| INEXACT.into())),
            },
        }
    }
}

impl<'a> ArgumentText<'a> {
    /// Returns the tree that represents the arguments exactly, if there is one.
    fn tree(self) -> Result<Option<&'a Value>, BoxError> {
        let read = match self.read.get() {
            Some(read) => read,
            None => {
                let read = Arguments::read(self.tool, self.written, self.options)?;
                self.read.get_or_init(|| read)
            }
        };
        Ok(match read {
            Arguments::Exact(tree) => Some(tree),
            Arguments::TextOnly => None,
        })
    }

    fn decode<P: DeserializeOwned>(self) -> Result<P, BoxError> {
        let decoded = self.tool.parameters().decode_exactly(self.written, self.options);
        Ok(decoded.map_err(|issues| ArgumentTypeError { type_name: std::any::type_name::<P>(), issues })?.value)
    }
}

impl fmt::Debug for CallArguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: &dyn fmt::Debug = match &self.0 {
            ArgumentForm::Tree(tree) => tree,
            ArgumentForm::Text(text) => &text.written,
        };
        f.debug_tuple("CallArguments").field(shown).finish()
    }
}

/// Deserializes a tree. An empty object stands for no arguments, so it is also read as `()`.
fn read_tree<P: DeserializeOwned>(arguments: &Value) -> Result<P, serde_json::Error> {
    P::deserialize(arguments).or_else(|error| match arguments {
        Value::Object(none) if none.is_empty() => P::deserialize(&Value::Null).map_err(|_| error),
        _ => Err(error),
    })
}
