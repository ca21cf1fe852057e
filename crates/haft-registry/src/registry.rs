//! The registry: all sources' tools, which may change while they are used.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use haft_executor::{Changed, Snapshot, Tool, ToolSource, Toolkit};
use tokio::sync::watch;

use crate::error::{LookupError, RegistryError, RegistryFault};
use crate::index::Index;
use crate::layers::Layers;
use crate::listing::RegisteredTool;
use crate::name::{FullName, ToolOrigin};
use crate::toolbox::{Exported, LiveTools};
use crate::workspace::{Workspace, WorkspaceFault};

/// The tools from the standard toolbox, a project and organisations. Clones share it.
///
/// As a [`ToolSource`] it has the tools under their full names, which is what models see. You can [`find`](Self::find)
/// them by shorter names too:
///
/// | name | means the first of |
/// |---|---|
/// | `acme/math/add` | the organisation's tool |
/// | `math/add` | the project's tool, an organisation's tool |
/// | `add` | the project's exported tool, an organisation's exported tool, the standard toolbox's tool |
/// | `/add` | the tool with exactly this full name |
///
/// If tools in two organisations match equally, the name is ambiguous and means none. An exported tool replaces the
/// standard toolbox's tool with its name; [`RegisteredTool::hides`] reports this, and so does a warning.
///
/// Every change costs time in proportion to the number of tools, and raises the generation by one. Runs that have begun
/// keep the tools they began with.
///
/// ```
/// use haft_executor::{Tool, ToolSource};
/// use haft_registry::{Registry, Workspace};
///
/// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
/// let project = Workspace::builder().toolbox("math").exported(tool("add")?).build()?;
/// let acme = Workspace::org_builder("acme").toolbox("math").tool(tool("add")?).tool(tool("log")?).build()?;
/// let registry = Registry::builder().workspace(project).workspace(acme).build()?;
///
/// assert_eq!(registry.find("add")?.name.to_string(), "math/add");
/// assert_eq!(registry.find("math/log")?.name.to_string(), "acme/math/log");
/// assert_eq!(registry.find("math/add")?.hides[0].to_string(), "acme/math/add");
/// let names = registry.snapshot().toolkit().names().map(str::to_owned).collect::<Vec<_>>();
/// assert_eq!(names, ["math/add", "acme/math/add", "acme/math/log"]);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registry(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The sources. Changing the registry requires the lock; reading does not.
    layers: Mutex<Layers>,
    current: watch::Sender<Current>,
}

/// One generation's tools.
#[derive(Clone, Debug)]
struct Current {
    index: Arc<Index>,
    generation: u64,
}

/// A registry in progress. Faults are reported together when it is built.
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct RegistryBuilder {
    internal: Toolkit,
    workspaces: Vec<Workspace>,
}

impl RegistryBuilder {
    /// Sets the standard toolbox's tools.
    pub fn internal(mut self, tools: Toolkit) -> Self {
        self.internal = tools;
        self
    }

    /// Adds the project's or an organisation's workspace.
    pub fn workspace(mut self, workspace: Workspace) -> Self {
        self.workspaces.push(workspace);
        self
    }

    /// Builds the registry, with generation 0. An error lists all faults.
    pub fn build(self) -> Result<Registry, RegistryError> {
        let layers = self.layers()?;
        let index = Arc::new(Index::new(&layers).map_err(|faults| RegistryError { faults })?);
        warn_about_replaced(&Index::default(), &index);
        let current = watch::Sender::new(Current { index, generation: 0 });
        Ok(Registry(Arc::new(Shared { layers: Mutex::new(layers), current })))
    }

    fn layers(self) -> Result<Layers, RegistryError> {
        let mut layers = Layers::default();
        let mut faults: Vec<_> = layers.set_internal(self.internal).into_iter().map(RegistryFault::from).collect();
        let mut has_project = false;
        for workspace in self.workspaces {
            match workspace.org() {
                None if std::mem::replace(&mut has_project, true) => faults.push(RegistryFault::DuplicateProject),
                Some(org) if layers.has_org(org) => faults.push(RegistryFault::DuplicateOrg(org.to_string())),
                _ => faults.extend(layers.set_workspace(workspace).err()),
            }
        }
        RegistryError::check(faults)?;
        Ok(layers)
    }
}

impl Registry {
    /// Creates a registry.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// Finds a tool by its full or a shorter name.
    pub fn find(&self, name: &str) -> Result<Arc<RegisteredTool>, LookupError> {
        self.index().find_among(name, |_| true, |_| true).cloned()
    }

    /// Returns all tools, including those that others replace: first the standard toolbox, then the project, then
    /// organisations, each in the order they were added.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<RegisteredTool>> {
        self.index().tools().to_vec()
    }

    /// Returns all tools under their full names, including those that others replace.
    pub fn all(&self) -> Toolkit {
        self.index().all().clone()
    }

    /// Adds a tool, and its toolbox if that is missing. A name that is already used is an error.
    pub fn add(&self, origin: &ToolOrigin, tool: Tool) -> Result<(), RegistryError> {
        self.change(|layers| layers.add(origin, tool, Exported::No))
    }

    /// Adds a tool that you can also find by its simple name alone.
    pub fn add_exported(&self, origin: &ToolOrigin, tool: Tool) -> Result<(), RegistryError> {
        self.change(|layers| layers.add(origin, tool, Exported::Yes))
    }

    /// Adds a tool, replacing and returning the one with this name. The new tool is exported if the old one was.
    pub fn replace(&self, origin: &ToolOrigin, tool: Tool) -> Result<Option<Tool>, RegistryError> {
        self.change(|layers| {
            let simple = tool.name().parse().map_err(|error| RegistryFault::Toolbox(WorkspaceFault::Name(error)))?;
            let (old, exported) = layers.remove(&FullName::new(origin.clone(), simple)).unzip();
            layers.add(origin, tool, exported.unwrap_or(Exported::No))?;
            Ok(old)
        })
    }

    /// Removes a tool, and returns it.
    #[allow(clippy::must_use_candidate, reason = "it is called for the change; the old tool is rarely needed")]
    pub fn remove(&self, name: &FullName) -> Option<Tool> {
        let not_found = || RegistryFault::UnknownTool(name.to_string());
        self.change(|layers| layers.remove(name).map(|(tool, _)| tool).ok_or_else(not_found)).ok()
    }

    /// Sets the project's or an organisation's workspace in one step, replacing the old one.
    pub fn set_workspace(&self, workspace: Workspace) -> Result<(), RegistryError> {
        self.change(|layers| layers.set_workspace(workspace))
    }

    /// Replaces all tools in one step: the standard toolbox, the project and all organisations. An error changes
    /// nothing.
    pub fn set_all(&self, tools: RegistryBuilder) -> Result<(), RegistryError> {
        self.set_all_and(tools, |_| {})
    }

    /// Replaces all tools in one step. Right before they can be seen, `publish` gets their generation.
    pub(crate) fn set_all_and(&self, tools: RegistryBuilder, publish: impl FnOnce(u64)) -> Result<(), RegistryError> {
        let mut all = tools.layers()?;
        let change = |layers: &mut Layers| {
            std::mem::swap(layers, &mut all);
            Ok(())
        };
        self.change_and(change, publish)
    }

    /// Returns the tools and their generation. Live sources are asked for theirs first.
    pub(crate) fn current(&self) -> (Arc<Index>, u64) {
        let Current { index, generation } = self.0.current.borrow().clone();
        if index.live().is_empty() {
            return (index, generation);
        }
        // Reading a source is user code, so no lock is held.
        let read = |live: &LiveTools| LiveTools { source: Arc::clone(&live.source), listed: live.source.snapshot() };
        let read: Vec<LiveTools> = index.live().iter().map(read).collect();
        let is_newer = |(known, read): (&LiveTools, &LiveTools)| known.listed.generation() < read.listed.generation();
        if !index.live().iter().zip(&read).any(is_newer) {
            return (index, generation);
        }
        let Current { index, generation } = self.relist(&read);
        (index, generation)
    }

    /// Registers newer tools of live sources, unless another thread has.
    fn relist(&self, newer: &[LiveTools]) -> Current {
        let layers = self.lock();
        let mut changed = layers.clone();
        if changed.relist(newer) {
            match Index::new(&changed) {
                Ok(index) => self.publish(layers, changed, &Arc::new(index), |_| {}),
                Err(faults) => {
                    tracing::error!(error = %RegistryError { faults }, "changed tools can't be registered");
                }
            }
        }
        self.0.current.borrow().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Layers> {
        self.0.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn index(&self) -> Arc<Index> {
        self.current().0
    }

    /// Changes the sources. An error changes nothing.
    fn change<T>(&self, change: impl FnOnce(&mut Layers) -> Result<T, RegistryFault>) -> Result<T, RegistryError> {
        self.change_and(change, |_| {})
    }

    fn change_and<T>(
        &self,
        change: impl FnOnce(&mut Layers) -> Result<T, RegistryFault>,
        publish: impl FnOnce(u64),
    ) -> Result<T, RegistryError> {
        let layers = self.lock();
        let mut changed = layers.clone();
        let outcome = change(&mut changed)?;
        let index = Arc::new(Index::new(&changed).map_err(|faults| RegistryError { faults })?);
        self.publish(layers, changed, &index, publish);
        Ok(outcome)
    }

    /// Replaces the sources and their tools.
    fn publish(
        &self,
        mut layers: MutexGuard<'_, Layers>,
        changed: Layers,
        index: &Arc<Index>,
        publish: impl FnOnce(u64),
    ) {
        let before_layers = std::mem::replace(&mut *layers, changed);
        let mut before = None;
        self.0.current.send_modify(|current| {
            let generation = current.generation + 1;
            publish(generation);
            before = Some(std::mem::replace(current, Current { index: Arc::clone(index), generation }));
        });
        drop(layers);
        if let Some(before) = before {
            warn_about_replaced(&before.index, index);
        }
        // Drop outside the lock: a tool's `Drop` is user code.
        drop(before_layers);
    }
}

/// Reports the tools that became hidden.
fn warn_about_replaced(before: &Index, after: &Index) {
    for tool in after.tools().iter().filter(|tool| !tool.hides.is_empty()) {
        let known = before.exact(&tool.name.to_string()).map(|tool| tool.hides.as_slice()).unwrap_or_default();
        for hidden in tool.hides.iter().filter(|hidden| !known.contains(hidden)) {
            tracing::warn!(tool = %tool.name, %hidden, "a tool hides another one with the same shorter name");
        }
    }
}

impl ToolSource for Registry {
    fn snapshot(&self) -> Snapshot {
        let (index, generation) = self.current();
        Snapshot::new(index.visible().clone(), generation).with_faults(index.faults().iter().cloned())
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        Box::pin(async move {
            // Subscribe before reading, so that no change in between is missed.
            let mut current = self.0.current.subscribe();
            loop {
                let (index, generation) = self.current();
                if generation > after {
                    return;
                }
                let live = index.live().iter().map(|live| live.source.changed(live.listed.generation()));
                let mut live: Vec<Changed<'_>> = live.collect();
                let mut own = pin!(current.changed());
                poll_fn(|task| {
                    let is_changed = live.iter_mut().any(|live| live.as_mut().poll(task).is_ready());
                    // The sender is part of the registry, so it lives while this is awaited.
                    if own.as_mut().poll(task).is_ready() || is_changed { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
                // A source that reports changes and has none must not keep the thread.
                yield_once().await;
            }
        })
    }
}

/// Lets other tasks run.
async fn yield_once() {
    let mut is_first = true;
    poll_fn(|task| {
        if std::mem::take(&mut is_first) {
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}
