//! Why a tool can't be defined as written.
//!
//! A definition is refused once, with everything that is wrong in it, so its author mends it in one go. These are
//! errors of the application's author; a model never sees one.

use std::fmt;

use crate::issue::Issues;
use crate::schema::SchemaError;

/// A tool that can't be defined: all faults at once.
///
/// ```
/// use haft_core::Tool;
///
/// let error = Tool::new(" ").params::<u8>().example("seven").define().unwrap_err();
/// assert_eq!(error.faults.len(), 2);
/// assert!(error.to_string().contains("the name is blank; example 0 does not fit the parameters"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DefinitionError {
    /// The name the tool was to have.
    pub tool: String,
    /// Everything that is wrong, in the order it was met. Never empty.
    pub faults: Vec<DefinitionFault>,
}

/// One thing that is wrong with a definition.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionFault {
    /// The name can't be used.
    #[error("the name {0}")]
    Name(NameFault),
    /// A schema can't be used.
    #[error("the {part} schema is invalid: {issues}")]
    Schema {
        /// Which schema.
        part: SchemaPart,
        /// All faults of the schema, each at its place.
        #[source]
        issues: Issues,
    },
    /// An example doesn't fit the parameters.
    #[error("example {index} does not fit the parameters: {issues}")]
    Example {
        /// Which example, counted from zero.
        index: usize,
        /// Where it doesn't fit.
        #[source]
        issues: Issues,
    },
    /// The id of a provider-defined tool has the wrong form.
    #[error("the provider id `{0}` is not of the form `vendor.tool`")]
    ProviderId(String),
    /// The settings of a provider-defined tool don't fit their schema.
    #[error("the provider arguments do not fit their schema: {0}")]
    ProviderArgs(#[source] Issues),
    /// A setting that a tool of this kind cannot honour: nothing here runs its calls, or nothing could prevent them.
    #[error("{kind} tools do not support {setting}")]
    Unsupported {
        /// The setting.
        setting: &'static str,
        /// The kind of tool.
        kind: &'static str,
    },
    /// A handler was given to a tool that is never run here.
    #[error("{0} tools take no handler")]
    HandlerNotAllowed(&'static str),
    /// A limit of zero would let no call finish.
    #[error("the limit `{0}` is zero")]
    ZeroLimit(&'static str),
    /// A handler of plain values returns a `Result`, which would be sent to the model as `{"Ok": …}`.
    #[error("the handler returns a `Result`: use `try_run`")]
    ReturnsResult,
    /// `to_model_output` reads another type than the handler returns.
    #[error("`to_model_output` reads `{reads}`, but the handler returns `{returns}`")]
    ModelOutputType {
        /// The type the function takes.
        reads: &'static str,
        /// The type the handler returns.
        returns: &'static str,
    },
}

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// Nothing there.
    #[error("is empty")]
    Empty,
    /// Nothing but white space.
    #[error("is blank")]
    Blank,
    /// Longer than [`MAX_NAME_LEN`].
    #[error("is {0} bytes long, more than {MAX_NAME_LEN}")]
    TooLong(usize),
    /// A line break, a tab or another control character.
    #[error("contains the control character {0:?}")]
    Control(char),
}

/// Which of a tool's schemas is meant.
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
}

/// The longest name of a tool, in bytes. Wires shorten names reversibly where they must.
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
    /// Everything that is wrong with `name`.
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
        write!(f, "the tool `{}` is not well defined: ", self.tool.escape_debug())?;
        for (index, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

/// Without a source: the message says all faults, and a report that prints sources would say one of them twice.
impl std::error::Error for DefinitionError {}

impl fmt::Display for SchemaPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parameters => "parameter",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Args => "provider argument",
        })
    }
}
