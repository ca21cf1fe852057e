//! Tools as Rust types.
//!
//! A type that represents a tool has the tool's name, its parameter, success and failure types and the services it
//! needs, all visible to the compiler. What runs is always the erased [`Tool`]; a typed tool only builds one and must
//! not promise anything that the erased one does not keep.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cx::Cx;
use crate::handler::{Failure, HandlerError};
use crate::isolation::Isolated;
use crate::service::ServiceList;
use crate::tool::{DefinitionError, Tool, ToolBuilder, Typed};

/// A tool known at compile time: its name and its types.
///
/// ```
/// use haft_core::{BuilderOf, NoFailure, Tool, ToolType};
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
/// # Ok::<_, haft_core::DefinitionError>(())
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
}

/// The builder of a typed tool: its schemas are those of its types.
pub type BuilderOf<T> = ToolBuilder<Typed<<T as ToolType>::Params>, Typed<<T as ToolType>::Success>>;

/// A typed tool with state: a value of the type handles its calls.
///
/// ```
/// use haft_core::{Cx, Handle, HandlerError, NoFailure, Tool, ToolType};
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
/// # Ok::<_, haft_core::DefinitionError>(())
/// ```
pub trait Handle: ToolType {
    /// Handles one call.
    fn handle(
        &self,
        params: Self::Params,
        cx: &Cx,
    ) -> impl Future<Output = Result<Self::Success, HandlerError<Self::Failure>>> + Send;
}

/// A typed tool that includes its handler: the type alone creates the tool.
#[diagnostic::on_unimplemented(
    message = "the tool `{Self}` has no handler of its own",
    label = "nothing runs the calls of this tool",
    note = "put `#[tool]` on the function that runs it, or implement `Handle` and give a value: `toolkit![{Self} = value]`"
)]
pub trait StaticTool: ToolType {
    /// Creates the tool.
    fn tool() -> Result<Tool, DefinitionError>;
}

impl Tool {
    /// Creates the builder of a typed tool, with its types, services and [`definition`](ToolType::definition) set.
    pub fn of<T: ToolType>() -> BuilderOf<T> {
        let builder = Self::new(T::NAME)
            .params::<T::Params>()
            .success::<T::Success>()
            .failure::<T::Failure>()
            .depends_on_all(T::Services::dependencies());
        T::definition(builder)
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
