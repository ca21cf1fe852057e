//! All tools of a program as one enum, so that a `match` over a model's calls is exhaustive.

use haft_core::{NAMESPACE_SEPARATOR, ToolCall, ToolResult};
use haft_schema::DecodeOptions;

use crate::handler::typed::CallDecodeError;

/// An enum with one variant for each tool of a program.
///
/// `#[derive(ToolCalls)]` of the crate `haft` implements it, and compares the names at compile time. By hand:
///
/// ```
/// use haft_executor::{CallVariant, NoFailure, ToolCalls, ToolType, Typed};
/// use haft_core::ToolCall;
/// use haft_schema::DecodeOptions;
/// # struct Double;
/// # impl ToolType for Double {
/// #     const NAME: &'static str = "double";
/// #     type Params = u8;
/// #     type Success = u16;
/// #     type Failure = NoFailure;
/// #     type Services = ();
/// # }
///
/// enum AppCall {
///     Double(Typed<Double>),
///     Other(ToolCall),
/// }
///
/// impl ToolCalls for AppCall {
///     const VARIANTS: &'static [CallVariant<Self>] = &[CallVariant::new(Double::NAME, |call, options| {
///         Typed::decode_known(call, options).map(Self::Double)
///     })];
///
///     const OTHER: Option<fn(ToolCall) -> Self> = Some(Self::Other);
///
///     fn call(&self) -> &ToolCall {
///         match self {
///             Self::Double(typed) => &typed.call,
///             Self::Other(call) => call,
///         }
///     }
/// }
///
/// for call in [ToolCall::new("c1", "double", "21"), ToolCall::new("c2", "halve", "8")] {
///     match AppCall::decode(&call)? {
///         AppCall::Double(typed) => assert_eq!(typed.params, 21),
///         AppCall::Other(other) => assert_eq!(other.name, "halve"),
///     }
/// }
/// # Ok::<_, haft_executor::CallDecodeError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an enum of tool calls",
    note = "write `#[derive(ToolCalls)]` on an enum with one variant `Name(Typed<Tool>)` for each tool"
)]
pub trait ToolCalls: Sized + 'static {
    /// The variants that are tools.
    const VARIANTS: &'static [CallVariant<Self>];

    /// The variant for calls of tools that have none. Without it such a call is an error.
    const OTHER: Option<fn(ToolCall) -> Self> = None;

    /// Returns the call as the model wrote it.
    fn call(&self) -> &ToolCall;

    /// Decodes a call into the variant of its tool, checked as by [`ToolType::decode`](crate::ToolType::decode).
    /// Without a variant for other calls, a call of another tool is an error. Nothing is run.
    fn decode(call: impl Into<ToolCall>) -> Result<Self, CallDecodeError> {
        let call = call.into();
        let variant = find(Self::VARIANTS, Some(&call.name));
        decode_by(variant, call, &DecodeOptions::DEFAULT, str::to_owned)
    }

    /// Decodes a call of a toolkit with a namespace, and with options. All namespaces are written as one,
    /// `work__github`. A call outside of the namespace is one of another tool.
    fn decode_in(namespace: &str, call: impl Into<ToolCall>, options: &DecodeOptions) -> Result<Self, CallDecodeError> {
        let call = call.into();
        let name = call.name.strip_prefix(namespace).and_then(|rest| rest.strip_prefix(NAMESPACE_SEPARATOR));
        let variant = find(Self::VARIANTS, name);
        decode_by(variant, call, options, |name| format!("{namespace}{NAMESPACE_SEPARATOR}{name}"))
    }
}

/// One tool of an enum of calls: its name, and the function that decodes its calls.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallVariant<C> {
    /// The name of the tool, without a namespace.
    pub name: &'static str,
    decode: DecodeCall<C>,
}

type DecodeCall<C> = fn(ToolCall, &DecodeOptions) -> Result<C, CallDecodeError>;

impl<C> CallVariant<C> {
    /// Creates a variant. The function receives calls of this tool only, under their full names, and does not compare
    /// them: see [`Typed::decode_known`](crate::Typed::decode_known).
    #[must_use]
    pub const fn new(name: &'static str, decode: DecodeCall<C>) -> Self {
        Self { name, decode }
    }
}

fn find<'a, C>(variants: &'a [CallVariant<C>], name: Option<&str>) -> Option<&'a CallVariant<C>> {
    variants.iter().find(|variant| Some(variant.name) == name)
}

fn decode_by<C: ToolCalls>(
    variant: Option<&CallVariant<C>>,
    call: ToolCall,
    options: &DecodeOptions,
    full_name: impl Fn(&'static str) -> String,
) -> Result<C, CallDecodeError> {
    match (variant, C::OTHER) {
        (Some(variant), _) => (variant.decode)(call, options),
        (None, Some(other)) => Ok(other(call)),
        (None, None) => {
            let names: Vec<String> = C::VARIANTS.iter().map(|variant| full_name(variant.name)).collect();
            let failure = ToolResult::unknown_tool_among(&call, names.iter().map(String::as_str)).into_failure();
            Err(CallDecodeError::new(call, failure))
        }
    }
}
