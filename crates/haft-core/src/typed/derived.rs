//! The traits that code of `#[derive(ToolCalls)]` is written on.
//!
//! They are implemented for exactly the types that a variant may hold. So aliases work, and a wrong type is reported
//! by a message that contains what to write.

use crate::call::ToolCall;
use crate::handler::{Handle, StaticTool, ToolType};
use crate::schema::DecodeOptions;
use crate::toolkit::{Serves, Toolkit};
use crate::typed::{CallDecodeError, Typed};

/// The field of a variant that is a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a typed call",
    label = "a variant holds one tool: write `Typed<Tool>` around the type of a tool",
    note = "calls of tools that have no variant go to one `#[other] Other(ToolCall)`"
)]
pub trait VariantCall: Sized {
    /// The tool.
    type Tool: ToolType;

    /// Decodes a call of the tool.
    fn decode_call(call: ToolCall, options: &DecodeOptions) -> Result<Self, CallDecodeError>;

    /// Returns the call.
    fn call(&self) -> &ToolCall;
}

impl<T: ToolType> VariantCall for Typed<T> {
    type Tool = T;

    fn decode_call(call: ToolCall, options: &DecodeOptions) -> Result<Self, CallDecodeError> {
        Self::decode_known(call, options)
    }

    fn call(&self) -> &ToolCall {
        &self.call
    }
}

/// The field of the variant for other calls.
#[diagnostic::on_unimplemented(
    message = "the variant `#[other]` can't hold `{Self}`",
    label = "write `ToolCall`: nothing is known of the arguments of other tools"
)]
pub trait OtherCall: Sized {
    /// Wraps a call.
    fn from_call(call: ToolCall) -> Self;

    /// Returns the call.
    fn call(&self) -> &ToolCall;
}

impl OtherCall for ToolCall {
    fn from_call(call: ToolCall) -> Self {
        call
    }

    fn call(&self) -> &ToolCall {
        self
    }
}

/// A state with which a toolkit can include the tool `T`, which has a handler of its own.
pub trait OffersTool<T: ToolType>: Sized {
    /// Adds the tool.
    fn add(kit: Toolkit<Self>) -> Toolkit<Self>;
}

impl<S: Serves<T>, T: StaticTool> OffersTool<T> for S {
    fn add(kit: Toolkit<Self>) -> Toolkit<Self> {
        kit.tool::<T>()
    }
}

/// A state with which a toolkit can include the tool `T`, whose calls a value handles.
pub trait OffersValue<T: ToolType>: Sized {
    /// Adds the tool.
    fn add(kit: Toolkit<Self>, value: T) -> Toolkit<Self>;
}

impl<S: Serves<T>, T: Handle> OffersValue<T> for S {
    fn add(kit: Toolkit<Self>, value: T) -> Toolkit<Self> {
        kit.tool_from(value)
    }
}
