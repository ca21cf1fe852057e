//! Listing tools and running calls, for every source of tools.

use std::sync::Arc;

use haft_core::{ToolDescriptor, Verdict};

use super::option::RunOptions;
use super::run::Run;
use crate::approval::RequestedCall;
use crate::approval::Suspended;
use crate::source::ToolSource;
use crate::tool::Tool;

/// Lists tools and runs calls on the current tools of a source, for code that serves any of them: `&dyn Dispatch`.
///
/// It is implemented here, for every [`ToolSource`], and nowhere else: a registry, the client of another server and an
/// executor in another process are sources of tools, so their calls take the same path, with the same checks, as all
/// others. That is why a [`Run`] is returned and not some stream of events: it can be cancelled, suspended and read in
/// every way that a run of a [`Toolkit`](crate::Toolkit) can.
///
/// Each method takes one snapshot of the source. A run uses its snapshot to the end: a tool that is changed or removed
/// meanwhile runs as it was when the run was created. To list tools and run calls on the same tools, take a
/// [`snapshot`](ToolSource::snapshot) and use that: it is a source that never changes.
///
/// The tools of a source may come from several parties. One that lacks a handler or a service does not affect the
/// others: it is not listed, its calls fail with `execution_error`, and
/// [`Snapshot::runnable_with`](crate::Snapshot::runnable_with) reports it.
/// [`Toolkit::run_with`](crate::Toolkit::run_with) runs nothing until all tools of the toolkit can run.
///
/// ```
/// use haft_executor::{Dispatch, RunOptions, Tool, Toolkit};
/// use haft_core::ToolCall;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kit: Toolkit = Toolkit::new().with(Tool::new("ping").handler(|(), _cx| async { "pong" })?)?;
/// let anything: &dyn Dispatch = &kit;
/// assert_eq!(anything.list(&RunOptions::new())[0].name, "ping");
///
/// let run = anything.run_calls(vec![ToolCall::new("c1", "ping", "").into()], RunOptions::new());
/// assert_eq!(run.collect_results().await[0].to_model_text(), "pong");
/// # Ok(())
/// # }
/// ```
pub trait Dispatch: ToolSource {
    /// Returns the tools that can run with these options and that their caller may know of.
    fn list(&self, options: &RunOptions) -> Vec<Arc<ToolDescriptor>>;

    /// Runs calls, as [`Toolkit::run_with`](crate::Toolkit::run_with) does, except that a tool that can't run affects
    /// its own calls only.
    fn run_calls(&self, calls: Vec<RequestedCall>, options: RunOptions) -> Run;

    /// Continues a suspended run, as [`Toolkit::resume_with`](crate::Toolkit::resume_with) does, with the current
    /// tools.
    ///
    /// An approved call runs if the definition of its tool is the one that approval was requested for. If it has
    /// changed, the verdict is rejected and approval is requested again. If the tool is gone, the call fails with
    /// `unknown_tool`.
    fn resume_calls(&self, suspended: Suspended, verdicts: Vec<Verdict>, options: RunOptions) -> Run;
}

impl<T: ToolSource + ?Sized> Dispatch for T {
    fn list(&self, options: &RunOptions) -> Vec<Arc<ToolDescriptor>> {
        let runnable = self.snapshot().runnable_with(options);
        runnable.toolkit().iter().filter(|tool| options.sees(tool)).map(Tool::descriptor).collect()
    }

    fn run_calls(&self, calls: Vec<RequestedCall>, options: RunOptions) -> Run {
        self.snapshot().toolkit().run_with(calls, options).with_each_tool_alone()
    }

    fn resume_calls(&self, suspended: Suspended, verdicts: Vec<Verdict>, options: RunOptions) -> Run {
        self.snapshot().toolkit().resume_with(suspended, verdicts, options).with_each_tool_alone()
    }
}
