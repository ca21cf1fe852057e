//! A set of tools.
//!
//! ```text
//! tools ─> Toolkit<S> ─ provide(state) ─> Toolkit ─ calls ─> Run
//!           merge, compose, namespace, wrap
//!
//! ToolCall ─> look up ─> permit ─> decode ─> approve ─> slot ─> middleware ─┐
//!             Toolkit                                                       │
//!                                  ToolResult <─ encode <─ handler <────────┘
//! ```
//!
//! A toolkit keeps its tools in the order they were added and finds them by name in constant time. Its type parameter
//! is the state that still has to be provided: tools are added to a `Toolkit<S>`, and only a `Toolkit<()>`, which needs
//! no state, can run. A fault of a tool that was added by type is kept and reported. It is never a panic, and the tool
//! is never omitted silently.

mod compose;
mod dynamic;
mod error;
mod filter;
mod kit_type;
mod live;
mod map;
mod merge;
mod namespace;
mod provision;
mod rename;
mod replacement;
mod runnable;
mod served_later;
mod shadow;
mod type_index;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use self::compose::{ComposeError, DuplicateToolName};
pub use self::dynamic::DynamicTools;
pub use self::error::{MissingToolService, NotRunnable, ToolkitError, ToolkitFault};
pub use self::kit_type::{KitType, StaticKit};
pub use self::namespace::{NamespaceError, NamespaceFault};
use self::provision::Provision;
pub use self::replacement::ReplaceError;
use self::runnable::ProblemCache;
pub(crate) use self::runnable::ProblemScope;
pub use self::served_later::ServedLater;
pub use self::shadow::Shadowed;
use self::shadow::Shadows;
pub use self::type_index::AmbiguousTool;
use self::type_index::TypeIndex;

use haft_core::{Describe, ToolDescriptor, ToolName};

use crate::handler::{IntoTool, StaticTool, ToolType};
use crate::middleware::{Layer, Middleware};
use crate::scope::RunScope;
use crate::seed::RandomState;
use crate::service::{ProvideAll, Services};
use crate::tool::{DefinitionError, Tool};

/// A set of tools that requires a state `S`.
///
/// ```
/// use haft_executor::{Tool, Toolkit};
///
/// let kit: Toolkit = Toolkit::new()
///     .with(Tool::new("one").handler(|(), _cx| async { 1 })?)?
///     .with(Tool::new("two").handler(|(), _cx| async { 2 })?)?;
/// assert_eq!(kit.names().collect::<Vec<_>>(), ["one", "two"]);
/// kit.ensure_runnable()?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a toolkit is a value: each method returns a new one"]
pub struct Toolkit<S = ()> {
    set: Arc<ToolSet>,
    needs: Vec<Register<S>>,
}

/// A function that adds the services of one tool, served by the state.
type Register<S> = fn(&Arc<S>, Services) -> Services;

#[derive(Clone, Default)]
pub(crate) struct ToolSet {
    entries: Vec<ToolEntry>,
    index: HashMap<ToolName, usize, RandomState>,
    /// The scope of tools that have none of their own.
    scope: Option<Arc<RunScope>>,
    faults: Vec<ToolkitFault>,
    /// The reasons why the set can't be run, computed once.
    problems: ProblemCache,
    /// The tools by the types that define them, computed by the first typed call.
    types: TypeIndex,
    shadowed: Shadows,
    /// The name that identifies the set among others in errors.
    label: Option<Arc<str>>,
    /// All prefixes of its tools, the outermost first.
    namespace: Option<Arc<str>>,
}

/// A tool and its services. When toolkits are combined, each tool keeps its own.
#[derive(Clone)]
struct ToolEntry {
    tool: Tool,
    provision: Option<Provision>,
}

/// The tools of a toolkit, in the order they were added.
#[derive(Clone)]
pub struct Tools<'a>(std::slice::Iter<'a, ToolEntry>);

/// A state that provides every service that the tool `T` requires.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provide every service that the tool `{T}` needs",
    label = "the tool `{T}` can't be run with this state",
    note = "for each missing service, derive `Services` on the state or write `impl Provide<Service> for {Self}`",
    note = "pass the state to `provide(state)`; a toolkit without one provides no services",
    note = "if a middleware provides the service, wrap the tool before adding it: `Toolkit::new().with({T}::tool()?.wrap(middleware))?`"
)]
pub trait Serves<T: ToolType>: Sized {
    /// Adds the services of the tool, served by `state`.
    #[doc(hidden)]
    fn serve(state: &Arc<Self>, services: Services) -> Services;
}

impl<S, T> Serves<T> for S
where
    T: ToolType,
    S: ProvideAll<T::Services>,
{
    fn serve(state: &Arc<Self>, services: Services) -> Services {
        <S as ProvideAll<T::Services>>::register(state, services)
    }
}

/// Building a toolkit.
impl<S> Toolkit<S> {
    /// Creates an empty toolkit.
    pub fn new() -> Self {
        Self { set: Arc::default(), needs: Vec::new() }
    }

    /// Adds a tool by its type. A fault of its definition is reported by [`ensure_runnable`](Toolkit::ensure_runnable).
    pub fn tool<T: StaticTool>(self) -> Self
    where
        S: Serves<T>,
    {
        self.serving::<T>().insert_defined(T::tool())
    }

    /// Adds a tool by a value of its type: one that handles its calls, or the settings of a tool that is built into a
    /// provider. A fault of its definition is reported by [`ensure_runnable`](Toolkit::ensure_runnable).
    pub fn tool_from<T: IntoTool>(self, value: T) -> Self
    where
        S: Serves<T>,
    {
        self.serving::<T>().insert_defined(value.into_tool())
    }

    /// Adds a tool that was built at run time. A name that is already used is an error.
    pub fn with(self, tool: Tool) -> Result<Self, ToolkitError> {
        self.with_all([tool])
    }

    /// Adds tools that were built at run time. Names that are already used are an error, which lists all of them.
    pub fn with_all(mut self, tools: impl IntoIterator<Item = Tool>) -> Result<Self, ToolkitError> {
        let set = self.set_mut();
        let faults: Vec<_> = tools.into_iter().filter_map(|tool| set.insert(tool).err()).collect();
        if faults.is_empty() { Ok(self) } else { Err(ToolkitError { faults }) }
    }

    /// Adds services explicitly, for tools that declare their dependencies without the type of a state. They replace
    /// earlier ones.
    pub fn with_services(mut self, services: Services) -> Self {
        self.set_mut().serve(services);
        self
    }

    /// Makes the services those of the tools that are here now, and of no others: tools that are added later, and those
    /// of toolkits that it is combined with, do not find them.
    ///
    /// ```
    /// use haft_executor::{Services, Tool, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
    /// let mail: Toolkit = Toolkit::from_iter([tool("send")?]).with_services(Services::new().with(String::from("key")));
    /// let kit = mail.with_private_services().merge(Toolkit::from_iter([tool("read")?]));
    /// assert_eq!(kit.services_of("send").unwrap().get::<String>()?, "key");
    /// assert!(kit.services_of("read").unwrap().get::<String>().is_err());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_private_services(mut self) -> Self {
        self.set_mut().keep_services();
        self
    }

    /// Adds a middleware around every tool that is executed here, and around all earlier middleware: the last one added
    /// is the outermost. Tools that are added later are not affected.
    ///
    /// The state must provide the services that the middleware requires, as for tools; [`Tool::wrap`] checks that at
    /// run time instead.
    pub fn wrap<M: Middleware>(mut self, middleware: M) -> Self
    where
        S: ProvideAll<M::Services>,
    {
        self.needs.push(<S as ProvideAll<M::Services>>::register);
        self.wrap_in(&Layer::new(middleware))
    }

    /// Adds a middleware that other toolkits may share.
    pub(crate) fn wrap_in(mut self, layer: &Layer) -> Self {
        for entry in &mut self.set_mut().entries {
            entry.tool = entry.tool.wrap_in(layer);
        }
        self
    }

    /// Provides the state, which serves all dependencies of the typed tools. The toolkit can then be run.
    pub fn provide(self, state: S) -> Toolkit {
        let state = Arc::new(state);
        let provided = self.needs.iter().fold(Services::new(), |services, serve| serve(&state, services));
        let kit = Toolkit { set: self.set, needs: Vec::new() };
        kit.with_services(provided)
    }

    fn serving<T: ToolType>(mut self) -> Self
    where
        S: Serves<T>,
    {
        self.needs.push(<S as Serves<T>>::serve);
        self
    }

    fn insert_defined(mut self, tool: Result<Tool, DefinitionError>) -> Self {
        let set = self.set_mut();
        let inserted = tool.map_err(ToolkitFault::Definition).and_then(|tool| set.insert(tool));
        set.faults.extend(inserted.err());
        self
    }

    pub(crate) fn set(&self) -> &Arc<ToolSet> {
        &self.set
    }

    fn set_mut(&mut self) -> &mut ToolSet {
        let set = Arc::make_mut(&mut self.set);
        set.problems = ProblemCache::default();
        set.types = TypeIndex::default();
        set
    }
}

/// Reading a toolkit.
impl<S> Toolkit<S> {
    /// Returns the tool with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.set.find(name).map(|(tool, _)| tool)
    }

    /// Returns the tools, in the order they were added.
    #[must_use]
    pub fn iter(&self) -> Tools<'_> {
        Tools(self.set.entries.iter())
    }

    /// Returns the names, in the order the tools were added.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.iter().map(Tool::name)
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.set.entries.len()
    }

    /// Reports whether there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.set.entries.is_empty()
    }

    /// Returns the descriptors of the tools, in the order they were added. Each is shared with its tool.
    #[must_use]
    pub fn descriptors(&self) -> Vec<Arc<ToolDescriptor>> {
        self.iter().map(Tool::descriptor).collect()
    }

    /// Returns the services that were added to the toolkit as a whole.
    #[must_use]
    pub fn services(&self) -> &Services {
        self.set.scope.as_ref().map_or(Services::none(), |scope| &scope.services)
    }

    /// Returns the services of the tool with this name: those of the toolkit it was added to, then those of toolkits
    /// that were combined with it. `None` if there is no such tool.
    ///
    /// ```
    /// use haft_executor::{Services, Tool, Toolkit};
    ///
    /// let kit = |name: &str, key: &str| -> Result<Toolkit, haft_executor::DefinitionError> {
    ///     let kit: Toolkit = Toolkit::from_iter([Tool::new(name).handler(|(), _cx| async {})?]);
    ///     Ok(kit.with_services(Services::new().with(String::from(key))))
    /// };
    /// let both = Toolkit::compose([kit("mail", "mail key")?, kit("chat", "chat key")?])?;
    /// assert_eq!(both.services_of("mail").unwrap().get::<String>()?, "mail key");
    /// assert_eq!(both.services_of("chat").unwrap().get::<String>()?, "chat key");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn services_of(&self, name: &str) -> Option<&Services> {
        let (_, scope) = self.set.find(name)?;
        Some(scope.map_or(Services::none(), |scope| &scope.services))
    }

    /// Returns the faults of tools that were added by type.
    #[must_use]
    pub fn definition_errors(&self) -> &[ToolkitFault] {
        &self.set.faults
    }
}

impl ToolSet {
    /// Returns the tool with this name and its scope.
    pub(crate) fn find(&self, name: &str) -> Option<(&Tool, Option<&Arc<RunScope>>)> {
        self.index_of(name).map(|place| self.at(place))
    }

    /// Returns the index of the tool with this name.
    pub(crate) fn index_of(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Returns the tool at an index and its scope.
    pub(crate) fn at(&self, place: usize) -> (&Tool, Option<&Arc<RunScope>>) {
        let entry = &self.entries[place];
        (&entry.tool, self.scope_of(entry))
    }

    /// Returns every tool with its scope.
    pub(crate) fn with_scopes(&self) -> impl Iterator<Item = (&Tool, Option<&Arc<RunScope>>)> + Clone {
        self.entries.iter().map(|entry| (&entry.tool, self.scope_of(entry)))
    }

    fn scope_of<'a>(&'a self, entry: &'a ToolEntry) -> Option<&'a Arc<RunScope>> {
        entry.provision.as_ref().map(Provision::scope).or(self.scope.as_ref())
    }

    fn insert(&mut self, tool: Tool) -> Result<(), ToolkitFault> {
        if self.index.contains_key(tool.name()) {
            return Err(ToolkitFault::DuplicateName { name: tool.name().to_owned() });
        }
        self.index.insert(tool.shared_name().clone(), self.entries.len());
        self.entries.push(ToolEntry { tool, provision: None });
        Ok(())
    }
}

impl<S> Describe for Toolkit<S> {
    fn descriptors(&self) -> Vec<Arc<ToolDescriptor>> {
        Self::descriptors(self)
    }
}

impl<S> Clone for Toolkit<S> {
    fn clone(&self) -> Self {
        Self { set: Arc::clone(&self.set), needs: self.needs.clone() }
    }
}

impl<S> Default for Toolkit<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> fmt::Debug for Toolkit<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolkit")
            .field("tools", &self.names().collect::<Vec<_>>())
            .field("services", &self.set.scope.as_ref().map(|scope| &scope.services))
            .field("faults", &self.set.faults)
            .finish_non_exhaustive()
    }
}

impl<'a, S> IntoIterator for &'a Toolkit<S> {
    type Item = &'a Tool;
    type IntoIter = Tools<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> Iterator for Tools<'a> {
    type Item = &'a Tool;

    fn next(&mut self) -> Option<&'a Tool> {
        self.0.next().map(|entry| &entry.tool)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Tools<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|entry| &entry.tool)
    }
}

impl ExactSizeIterator for Tools<'_> {}

impl fmt::Debug for Tools<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone().map(Tool::name)).finish()
    }
}
