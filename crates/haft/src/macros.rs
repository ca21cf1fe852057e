//! The documentation of the macros. They expand to items of `macro_support` and of no other module.

mod derive;
mod tool;
mod toolkit;

pub use self::derive::{Failure, Services, ToolCalls};
pub use self::tool::{tool, tools};
pub use self::toolkit::{compose, toolkit};
