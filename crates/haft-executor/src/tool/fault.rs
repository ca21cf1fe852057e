//! Faults of a tool definition.
//!
//! A definition is rejected once, with all its faults, so that its author can fix them together. These are errors of
//! the application's author; a model never reads one.

use std::fmt;
use std::sync::Arc;

use haft_schema::{Issue, Issues, SchemaError};

/// An invalid definition, with all its faults.
///
/// ```
/// use haft_executor::Tool;
///
/// let error = Tool::new(" ").params::<u8>().example("seven").define().unwrap_err();
/// assert_eq!(error.faults.len(), 2);
/// assert!(error.to_string().contains("the name is blank; example 0 is invalid"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DefinitionError {
    /// The name that the tool was to have.
    pub tool: String,
    /// All faults, in the order they were found. Never empty.
    pub faults: Vec<DefinitionFault>,
}

/// One fault of a definition.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionFault {
    /// The name is invalid.
    #[error("the name {0}")]
    Name(NameFault),
    /// The id is invalid.
    #[error("the id {0}")]
    Id(NameFault),
    /// A member of the tool's MCP form is missing or invalid. See [`Tool::from_mcp`](crate::Tool::from_mcp).
    #[error("{0}")]
    Member(Issue),
    /// An annotation that descriptors contain can't be encoded as JSON.
    #[error("the annotation `{key}` can't be encoded as JSON: {error}")]
    Annotation {
        /// The key of the annotation.
        key: &'static str,
        /// The reason.
        #[source]
        error: Arc<serde_json::Error>,
    },
    /// A schema is invalid.
    #[error("the {part} schema is invalid: {issues}")]
    Schema {
        /// The schema that is invalid.
        part: SchemaPart,
        /// All faults of the schema, each with its location.
        #[source]
        issues: Issues,
    },
    /// An example is not valid for the parameters.
    #[error("example {index} is invalid: {issues}")]
    Example {
        /// The index of the example.
        index: usize,
        /// The reasons why it is invalid.
        #[source]
        issues: Issues,
    },
    /// The id of a provider-defined tool has the wrong form.
    #[error("the provider id `{0}` is not of the form `vendor.tool`")]
    ProviderId(String),
    /// The settings of a provider-defined tool are not valid for their schema.
    #[error("the provider arguments are invalid: {0}")]
    ProviderArgs(#[source] Issues),
    /// A setting that a tool of this kind does not support, because its calls are not executed here or can't be
    /// prevented.
    #[error("{kind} tools do not support {setting}")]
    Unsupported {
        /// The setting.
        setting: &'static str,
        /// The kind of tool.
        kind: &'static str,
    },
    /// A tool that is never executed here has a handler.
    #[error("{0} tools do not support a handler")]
    HandlerNotAllowed(&'static str),
    /// A limit is zero, so no call could finish.
    #[error("the limit `{0}` is zero, so no call could finish")]
    ZeroLimit(&'static str),
    /// A JSON Pointer at which the tool has no argument.
    #[error("the tool has no argument at `{0}`; write a JSON Pointer such as `/path`")]
    NoArgument(String),
    /// An infallible handler returns a `Result`, which would be sent to the model as `{"Ok": …}`.
    #[error("the handler returns a `Result`: use `try_handler`")]
    ReturnsResult,
    /// `to_model_output` takes another type than the handler returns.
    #[error("`to_model_output` takes `{reads}`, but the handler returns `{returns}`")]
    ModelOutputType {
        /// The type the function takes.
        reads: &'static str,
        /// The type the handler returns.
        returns: &'static str,
    },
}

/// A fault of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// The name is empty.
    #[error("is empty")]
    Empty,
    /// The name consists of white space.
    #[error("is blank")]
    Blank,
    /// The name is longer than [`MAX_NAME_LEN`].
    #[error("is {0} bytes long, more than {MAX_NAME_LEN}")]
    TooLong(usize),
    /// The name contains a line break, a tab or another control character.
    #[error("contains the control character {0:?}")]
    Control(char),
}

/// One of the schemas of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaPart {
    /// The arguments of a call.
    Parameters,
    /// The result of a call.
    Success,
    /// The declared failure of a call.
    Failure,
    /// The settings of a provider-defined tool.
    Args,
    /// The values that a call emits.
    Emits,
}

/// The maximum length of a tool's name, in bytes. Wire formats with a lower limit shorten names reversibly.
pub const MAX_NAME_LEN: usize = 512;

impl DefinitionError {
    pub(crate) fn check(tool: &str, faults: Vec<DefinitionFault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self { tool: tool.to_owned(), faults }) }
    }
}

impl DefinitionFault {
    pub(crate) fn schema(part: SchemaPart, error: &SchemaError) -> Self {
        Self::Schema { part, issues: error.issues().clone() }
    }

    pub(crate) fn is_about_parameters(&self) -> bool {
        matches!(self, Self::Schema { part: SchemaPart::Parameters, .. })
    }
}

impl NameFault {
    /// Returns all faults of `name`.
    pub(crate) fn of(name: &str) -> Vec<Self> {
        if name.is_empty() {
            return vec![Self::Empty];
        }
        let mut faults = Vec::new();
        if name.trim().is_empty() {
            faults.push(Self::Blank);
        }
        if name.len() > MAX_NAME_LEN {
            faults.push(Self::TooLong(name.len()));
        }
        faults.extend(name.chars().find(|c| c.is_control()).map(Self::Control));
        faults
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tool.as_str() {
            "" => f.write_str("the definition of a tool without a name is invalid: ")?,
            tool => write!(f, "the definition of the tool `{}` is invalid: ", tool.escape_debug())?,
        }
        for (index, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

/// There is no source: the message contains all faults, and a report that prints sources would repeat one of them.
impl std::error::Error for DefinitionError {}

impl fmt::Display for SchemaPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parameters => "parameter",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Emits => "`emits`",
            Self::Args => "provider argument",
        })
    }
}
