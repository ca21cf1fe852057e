//! The names that most programs with tools use, in one import: at most 30. The trait [`ToolType`] is in scope without a
//! name, so that `GetWeather::decode(&call)` and `GetWeather::read(&result)` work; so is `LanguageModelExt`, for
//! `model.object::<Forecast>(request)`.
//!
//! ```
//! use haft::prelude::*;
//!
//! /// Returns the length of a text.
//! #[tool]
//! fn length(text: String) -> usize { text.len() }
//!
//! let kit: Toolkit = toolkit![Length];
//! assert_eq!(kit.len(), 1);
//! ```
//!
//! [`ToolType`]: crate::tool::ToolType

pub use crate::JsonSchema;
pub use crate::approval::{ApprovalPolicy, ApprovalRequest, Suspend};
pub use crate::conversation::{Item, TurnRequest};
pub use crate::middleware::{Middleware, Next, Request};
#[cfg(feature = "model")]
pub use crate::model::{LanguageModel, LanguageModelExt as _, ScriptedModel, TurnLoop};
pub use crate::run::{
    FailureKind, Outcome, Permission, Permit, RunOptions, ToolCall, ToolEvent, ToolFailure, ToolResult,
};
pub use crate::tool::{Cx, Failure, HandlerError, Readonly, Tool, ToolType as _};
pub use crate::toolkit::{Services, Toolkit};
#[cfg(feature = "macros")]
pub use crate::{tool, toolkit};
