//! Tools whose emitted values have a type.

use haft_core::ToolEvent;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::handler::ToolType;

/// A tool whose handler emits values of one type.
///
/// `#[tool(emits = Type)]` implements it and declares the type. By hand, the definition declares it too:
///
/// ```
/// use haft_executor::{BuilderOf, Cx, Emits, Handle, HandlerError, NoFailure, Tool, ToolType, Toolkit};
/// use haft_core::ToolCall;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
/// struct Copied { file: String }
///
/// struct CopyAll;
///
/// impl ToolType for CopyAll {
///     const NAME: &'static str = "copy_all";
///     type Params = ();
///     type Success = u32;
///     type Failure = NoFailure;
///     type Services = ();
///
///     fn definition(builder: BuilderOf<Self>) -> BuilderOf<Self> {
///         builder.emits::<Copied>()
///     }
/// }
///
/// impl Emits for CopyAll {
///     type Event = Copied;
/// }
///
/// impl Handle for CopyAll {
///     async fn handle(&self, (): (), cx: &Cx) -> Result<u32, HandlerError> {
///         cx.emit(Copied { file: "a.txt".to_owned() }).await?;
///         Ok(1)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kit: Toolkit = Toolkit::new().with(Tool::from_handler(CopyAll)?)?;
/// let mut run = kit.run([ToolCall::new("c1", "copy_all", "")]);
/// let mut copied = Vec::new();
/// while let Some(event) = run.next().await {
///     copied.extend(CopyAll::read_event(&event).transpose()?);
/// }
/// assert_eq!(copied, [Copied { file: "a.txt".to_owned() }]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "the tool `{Self}` does not declare the values that it emits",
    note = "write `#[tool(emits = Type)]`, or `impl Emits for {Self}` and `builder.emits::<Type>()` in its definition"
)]
pub trait Emits: ToolType {
    /// The values that the handler emits with [`Cx::emit`](crate::Cx::emit).
    type Event: Serialize + JsonSchema + Send + 'static;

    /// Reads the value that a call of this tool emitted. Returns `None` for events of other kinds and of other tools.
    /// In a toolkit that renamed the tool, [`JsonText::decode`](haft_schema::JsonText::decode) reads the `data` of
    /// [`ToolEvent::Progress`].
    #[must_use]
    fn read_event(event: &ToolEvent) -> Option<Result<Self::Event, serde_json::Error>>
    where
        Self: Sized,
        Self::Event: DeserializeOwned,
    {
        match event {
            ToolEvent::Progress { tool, data, .. } if tool.as_str() == Self::NAME => Some(data.decode()),
            _ => None,
        }
    }
}
