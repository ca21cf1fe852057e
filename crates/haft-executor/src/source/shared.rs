//! A toolkit that any number of owners read and change.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use haft_schema::isolation::isolated;
use tokio::sync::watch;

use super::{Changed, Snapshot, ToolSource};
use crate::tool::Tool;
use crate::toolkit::{Toolkit, ToolkitError};

/// A toolkit that can be changed while it is used. Clones share it.
///
/// Every change replaces the toolkit as a whole and raises the generation by one, unless nothing changed. Runs and
/// turns that have begun keep the toolkit that they began with. Concurrent changes are all applied, one after the
/// other. A change costs time in proportion to the number of tools, so add many of them with one
/// [`update`](Self::update).
///
/// Middleware that was added to a toolkit is not around tools that are added later; [`wrapped`](ToolSource::wrapped)
/// is.
///
/// ```
/// use haft_executor::{Dispatch, RunOptions, SharedToolkit, Tool};
/// use haft_core::ToolCall;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let version = |answer: u8| Tool::new("version").handler(move |(), _cx| async move { answer });
/// let tools = SharedToolkit::default();
/// tools.add(version(1)?)?;
/// assert_eq!(tools.add(version(2)?).unwrap_err().faults.len(), 1, "the name is taken");
///
/// let run = tools.run_calls(vec![ToolCall::new("c1", "version", "").into()], RunOptions::new());
/// tools.replace(version(2)?);
/// assert_eq!(run.collect_results().await[0].to_model_text(), "1", "a run keeps its tools");
///
/// let run = tools.run_calls(vec![ToolCall::new("c2", "version", "").into()], RunOptions::new());
/// assert_eq!(run.collect_results().await[0].to_model_text(), "2");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SharedToolkit(Arc<watch::Sender<Snapshot>>);

impl SharedToolkit {
    /// Creates a shared toolkit of generation 0.
    #[must_use]
    pub fn new(kit: Toolkit) -> Self {
        Self(Arc::new(watch::Sender::new(Snapshot::new(kit, 0))))
    }

    /// Adds a tool. A name that is already used is an error. A tool that lacks a service or a handler is added and does
    /// not affect the others; [`Snapshot::runnable_with`] reports it.
    pub fn add(&self, tool: Tool) -> Result<(), ToolkitError> {
        self.update(move |kit| kit.with(tool.clone())).map(drop)
    }

    /// Adds a tool in place of the one with the same name, and returns that. The position and the services of the tool
    /// that is replaced stay; a tool with a new name is added at the end.
    #[allow(clippy::must_use_candidate, reason = "it is called for the change; the old tool is rarely needed")]
    pub fn replace(&self, tool: Tool) -> Option<Tool> {
        let mut replaced = None;
        let old = &mut replaced;
        self.change(move |kit| {
            let (kit, tool) = kit.with_replaced(tool.clone());
            *old = tool;
            kit
        });
        replaced
    }

    /// Removes the tool with this name, and returns it.
    #[allow(clippy::must_use_candidate, reason = "it is called for the change; the old tool is rarely needed")]
    pub fn remove(&self, name: &str) -> Option<Tool> {
        let mut removed = None;
        self.change(|kit| {
            removed = kit.get(name).cloned();
            if removed.is_some() { kit.filter(|tool| tool.name() != name) } else { kit }
        });
        removed
    }

    /// Changes any number of tools in one step, and returns the snapshot that has them. An error changes nothing.
    ///
    /// The function is called without a lock, so it may use this source. If the tools change meanwhile, it is called
    /// again with the current ones; so it must not change this source itself each time.
    ///
    /// ```
    /// use haft_executor::{SharedToolkit, Tool, ToolSource};
    ///
    /// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
    /// let tools = SharedToolkit::default();
    /// let listed = [tool("read")?, tool("write")?];
    /// tools.update(|kit| kit.with_all(listed.clone()))?;
    /// assert!(tools.update(|kit| kit.with_all(listed.clone())).is_err());
    ///
    /// let snapshot = tools.update(|kit| kit.filter(|tool| tool.name() == "read").namespace("fs"))?;
    /// assert_eq!(snapshot.toolkit().names().collect::<Vec<_>>(), ["fs__read"]);
    /// assert_eq!(snapshot.generation(), 2);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn update<E>(&self, mut change: impl FnMut(Toolkit) -> Result<Toolkit, E>) -> Result<Snapshot, E> {
        loop {
            let current = self.snapshot();
            let kit = change(current.kit.clone())?;
            if kit.is_same(&current.kit) {
                return Ok(current);
            }
            let changed = Snapshot::new(kit, current.generation + 1);
            if self.commit(&current, &changed) {
                return Ok(changed);
            }
        }
    }

    fn change(&self, mut change: impl FnMut(Toolkit) -> Toolkit) {
        let Ok(_) = self.update(|kit| Ok::<_, Infallible>(change(kit)));
    }

    /// Replaces the current snapshot, unless it was replaced meanwhile.
    fn commit(&self, current: &Snapshot, changed: &Snapshot) -> bool {
        let mut before = None;
        // Wakers are user code. One that panics must not make a change that was made look like one that failed.
        let _ = isolated(|| {
            self.0.send_if_modified(|stored| {
                let is_current = stored.generation == current.generation;
                if is_current {
                    // Dropped by the caller, after the lock is released: dropping tools runs user code.
                    before = Some(std::mem::replace(stored, changed.clone()));
                }
                is_current
            })
        });
        before.is_some()
    }
}

impl ToolSource for SharedToolkit {
    fn snapshot(&self) -> Snapshot {
        self.0.borrow().clone()
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        let mut snapshots = self.0.subscribe();
        Box::pin(async move {
            if snapshots.wait_for(|snapshot| snapshot.generation > after).await.is_err() {
                // The sender is borrowed, so it is not gone. If it were, nothing could change.
                std::future::pending::<()>().await;
            }
        })
    }
}

impl Default for SharedToolkit {
    fn default() -> Self {
        Self::new(Toolkit::new())
    }
}

impl From<Toolkit> for SharedToolkit {
    fn from(kit: Toolkit) -> Self {
        Self::new(kit)
    }
}

impl fmt::Debug for SharedToolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snapshot = self.snapshot();
        f.debug_struct("SharedToolkit")
            .field("toolkit", &snapshot.kit)
            .field("generation", &snapshot.generation)
            .finish_non_exhaustive()
    }
}
