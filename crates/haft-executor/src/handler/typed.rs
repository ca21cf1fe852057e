//! Calls and results, read with the types of their tools.
//!
//! ```text
//! ToolCall ── T::decode, Typed::decode ──> T::Params       one tool
//!    │
//!    └─────── ToolCalls::decode ─────────> enum AppCall    all tools of a program, for a `match`
//!
//! ToolResult ─── T::read ────────────────> Result<T::Success, CallError<T::Failure>>
//! ```
//!
//! Reading runs no handler and asks no permit or policy: a decoded call was neither permitted nor approved. Arguments
//! are checked by the schema of their type, in the same way as by the tool that runs them; results were checked when
//! they were made.

mod derived;
mod error;
mod tool_calls;

use std::fmt;

use haft_core::internal::{decode_output, quoted};
use haft_core::{CallId, FailureKind, Outcome, ToolCall, ToolFailure, ToolResult};
use haft_schema::{DecodeOptions, Decoded, JsonText, Repair, Schema};
use serde::de::DeserializeOwned;

pub use self::derived::{OffersTool, OffersValue};
pub use self::error::CallDecodeError;
pub use self::tool_calls::{CallVariant, ToolCalls};
use crate::executor::CallError;
use crate::handler::{ToolType, broken, invalid_input};

/// A call of the tool `T` with its decoded parameters.
///
/// ```
/// use haft_executor::{NoFailure, ToolType, Typed};
/// use haft_core::ToolCall;
///
/// struct Double;
///
/// impl ToolType for Double {
///     const NAME: &'static str = "double";
///     type Params = u8;
///     type Success = u16;
///     type Failure = NoFailure;
///     type Services = ();
/// }
///
/// let typed: Typed<Double> = Typed::decode(ToolCall::new("c1", "double", "21"))?;
/// assert_eq!((typed.call_id().as_str(), typed.params), ("c1", 21));
/// # Ok::<_, haft_executor::CallDecodeError>(())
/// ```
#[non_exhaustive]
pub struct Typed<T: ToolType> {
    /// The call, with its id and metadata.
    pub call: ToolCall,
    /// The decoded parameters.
    pub params: T::Params,
    /// The repairs of the arguments; empty unless the options allowed repairs and some were needed.
    pub repairs: Vec<Repair>,
}

impl<T: ToolType> Typed<T> {
    /// Decodes a call of the tool, as [`ToolType::decode`] does, and keeps the call.
    pub fn decode(call: impl Into<ToolCall>) -> Result<Self, CallDecodeError> {
        Self::decode_as(T::NAME, call, &DecodeOptions::DEFAULT)
    }

    /// Decodes a call of the tool under another name and with options, as [`ToolType::decode_as`] does, and keeps the
    /// call.
    pub fn decode_as(name: &str, call: impl Into<ToolCall>, options: &DecodeOptions) -> Result<Self, CallDecodeError> {
        let call = call.into();
        let decoded = decode_params::<T>(name, &call, options);
        Self::keep(call, decoded)
    }

    /// Decodes a call that is known to be one of the tool, whatever its name, and keeps the call.
    pub fn decode_known(call: ToolCall, options: &DecodeOptions) -> Result<Self, CallDecodeError> {
        let decoded = decode_arguments::<T>(&call, options);
        Self::keep(call, decoded)
    }

    /// Returns the id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call.call_id
    }

    fn keep(call: ToolCall, decoded: Result<Decoded<T::Params>, ToolFailure>) -> Result<Self, CallDecodeError> {
        match decoded {
            Ok(Decoded { value: params, repairs, .. }) => Ok(Self { call, params, repairs }),
            Err(failure) => Err(CallDecodeError::new(call, failure)),
        }
    }
}

impl<T: ToolType<Params: Clone>> Clone for Typed<T> {
    fn clone(&self) -> Self {
        Self { call: self.call.clone(), params: self.params.clone(), repairs: self.repairs.clone() }
    }
}

impl<T: ToolType<Params: PartialEq>> PartialEq for Typed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.call == other.call && self.params == other.params && self.repairs == other.repairs
    }
}

/// Omits the arguments: they are the model's, and don't belong in every log.
impl<T: ToolType> fmt::Debug for Typed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed").field("call_id", self.call_id()).field("tool", &self.call.name).finish_non_exhaustive()
    }
}

impl<T: ToolType> From<Typed<T>> for ToolCall {
    fn from(typed: Typed<T>) -> Self {
        typed.call
    }
}

/// Decodes a call of the tool `T`, which has this name.
pub(crate) fn decode_params<T: ToolType>(
    name: &str,
    call: &ToolCall,
    options: &DecodeOptions,
) -> Result<Decoded<T::Params>, ToolFailure> {
    if call.name == name { decode_arguments::<T>(call, options) } else { Err(other_tool(name, call)) }
}

fn decode_arguments<T: ToolType>(call: &ToolCall, options: &DecodeOptions) -> Result<Decoded<T::Params>, ToolFailure> {
    // The tool could not have been built with such a schema.
    let schema = Schema::kept_params::<T::Params>().map_err(broken)?;
    schema.decode(&call.arguments, options).map_err(invalid_input)
}

#[cold]
fn other_tool(name: &str, call: &ToolCall) -> ToolFailure {
    let message = format!("the call is of the tool {}, not of {}", quoted(&call.name), quoted(name));
    ToolFailure::new(FailureKind::UnknownTool, message)
}

/// Reads a result of the tool `T`. A declared failure that is not of the tool's type is a fault like any other.
pub(crate) fn read_result<T>(result: &ToolResult) -> Result<T::Success, CallError<T::Failure>>
where
    T: ToolType<Success: DeserializeOwned, Failure: DeserializeOwned>,
{
    let failure = match &result.outcome {
        Outcome::Ok(output) => return decode_output(output).map_err(CallError::Fault),
        Outcome::Failed(failure) => failure,
    };
    let details = failure.details.as_deref().filter(|_| failure.kind == FailureKind::ToolFailed);
    match details.map(JsonText::decode::<T::Failure>) {
        Some(Ok(declared)) => Err(CallError::Declared(declared)),
        Some(Err(_)) | None => Err(CallError::Fault(ToolFailure::clone(failure))),
    }
}
