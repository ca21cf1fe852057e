//! Live sets of tools.
//!
//! ```text
//! SharedToolkit ── add, replace, remove, update         registries, clients of other servers, ...
//!       └───────────────────────┬───────────────────────────────┘ implement
//!                          ToolSource ── merged, composed, namespaced, filtered, wrapped, mapped ──> ToolSource
//!                               │ snapshot()
//!                               ▼
//!                           Snapshot ── a toolkit and its generation ──> Run
//! ```
//!
//! A source is a set of tools that may change while it is used. Nothing runs on a source itself: a run, and each turn
//! of a loop, takes a [`Snapshot`] and uses its toolkit to the end, so a change never affects a call that was made
//! before it. [`Dispatch`](crate::Dispatch) runs calls on any source.
//!
//! The tools of a source come from several parties, so one that can't be used must not affect the others: it is left
//! out, or its own calls fail, and [`Snapshot::faults`] reports it.
//!
//! Invariants: the generation of a source never decreases, and it rises whenever the tools change; two snapshots of one
//! source with the same generation have the same tools; no lock is held while user code runs.

mod cache;
mod mapped;
mod merged;
mod shared;

use std::borrow::Borrow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

pub use self::mapped::Mapped;
pub use self::merged::Merged;
pub use self::shared::SharedToolkit;

use haft_schema::isolation::Isolated;

use crate::executor::RunOptions;
use crate::handler::BoxError;
use crate::middleware::Middleware;
use crate::service::ProvideAll;
use crate::tool::Tool;
use crate::toolkit::{NamespaceError, Toolkit};

/// The future that [`ToolSource::changed`] returns.
pub type Changed<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// A set of tools that may change while it is used: a registry, the client of a server, a [`SharedToolkit`]. A
/// [`Toolkit`] is one that never changes.
///
/// A source lists tools and runs calls through [`Dispatch`](crate::Dispatch), and a turn loop takes a snapshot for each
/// turn. Implement it by storing a [`Snapshot`] and replacing it when the tools change; the simplest way is to keep a
/// [`SharedToolkit`] and update that. Both methods are called often, so neither waits, connects or builds tools.
///
/// Sources are combined as toolkits are, and stay live: a change of a source is a change of everything made of it. A
/// tool that can't be part of the result is left out and reported by [`Snapshot::faults`]; the others stay available.
///
/// ```
/// use haft_executor::{SharedToolkit, Tool, ToolSource, Toolkit};
///
/// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
/// let local: Toolkit = Toolkit::from_iter([tool("read")?]);
/// let plugins = SharedToolkit::default();
/// let all = local.merged(plugins.clone().namespaced("plugin")?);
/// let before = all.snapshot();
/// assert_eq!(before.toolkit().names().collect::<Vec<_>>(), ["read"]);
///
/// plugins.add(tool("draw")?)?;
/// let after = all.snapshot();
/// assert_eq!(after.toolkit().names().collect::<Vec<_>>(), ["read", "plugin__draw"]);
/// assert!(after.generation() > before.generation());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source of tools",
    label = "expected a `Toolkit`, a `SharedToolkit` or another `ToolSource`",
    note = "a toolkit whose tools still need a state becomes a source with `provide(state)`",
    note = "to offer tools that change, keep them in a `SharedToolkit` or implement `ToolSource`"
)]
pub trait ToolSource: Send + Sync {
    /// Returns the current tools and their generation. It is called for every run and every turn, so it must be cheap.
    fn snapshot(&self) -> Snapshot;

    /// Completes when the generation is greater than `after`: at once if it already is, and never if the tools can't
    /// change. Any number of tasks may wait at the same time, and dropping the future has no effect.
    ///
    /// Several changes may complete it once. Read [`snapshot`](Self::snapshot) afterwards, and wait for the generation
    /// of that:
    ///
    /// ```
    /// use haft_executor::{SharedToolkit, Tool, ToolSource};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = SharedToolkit::default();
    /// let seen = tools.snapshot();
    /// tools.add(Tool::new("ping").handler(|(), _cx| async { "pong" })?)?;
    /// tools.changed(seen.generation()).await;
    /// assert_eq!(tools.snapshot().toolkit().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    fn changed(&self, after: u64) -> Changed<'_>;

    /// Merges another source over this one, as [`Toolkit::merge`] does: where both have a tool with the same name, the
    /// other's is used, and [`Toolkit::shadowed`] reports it. The generation is the sum of both.
    ///
    /// A source that is not trusted must not replace tools of others: put it in a [namespace](Self::namespaced), or
    /// [compose](Self::composed) the two.
    fn merged<T: ToolSource>(self, other: T) -> Merged<Self, T>
    where
        Self: Sized,
    {
        Merged::over(self, other)
    }

    /// Composes two sources of equal rank, as [`Toolkit::compose`] does. A name that both use belongs to neither: its
    /// tools are left out and reported by [`Snapshot::faults`] until one of them is removed. The generation is the sum
    /// of both.
    ///
    /// ```
    /// use haft_executor::{SharedToolkit, Tool, ToolSource, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
    /// let local: Toolkit = Toolkit::from_iter([tool("read")?, tool("write")?]);
    /// let plugins = SharedToolkit::default();
    /// let all = local.composed(plugins.clone());
    ///
    /// plugins.add(tool("write")?)?;
    /// let snapshot = all.snapshot();
    /// assert_eq!(snapshot.toolkit().names().collect::<Vec<_>>(), ["read"]);
    /// assert_eq!(snapshot.faults()[0].tool, "write");
    ///
    /// plugins.remove("write");
    /// assert_eq!(all.snapshot().toolkit().len(), 2);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    fn composed<T: ToolSource>(self, other: T) -> Merged<Self, T>
    where
        Self: Sized,
    {
        Merged::beside(self, other)
    }

    /// Adds a prefix to the names of all tools, as [`Toolkit::namespace`] does. A tool whose name becomes too long is
    /// left out and reported by [`Snapshot::faults`]; an invalid prefix is an error here.
    fn namespaced(self, prefix: impl Into<String>) -> Result<Mapped<Self>, NamespaceError>
    where
        Self: Sized,
    {
        Mapped::namespaced(self, prefix.into())
    }

    /// Keeps the tools for which `keep` returns `true`, as [`Toolkit::filter`] does. It is asked again when the tools
    /// change. A tool for which it panics is left out and reported by [`Snapshot::faults`].
    fn filtered(self, keep: impl Fn(&Tool) -> bool + Send + Sync + 'static) -> Mapped<Self>
    where
        Self: Sized,
    {
        Mapped::filtered(self, keep)
    }

    /// Replaces every tool by the one that `adapt` returns, such as one with limits or an approval policy. It is asked
    /// again when the tools change. A tool for which it fails or panics, or whose new name is taken, is left out and
    /// reported by [`Snapshot::faults`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use haft_executor::{ExecutionLimits, SharedToolkit, Tool, ToolSource};
    ///
    /// let plugins = SharedToolkit::default();
    /// let limits = ExecutionLimits::new().timeout(Duration::from_secs(5));
    /// let limited = plugins.clone().adapted(move |tool| Ok(tool.with_limits(limits.clone())?));
    ///
    /// plugins.add(Tool::new("draw").handler(|(), _cx| async {})?)?;
    /// assert!(limited.snapshot().toolkit().iter().all(|tool| tool.limits().timeout.is_some()));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    fn adapted(self, adapt: impl Fn(&Tool) -> Result<Tool, BoxError> + Send + Sync + 'static) -> Mapped<Self>
    where
        Self: Sized,
    {
        Mapped::adapted(self, adapt)
    }

    /// Adds a middleware around every tool, as [`Toolkit::wrap`] does, including tools that are added later. It is one
    /// middleware for all of them: a rate limit, for example, goes on when tools change.
    fn wrapped<M: Middleware>(self, middleware: M) -> Mapped<Self>
    where
        Self: Sized,
        (): ProvideAll<M::Services>,
    {
        Mapped::wrapped(self, middleware)
    }

    /// Derives a source by a function of the toolkit. It is called once for each generation whose tools are used.
    ///
    /// ```
    /// use haft_executor::{Services, SharedToolkit, ToolSource};
    ///
    /// let tools = SharedToolkit::default();
    /// let served = tools.mapped(|kit| kit.with_services(Services::new().with(String::from("key"))));
    /// assert_eq!(served.snapshot().toolkit().services().get::<String>()?, "key");
    /// # Ok::<_, haft_executor::MissingService>(())
    /// ```
    fn mapped(self, map: impl Fn(Toolkit) -> Toolkit + Send + Sync + 'static) -> Mapped<Self>
    where
        Self: Sized,
    {
        Mapped::new(self, map)
    }
}

/// The tools of a source at one moment: a toolkit and its generation. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    kit: Toolkit,
    generation: u64,
    /// Unset where there are none, which is the usual case.
    faults: Option<Arc<[SourceFault]>>,
}

/// A tool that is not part of a snapshot, with the reason. The other tools of its source are not affected.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the tool `{tool}` is left out: {cause}")]
#[non_exhaustive]
pub struct SourceFault {
    /// The name of the tool, as the source that reports the fault has it.
    pub tool: String,
    /// The reason.
    #[source]
    pub cause: Arc<BoxError>,
}

impl Snapshot {
    /// Creates a snapshot. A source must use a generation for one toolkit only, and a greater one for every later
    /// toolkit.
    #[must_use]
    pub fn new(kit: Toolkit, generation: u64) -> Self {
        Self { kit, generation, faults: None }
    }

    /// Adds tools that the source had to leave out.
    #[must_use]
    pub fn with_faults(mut self, faults: impl IntoIterator<Item = SourceFault>) -> Self {
        let all: Vec<_> = self.faults().iter().cloned().chain(faults).collect();
        self.faults = (!all.is_empty()).then(|| all.into());
        self
    }

    /// Returns the tools.
    pub fn toolkit(&self) -> &Toolkit {
        &self.kit
    }

    /// Returns the tools by value.
    pub fn into_toolkit(self) -> Toolkit {
        self.kit
    }

    /// Returns the generation: a number that is greater for later tools of the same source. Generations of different
    /// sources are not related.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Leaves out the tools that can't run with these options, because a handler or a service is missing or their
    /// definition is invalid. Each is reported by [`faults`](Self::faults), with its
    /// [`NotRunnable`](crate::NotRunnable) as the cause. The generation stays. The check is cached with the tools, so
    /// it costs nothing while all of them can run.
    ///
    /// ```
    /// use haft_executor::{RunOptions, SharedToolkit, Tool, ToolSource};
    ///
    /// let tools = SharedToolkit::default();
    /// tools.add(Tool::new("ping").handler(|(), _cx| async { "pong" })?)?;
    /// tools.add(Tool::new("mail").depends_on::<String>().handler(|(), _cx| async {})?)?;
    ///
    /// let runnable = tools.snapshot().runnable_with(&RunOptions::new());
    /// assert_eq!(runnable.toolkit().names().collect::<Vec<_>>(), ["ping"]);
    /// assert!(runnable.faults()[0].to_string().contains("`mail` requires the service `alloc::string::String`"));
    ///
    /// let options = RunOptions::new().service(String::from("smtp://localhost"));
    /// assert_eq!(tools.snapshot().runnable_with(&options).toolkit().len(), 2);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn runnable_with(&self, options: impl Borrow<RunOptions>) -> Self {
        let Some((kit, left_out)) = self.kit.split_runnable(options.borrow()) else { return self.clone() };
        let faults = left_out.into_iter().map(|(tool, problems)| SourceFault::new(tool, problems));
        Self { kit, generation: self.generation, faults: self.faults.clone() }.with_faults(faults)
    }

    /// Returns the tools that were left out, with the reasons.
    #[must_use]
    pub fn faults(&self) -> &[SourceFault] {
        self.faults.as_deref().unwrap_or_default()
    }
}

impl SourceFault {
    /// Creates a fault of the tool with this name.
    #[must_use]
    pub fn new(tool: impl Into<String>, cause: impl Into<BoxError>) -> Self {
        Self { tool: tool.into(), cause: Arc::new(cause.into()) }
    }
}

/// A source that never changes: its generation is 0.
impl ToolSource for Toolkit {
    fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.clone(), 0)
    }

    fn changed(&self, _after: u64) -> Changed<'_> {
        Box::pin(std::future::pending())
    }
}

/// A source that never changes: tools can be listed and calls be run on the tools of one moment.
impl ToolSource for Snapshot {
    fn snapshot(&self) -> Snapshot {
        self.clone()
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        Box::pin(async move {
            if self.generation <= after {
                std::future::pending::<()>().await;
            }
        })
    }
}

impl<T: ToolSource + ?Sized> ToolSource for Arc<T> {
    fn snapshot(&self) -> Snapshot {
        T::snapshot(self)
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        T::changed(self, after)
    }
}

impl<T: ToolSource + ?Sized> ToolSource for Box<T> {
    fn snapshot(&self) -> Snapshot {
        T::snapshot(self)
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        T::changed(self, after)
    }
}

impl<T: ToolSource + ?Sized> ToolSource for &T {
    fn snapshot(&self) -> Snapshot {
        T::snapshot(self)
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        T::changed(self, after)
    }
}

impl<T: ToolSource> ToolSource for Isolated<T> {
    fn snapshot(&self) -> Snapshot {
        T::snapshot(self)
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        T::changed(self, after)
    }
}

/// Formats the source without reading it: that is user code.
impl fmt::Debug for dyn ToolSource + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolSource(..)")
    }
}
