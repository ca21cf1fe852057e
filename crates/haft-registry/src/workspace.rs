//! A workspace: a project's or an organisation's toolboxes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use haft_core::IntoDescription;
use haft_executor::{ServedLater, Tool, ToolSource, Toolkit, ToolkitFault};

use crate::name::{NameError, Namespace, OrgName, SimpleName};
use crate::toolbox::{Exported, SetAsideTool, Toolbox};

/// A project's or an organisation's toolboxes.
///
/// ```
/// use haft_executor::Tool;
/// use haft_registry::Workspace;
///
/// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
/// let workspace = Workspace::builder()
///     .toolbox("math")
///     .tool(tool("add")?)
///     .exported(tool("sum")?)
///     .done()
///     .toolbox("text")
///     .tool(tool("split")?)
///     .build()?;
/// assert_eq!(workspace.toolbox("math").unwrap().toolkit().len(), 2);
///
/// let error = Workspace::builder().toolbox("").tool(tool("a")?).tool(tool("a")?).build().unwrap_err();
/// assert_eq!(error.faults.len(), 2);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    org: Option<OrgName>,
    toolboxes: Vec<Toolbox>,
}

/// A workspace that can't be built, with all faults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkspaceError {
    /// All faults, in order. Never empty.
    pub faults: Vec<WorkspaceFault>,
}

/// A workspace fault.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceFault {
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Two toolboxes have the same namespace, ignoring case.
    #[error("there are two toolboxes named `{0}`; rename one of them, or put all tools in one")]
    DuplicateToolbox(String),
    /// Two tools in a toolbox have the same name, ignoring case.
    #[error("{} has two tools named `{tool}`; rename one of them", owner(.namespace.as_deref()))]
    DuplicateTool {
        /// The namespace, which the standard toolbox does not have.
        namespace: Option<String>,
        /// The second tool's name.
        tool: String,
    },
    /// Several toolboxes export a tool with the same name.
    #[error("`{name}` is exported by {}; export one of them", namespaces.join(" and "))]
    DuplicateExport {
        /// The name.
        name: String,
        /// The toolboxes' namespaces.
        namespaces: Vec<String>,
    },
    /// A toolkit's tools are invalid.
    #[error("{}", joined(.0))]
    Tools(Vec<ToolkitFault>),
}

impl Workspace {
    /// Creates a project's workspace.
    pub fn builder() -> WorkspaceBuilder {
        WorkspaceBuilder::default()
    }

    /// Creates an organisation's workspace.
    pub fn org_builder(org: impl Into<String>) -> WorkspaceBuilder {
        let mut builder = WorkspaceBuilder::default();
        match OrgName::new(org) {
            Ok(org) => builder.workspace.org = Some(org),
            Err(error) => builder.faults.push(error.into()),
        }
        builder
    }

    /// Continues a workspace, so that you can add toolboxes, such as tools in Rust to those from a file.
    pub fn into_builder(self) -> WorkspaceBuilder {
        WorkspaceBuilder { workspace: self, faults: Vec::new() }
    }

    /// Returns the organisation, or `None` for a project.
    #[must_use]
    pub fn org(&self) -> Option<&OrgName> {
        self.org.as_ref()
    }

    /// Returns the toolboxes, in the order they were added.
    #[must_use]
    pub fn toolboxes(&self) -> &[Toolbox] {
        &self.toolboxes
    }

    /// Returns the toolbox with this namespace.
    #[must_use]
    pub fn toolbox(&self, namespace: &str) -> Option<&Toolbox> {
        self.toolboxes.iter().find(|toolbox| toolbox.namespace().is_some_and(|own| own.as_str() == namespace))
    }

    /// Reserves the name of a tool that can't be used, so that it does not mean another one. A lookup reports the
    /// reason.
    pub fn set_aside(
        &mut self,
        namespace: &Namespace,
        name: SimpleName,
        exported: Exported,
        reason: impl Into<Arc<str>>,
    ) -> Result<(), WorkspaceFault> {
        self.toolbox_mut(namespace).set_aside_tool(SetAsideTool { name, exported, reason: reason.into() })
    }

    /// Records that a toolbox lacks tools with unknown names. A lookup that misses reports the reason.
    pub fn set_incomplete(&mut self, namespace: &Namespace, reason: impl Into<Arc<str>>) {
        self.toolbox_mut(namespace).set_incomplete(reason.into());
    }

    /// Returns the toolbox with this namespace.
    pub(crate) fn existing_toolbox_mut(&mut self, namespace: &Namespace) -> Option<&mut Toolbox> {
        self.toolboxes.iter_mut().find(|toolbox| toolbox.namespace() == Some(namespace))
    }

    pub(crate) fn toolboxes_mut(&mut self) -> &mut [Toolbox] {
        &mut self.toolboxes
    }

    /// Returns the toolbox with this namespace, adding it if it is missing.
    pub(crate) fn toolbox_mut(&mut self, namespace: &Namespace) -> &mut Toolbox {
        let at = self.toolboxes.iter().position(|toolbox| toolbox.namespace() == Some(namespace));
        let at = at.unwrap_or_else(|| {
            self.toolboxes.push(Toolbox::new(Some(namespace.clone())));
            self.toolboxes.len() - 1
        });
        &mut self.toolboxes[at]
    }

    /// Returns the faults that the toolboxes have together.
    pub(crate) fn common_faults(&self) -> Vec<WorkspaceFault> {
        let mut faults = Vec::new();
        let mut namespaces = BTreeMap::<String, usize>::new();
        let mut exports = BTreeMap::<&str, Vec<String>>::new();
        for (toolbox, namespace) in self.toolboxes.iter().filter_map(|toolbox| Some((toolbox, toolbox.namespace()?))) {
            let namespace = namespace.as_str();
            let count = namespaces.entry(namespace.to_ascii_lowercase()).or_default();
            *count += 1;
            if *count == 2 {
                faults.push(WorkspaceFault::DuplicateToolbox(namespace.to_owned()));
            }
            for name in toolbox.toolkit().names().filter(|name| toolbox.exports(name)) {
                exports.entry(name).or_default().push(format!("`{namespace}`"));
            }
        }
        let duplicates = exports.into_iter().filter(|(_, namespaces)| namespaces.len() > 1);
        faults.extend(
            duplicates.map(|(name, namespaces)| WorkspaceFault::DuplicateExport { name: name.to_owned(), namespaces }),
        );
        faults
    }
}

/// A workspace in progress. Faults are collected, and reported together when it is built.
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct WorkspaceBuilder {
    workspace: Workspace,
    faults: Vec<WorkspaceFault>,
}

/// A toolbox in progress. [`done`](Self::done) returns to its workspace.
#[derive(Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct ToolboxBuilder {
    workspace: WorkspaceBuilder,
    /// Without a namespace if its name is invalid: its tools are checked, and it is left out.
    toolbox: Toolbox,
}

impl WorkspaceBuilder {
    /// Starts a toolbox.
    pub fn toolbox(mut self, namespace: impl Into<String>) -> ToolboxBuilder {
        let namespace = Namespace::new(namespace).map_err(|error| self.faults.push(error.into())).ok();
        ToolboxBuilder { workspace: self, toolbox: Toolbox::new(namespace) }
    }

    /// Builds the workspace. An error lists all faults.
    pub fn build(mut self) -> Result<Workspace, WorkspaceError> {
        self.faults.extend(self.workspace.common_faults());
        if self.faults.is_empty() { Ok(self.workspace) } else { Err(WorkspaceError { faults: self.faults }) }
    }
}

impl ToolboxBuilder {
    /// Sets the toolbox's description, or unsets it by `None`.
    pub fn describe<M>(mut self, text: impl IntoDescription<M>) -> Self {
        self.toolbox.set_description(text.into_description());
        self
    }

    /// Adds a tool that is found by its name with the namespace.
    pub fn tool(self, tool: Tool) -> Self {
        self.add(tool, Exported::No)
    }

    /// Adds a tool that is also found by its simple name alone.
    pub fn exported(self, tool: Tool) -> Self {
        self.add(tool, Exported::Yes)
    }

    /// Adds a tool that is exported or not.
    pub fn add(mut self, tool: Tool, exported: Exported) -> Self {
        self.workspace.faults.extend(self.toolbox.add(tool, exported).err());
        self
    }

    /// Adds a toolkit's tools. They find their services in the executor
    /// ([`ExecutorBuilder::service`](crate::ExecutorBuilder::service)) or in their run. A call whose service nobody
    /// provides fails before it starts. A toolkit that has its services already is a
    /// [`served_toolkit`](Self::served_toolkit).
    ///
    /// ```
    /// use haft_executor::{Needs, Toolkit};
    /// # use haft_executor::{NoFailure, Cx, DefinitionError, StaticTool, Tool, ToolType};
    /// use haft_registry::{Executor, Registry, Workspace};
    /// # use serde_json::json;
    ///
    /// struct ApiKey(&'static str);
    ///
    /// struct Whoami; // as `#[tool] fn whoami(#[service] key: &ApiKey)` writes it
    /// # impl ToolType for Whoami {
    /// #     const NAME: &'static str = "whoami";
    /// #     type Params = ();
    /// #     type Success = String;
    /// #     type Failure = NoFailure;
    /// #     type Services = (Needs<ApiKey>,);
    /// # }
    /// # impl StaticTool for Whoami {
    /// #     fn tool() -> Result<Tool, DefinitionError> {
    /// #         let run = |(), cx: Cx| async move { cx.service::<ApiKey>().map(|key| key.0.to_owned()) };
    /// #         Tool::of::<Self>().try_handler_opaque(run)
    /// #     }
    /// # }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Toolkit::new().tool::<Whoami>(); // or `toolkit![Whoami]`
    /// let project = Workspace::builder().toolbox("session").toolkit(tools).build()?;
    /// let registry = Registry::builder().workspace(project).build()?;
    /// let executor = Executor::builder().service(ApiKey("k-1")).build(registry);
    /// assert_eq!(executor.run("session/whoami", json!({})).await?, "k-1");
    /// # Ok(())
    /// # }
    /// ```
    pub fn toolkit(self, tools: Toolkit<ServedLater>) -> Self {
        self.served_toolkit(tools.into())
    }

    /// Adds a toolkit's tools with their services.
    pub fn served_toolkit(mut self, kit: Toolkit) -> Self {
        self.workspace.faults.extend(self.toolbox.add_kit(kit));
        self
    }

    /// Adds a source whose tools change. A registry follows it, and so do all that use the registry.
    ///
    /// The tools are found by their names with the namespace only: a tool that turns up later replaces none. One whose
    /// name is invalid, or belongs to another tool in the toolbox, is left out and reported by
    /// [`Snapshot::faults`](haft_executor::Snapshot::faults).
    ///
    /// ```
    /// use haft_executor::{SharedToolkit, Tool, ToolSource};
    /// use haft_registry::{Registry, Workspace};
    ///
    /// let plugins = SharedToolkit::default();
    /// let project = Workspace::builder().toolbox("plugin").live(plugins.clone()).build()?;
    /// let registry = Registry::builder().workspace(project).build()?;
    /// assert!(registry.find("plugin/draw").is_err());
    ///
    /// plugins.add(Tool::new("draw").handler(|(), _cx| async {})?)?;
    /// assert_eq!(registry.find("plugin/draw")?.name.to_string(), "plugin/draw");
    /// assert_eq!(registry.snapshot().generation(), 1);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn live(mut self, source: impl ToolSource + 'static) -> Self {
        self.toolbox.add_live(Arc::new(source));
        self
    }

    /// Ends the toolbox.
    pub fn done(mut self) -> WorkspaceBuilder {
        if self.toolbox.namespace().is_some() {
            self.workspace.workspace.toolboxes.push(self.toolbox);
        }
        self.workspace
    }

    /// Ends the toolbox and builds the workspace.
    pub fn build(self) -> Result<Workspace, WorkspaceError> {
        self.done().build()
    }
}

impl fmt::Display for WorkspaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the workspace is invalid: {}", joined(&self.faults))
    }
}

fn owner(namespace: Option<&str>) -> String {
    namespace.map_or_else(|| "the standard toolbox".to_owned(), |namespace| format!("the toolbox `{namespace}`"))
}

pub(crate) fn joined(faults: &[impl fmt::Display]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// There is no source: the message contains all faults.
impl std::error::Error for WorkspaceError {}
