//! Tools as Rust types.
//!
//! A type that represents a tool has the tool's name, its parameter, success and failure types and the services it
//! needs, all visible to the compiler. What runs is always the erased [`Tool`]; a typed tool only builds one and must
//! not promise anything that the erased one does not keep.

use std::any::TypeId;
use std::sync::Arc;

use haft_core::{ToolCall, ToolResult};
use haft_schema::DecodeOptions;
use haft_schema::isolation::Isolated;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cx::Cx;
use crate::executor::CallError;
use crate::handler::typed::{CallDecodeError, decode_params, read_result};
use crate::handler::{Failure, HandlerError};
use crate::service::ServiceList;
use crate::tool::{DefinitionError, Fixed, Tool, ToolBuilder};

/// A tool known at compile time: its name and its types.
///
/// ```
/// use haft_executor::{BuilderOf, NoFailure, Tool, ToolType};
///
/// struct Double;
///
/// impl ToolType for Double {
///     const NAME: &'static str = "double";
///     type Params = i64;
///     type Success = i64;
///     type Failure = NoFailure;
///     type Services = ();
///
///     fn definition(builder: BuilderOf<Self>) -> BuilderOf<Self> {
///         builder.describe("Twice a number.")
///     }
/// }
///
/// let tool = Tool::of::<Double>().handler(|n, _cx| async move { n * 2 })?;
/// assert_eq!(tool.name(), Double::NAME);
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not the type of a tool",
    note = "put `#[tool]` on a function and name the type beside it, or write `impl ToolType for {Self}`"
)]
pub trait ToolType: Send + Sync + 'static {
    /// The name the model calls.
    const NAME: &'static str;
    /// The parameters of a call.
    type Params: DeserializeOwned + JsonSchema + Send + 'static;
    /// The value of a success.
    type Success: Serialize + JsonSchema + Send + 'static;
    /// The declared failure; [`NoFailure`](crate::NoFailure) for none.
    type Failure: Failure;
    /// The services that its handler needs.
    type Services: ServiceList;

    /// Adds the rest of the definition: description, annotations, examples, approval, limits. The types and services
    /// are already set.
    fn definition(builder: BuilderOf<Self>) -> BuilderOf<Self>
    where
        Self: Sized,
    {
        builder
    }

    /// Decodes a call of this tool, checked in full by the schema of its parameters and within the default limits of a
    /// run. Nothing is run. A call of another name is an error that names both;
    /// [`decode_as`](ToolType::decode_as) decodes calls of a tool that a toolkit renamed.
    ///
    /// ```
    /// use haft_executor::{NoFailure, ToolType};
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
    /// assert_eq!(Double::decode(&ToolCall::new("c1", "double", "21"))?, 21);
    ///
    /// let invalid = Double::decode(&ToolCall::new("c2", "double", "999")).unwrap_err();
    /// assert_eq!(invalid.to_result().call_id, "c2");
    /// let other = Double::decode(&ToolCall::new("c3", "halve", "8")).unwrap_err();
    /// assert_eq!(other.failure().message, "the call is of the tool 'halve', not of 'double'");
    /// # Ok::<_, haft_executor::CallDecodeError>(())
    /// ```
    fn decode(call: &ToolCall) -> Result<Self::Params, CallDecodeError>
    where
        Self: Sized,
    {
        Self::decode_as(Self::NAME, call, &DecodeOptions::DEFAULT)
    }

    /// Decodes a call of this tool under another name, such as `github__search` in a toolkit with a namespace, and with
    /// options.
    fn decode_as(name: &str, call: &ToolCall, options: &DecodeOptions) -> Result<Self::Params, CallDecodeError>
    where
        Self: Sized,
    {
        match decode_params::<Self>(name, call, options) {
            Ok(decoded) => Ok(decoded.value),
            Err(failure) => Err(CallDecodeError::new(call.clone(), failure)),
        }
    }

    /// Reads the result of a call of this tool as its types. The name in the result is not compared, so this also reads
    /// results of a tool that a toolkit renamed.
    ///
    /// ```
    /// use haft_executor::{CallError, NoFailure, ToolType};
    /// use haft_core::{ToolCall, ToolResult};
    /// use serde_json::json;
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
    /// let call = ToolCall::new("c1", "double", "21");
    /// assert_eq!(Double::read(&ToolResult::ok(&call, json!(42))), Ok(42));
    /// assert!(matches!(Double::read(&ToolResult::denied(&call, "no")), Err(CallError::Fault(_))));
    /// ```
    fn read(result: &ToolResult) -> Result<Self::Success, CallError<Self::Failure>>
    where
        Self: Sized,
        Self::Success: DeserializeOwned,
        Self::Failure: DeserializeOwned,
    {
        read_result::<Self>(result)
    }
}

/// The builder of a typed tool: its schemas are those of its types.
pub type BuilderOf<T> = ToolBuilder<Fixed<<T as ToolType>::Params>, Fixed<<T as ToolType>::Success>>;

/// A typed tool with state: a value of the type handles its calls.
///
/// ```
/// use haft_executor::{Cx, Handle, HandlerError, NoFailure, Tool, ToolType};
///
/// struct Multiply { by: i64 }
///
/// impl ToolType for Multiply {
///     const NAME: &'static str = "multiply";
///     type Params = i64;
///     type Success = i64;
///     type Failure = NoFailure;
///     type Services = ();
/// }
///
/// impl Handle for Multiply {
///     async fn handle(&self, number: i64, _cx: &Cx) -> Result<i64, HandlerError> {
///         number.checked_mul(self.by).ok_or_else(|| HandlerError::opaque("too large"))
///     }
/// }
///
/// let tool = Tool::from_handler(Multiply { by: 3 })?;
/// assert!(tool.has_handler());
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "values of `{Self}` do not handle the calls of a tool",
    label = "nothing runs the calls of this tool",
    note = "write `impl Handle for {Self}`"
)]
pub trait Handle: ToolType {
    /// Handles one call.
    fn handle(
        &self,
        params: Self::Params,
        cx: &Cx,
    ) -> impl Future<Output = Result<Self::Success, HandlerError<Self::Failure>>> + Send;
}

/// A typed tool that is complete: the type alone creates the tool, with its handler if its kind has one.
#[diagnostic::on_unimplemented(
    message = "the tool `{Self}` has no handler of its own",
    label = "nothing runs the calls of this tool",
    note = "put `#[tool]` on the function that runs it, or implement `Handle` and give a value: `toolkit![{Self} = value]`",
    note = "a tool of a provider that has settings takes them as a value: `toolkit![{Self} {{ … }}]`",
    note = "in an enum of calls, mark the variant of a tool that a value creates `#[value]`, and give the value to `toolkit`"
)]
pub trait StaticTool: ToolType {
    /// Creates the tool.
    fn tool() -> Result<Tool, DefinitionError>;
}

/// A typed tool that a value of its type creates: one that [handles](Handle) its calls, or the settings of a tool that
/// is built into a provider.
///
/// ```
/// use haft_executor::{DefinitionError, IntoTool, NoFailure, Tool, ToolType, Toolkit};
/// use schemars::JsonSchema;
/// use serde::Serialize;
///
/// #[derive(Serialize, JsonSchema)]
/// struct WebSearch { max_uses: u8 }
///
/// impl ToolType for WebSearch {
///     const NAME: &'static str = "web_search";
///     type Params = String;
///     type Success = Vec<String>;
///     type Failure = NoFailure;
///     type Services = ();
/// }
///
/// impl IntoTool for WebSearch {
///     fn into_tool(self) -> Result<Tool, DefinitionError> {
///         Tool::provider("vendor.web_search").args::<Self>().of_type::<Self>(self).define()
///     }
/// }
///
/// let kit: Toolkit = Toolkit::new().tool_from(WebSearch { max_uses: 3 });
/// assert_eq!(kit.get("web_search").unwrap().provider_definition().unwrap().args()["max_uses"], 3);
/// ```
#[diagnostic::on_unimplemented(
    message = "no value of `{Self}` is a tool",
    label = "this value is not a tool",
    note = "implement `Handle` for `{Self}`, so that its values handle calls; a tool that its type alone creates takes no value"
)]
pub trait IntoTool: ToolType {
    /// Creates the tool.
    fn into_tool(self) -> Result<Tool, DefinitionError>;
}

impl<H: Handle> IntoTool for H {
    fn into_tool(self) -> Result<Tool, DefinitionError> {
        Tool::from_handler(self)
    }
}

impl Tool {
    /// Creates the builder of a typed tool, with its types, services and [`definition`](ToolType::definition) set.
    pub fn of<T: ToolType>() -> BuilderOf<T> {
        Self::new(T::NAME).defined_by::<T>()
    }

    /// Creates the builder of a typed signal, as [`of`](Tool::of) does for a tool with a handler. See [`Tool::signal`].
    ///
    /// ```
    /// use haft_executor::{DefinitionError, NoFailure, StaticTool, Tool, ToolType};
    /// use serde_json::Value;
    ///
    /// struct Wait;
    ///
    /// impl ToolType for Wait {
    ///     const NAME: &'static str = "wait";
    ///     type Params = u32;
    ///     type Success = Value;
    ///     type Failure = NoFailure;
    ///     type Services = ();
    /// }
    ///
    /// impl StaticTool for Wait {
    ///     fn tool() -> Result<Tool, DefinitionError> {
    ///         Tool::signal_of::<Self>().define()
    ///     }
    /// }
    ///
    /// assert!(Wait::tool()?.is_signal());
    /// # Ok::<_, DefinitionError>(())
    /// ```
    pub fn signal_of<T: ToolType>() -> BuilderOf<T> {
        Self::signal(T::NAME).defined_by::<T>()
    }

    /// Creates the builder of a typed interaction, as [`of`](Tool::of) does for a tool with a handler. See
    /// [`Tool::interaction`].
    pub fn interaction_of<T: ToolType>() -> BuilderOf<T> {
        Self::interaction(T::NAME).defined_by::<T>()
    }

    /// Creates the tool whose calls `handler` handles.
    pub fn from_handler<H: Handle>(handler: H) -> Result<Self, DefinitionError> {
        let handler = Arc::new(Isolated::new(handler));
        Self::of::<H>().try_handler_mixed(move |params, cx| {
            let handler = Arc::clone(&handler);
            async move { handler.handle(params, &cx).await }
        })
    }
}

impl ToolBuilder {
    /// Sets everything but the name to that of the type `T`.
    pub(crate) fn defined_by<T: ToolType>(mut self) -> BuilderOf<T> {
        self.draft.rust_type = Some(TypeId::of::<T>());
        let builder = self
            .params::<T::Params>()
            .success::<T::Success>()
            .failure::<T::Failure>()
            .depends_on_all(T::Services::dependencies());
        T::definition(builder)
    }
}
