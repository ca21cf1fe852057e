//! An interface to everything that lists tools and runs calls.

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;

use super::option::RunOptions;
use crate::call::ToolCall;
use crate::event::ToolEvent;
use crate::tool::ToolDescriptor;
use crate::toolkit::Toolkit;

/// A boxed stream of events.
pub type EventStream = Pin<Box<dyn Stream<Item = ToolEvent> + Send>>;

/// Lists tools and runs calls: a toolkit, a registry, an executor in another process.
///
/// Implementations must guarantee what [`Run`](super::Run) does: exactly one output per call, after all its other
/// events, and nothing left running once the stream is dropped.
///
/// ```
/// use haft_core::{Dispatch, RunOptions, Tool, Toolkit};
///
/// let kit: Toolkit = Toolkit::new().with(Tool::new("ping").handler(|(), _cx| async { "pong" })?)?;
/// let anything: &dyn Dispatch = &kit;
/// assert_eq!(anything.list(&RunOptions::new())[0].name, "ping");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub trait Dispatch: Send + Sync {
    /// Returns the tools that the caller of the options may know of.
    fn list(&self, options: &RunOptions) -> Vec<Arc<ToolDescriptor>>;

    /// Runs calls.
    fn run_calls(&self, calls: Vec<ToolCall>, options: RunOptions) -> EventStream;
}

impl Dispatch for Toolkit {
    fn list(&self, options: &RunOptions) -> Vec<Arc<ToolDescriptor>> {
        self.iter().filter(|tool| options.sees(tool)).map(crate::tool::Tool::descriptor).collect()
    }

    fn run_calls(&self, calls: Vec<ToolCall>, options: RunOptions) -> EventStream {
        Box::pin(self.run_with(calls, options))
    }
}

impl<D: Dispatch + ?Sized> Dispatch for Arc<D> {
    fn list(&self, options: &RunOptions) -> Vec<Arc<ToolDescriptor>> {
        D::list(self, options)
    }

    fn run_calls(&self, calls: Vec<ToolCall>, options: RunOptions) -> EventStream {
        D::run_calls(self, calls, options)
    }
}
