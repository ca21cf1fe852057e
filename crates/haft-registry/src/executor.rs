//! The executor service: runs a registry's tools by name.
//!
//! ```text
//! run(name, input) ─> look up ─> permission ─> input ─> dispatch ─> output ─> value
//!                     NotFound   Execution     Input-   Execution   Output-
//!                                              Validation           Validation
//! ```
//!
//! Everything after the lookup is a run in the core. The executor attaches permissions and approval rules to the
//! registry's tools, and the tools keep them wherever they run. So a batch dispatched on the executor as a source, a
//! turn loop and a server decide exactly as [`Executor::run`] does, and none can leave a check out.
//!
//! An executor never looks at arguments or results itself.

mod builder;
mod error;
mod guarded;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use haft_core::{ToolCall, ToolResult};
use haft_executor::{Changed, Dispatch, RunOptions, Snapshot, ToolSource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::builder::ExecutorBuilder;
pub use self::error::ExecutorError;
use self::guarded::GuardedTools;
use crate::error::{LookupError, RegistryError};
use crate::listing::RegisteredTool;
use crate::name::FullName;
use crate::permission::PermissionExplanation;
use crate::registry::{Registry, RegistryBuilder};

/// The call id for [`Executor::run`]: each run has a single call.
const CALL_ID: &str = "run";

/// Runs registry tools by their full or shorter names. Clones share everything.
///
/// ```
/// use haft_executor::Tool;
/// use haft_registry::{Executor, ExecutorError, Registry, Workspace};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sum { a: i64, b: i64 }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let add = Tool::new("add").handler(|sum: Sum, _cx| async move { sum.a + sum.b })?;
/// let project = Workspace::builder().toolbox("math").tool(add).build()?;
/// let executor = Executor::new(Registry::builder().workspace(project).build()?);
///
/// assert_eq!(executor.run_as::<i64>("math/add", json!({"a": 1, "b": 2})).await?, 3);
///
/// let error = executor.run("math/add", json!({"a": 1, "b": "2"})).await.unwrap_err();
/// assert!(matches!(error, ExecutorError::InputValidation { .. }));
/// assert_eq!(error.issues()[0].pointer, "/b");
///
/// let error = executor.run("math/ad", json!({})).await.unwrap_err();
/// assert_eq!(error.to_string(), "there is no tool named `math/ad`; did you mean `math/add`?");
/// # Ok(())
/// # }
/// ```
///
/// An executor is also a [`ToolSource`], so [`Dispatch`] lists its tools and runs call batches under their full names,
/// with all run options: see [`options`](Self::options).
#[derive(Clone)]
pub struct Executor(Arc<Service>);

struct Service {
    registry: Registry,
    state: RwLock<ServiceState>,
}

/// No user code runs while this is locked.
struct ServiceState {
    /// The settings for this generation's tools and later ones.
    settings: Arc<ExecutorBuilder>,
    since: u64,
    /// The newest tools that were made.
    newest: Option<Arc<GuardedTools>>,
}

impl Executor {
    /// Creates an executor without permissions: you may call all tools.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self::builder().build(registry)
    }

    /// Starts an executor with services, permissions and approval rules.
    pub fn builder() -> ExecutorBuilder {
        ExecutorBuilder::new()
    }

    fn of(registry: Registry, settings: ExecutorBuilder) -> Self {
        let state = ServiceState { settings: Arc::new(settings), since: 0, newest: None };
        Self(Arc::new(Service { registry, state: RwLock::new(state) }))
    }

    /// Replaces all registry tools and all settings in one step. Runs that have begun keep what they began with; an
    /// error changes nothing.
    pub fn replace(&self, tools: RegistryBuilder, settings: ExecutorBuilder) -> Result<(), RegistryError> {
        let settings = Arc::new(settings);
        let mut unused = None;
        self.0.registry.set_all_and(tools, |generation| {
            let mut state = self.0.state.write().unwrap_or_else(PoisonError::into_inner);
            state.since = generation;
            unused = Some(std::mem::replace(&mut state.settings, settings));
        })?;
        // Drop outside the lock: a service's `Drop` is user code.
        drop(unused);
        Ok(())
    }

    /// Runs a tool and returns its output.
    ///
    /// The input is what a model would send: JSON that the tool's schema accepts. Values that the tool emits go to the
    /// options' [sink](RunOptions::sink), or are dropped.
    pub async fn run(&self, name: &str, input: impl Serialize) -> Result<Value, ExecutorError> {
        self.run_as(name, input).await
    }

    /// Runs a tool and reads its output as a `T`. If the output is not a `T`, you get
    /// [`OutputValidation`](ExecutorError::OutputValidation), although the tool has run.
    pub async fn run_as<T: DeserializeOwned>(&self, name: &str, input: impl Serialize) -> Result<T, ExecutorError> {
        let input = serde_json::to_string(&input);
        let (tool, result) = self.run_text(name, input, RunOptions::new()).await?;
        result.decode().map_err(|failure| ExecutorError::of_failure(tool, failure))
    }

    /// Runs a tool with options for this run, such as its caller, services, cancellation or approver. They are
    /// [merged](RunOptions::merge) with the executor's own. Permissions still apply, and so do approval rules unless
    /// the options [replace](RunOptions::policy_instead) them.
    ///
    /// ```
    /// use haft_executor::{Cx, RunOptions, Tool};
    /// # use haft_registry::{Executor, Registry, Workspace};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let whoami = Tool::new("whoami").handler(|(), cx: Cx| async move { cx.caller().map(ToString::to_string) })?;
    /// # let project = Workspace::builder().toolbox("session").tool(whoami).build()?;
    /// # let executor = Executor::new(Registry::builder().workspace(project).build()?);
    /// let options = RunOptions::new().caller("user:ana");
    /// assert_eq!(executor.run_with("session/whoami", json!({}), options).await?, "user:ana");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_with(
        &self,
        name: &str,
        input: impl Serialize,
        options: impl Into<RunOptions>,
    ) -> Result<Value, ExecutorError> {
        let input = serde_json::to_string(&input);
        let (tool, result) = self.run_text(name, input, options.into()).await?;
        result.decode().map_err(|failure| ExecutorError::of_failure(tool, failure))
    }

    /// Runs a tool, whatever its input and output types.
    async fn run_text(
        &self,
        name: &str,
        input: Result<String, serde_json::Error>,
        options: RunOptions,
    ) -> Result<(FullName, ToolResult), ExecutorError> {
        let tools = self.tools();
        let options = tools.options().clone().merge(options);
        let tool = look_up(&tools, &options, name)?;
        let input = input.map_err(|error| ExecutorError::unwritable(tool.name.clone(), error))?;
        let call = ToolCall::new(CALL_ID, tool.tool.name(), input);
        let snapshot = if tool.is_replaced() { tools.all() } else { tools.visible() };
        let run = snapshot.run_calls(vec![call.into()], options);
        match run.collect_results().await.pop() {
            Some(result) => Ok((tool.name.clone(), result)),
            None => Err(ExecutorError::suspended(tool.name.clone())),
        }
    }

    /// Finds a tool by its full or a shorter name, as [`Registry::find`] does, with its permissions and approval rules.
    ///
    /// Tools that the permissions hide are not found, not suggested, and not among an ambiguous name's candidates.
    pub fn find(&self, name: &str) -> Result<Arc<RegisteredTool>, LookupError> {
        let tools = self.tools();
        let mut found = look_up(&tools, tools.options(), name)?;
        if let Some(guarded) = tools.get(&found) {
            Arc::make_mut(&mut found).tool = guarded.clone();
        }
        Ok(found)
    }

    /// Explains to a person which permission rules match a tool and what they decide together. Returns `None` if the
    /// executor has no permissions. Leaves out the permissions from the scope around a call.
    #[must_use]
    pub fn explain(&self, tool: &RegisteredTool) -> Option<PermissionExplanation> {
        self.tools().explain(tool)
    }

    /// Returns the names of the approval rules that match a tool with at least some arguments.
    #[must_use]
    pub fn approval_rules(&self, tool: &RegisteredTool) -> Vec<String> {
        self.tools().asks(tool)
    }

    /// Returns the registry. Its tools lack this executor's permissions, approval rules and services: run them through
    /// the executor, not through the registry.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// Returns the options that [`run`](Self::run) uses, so that you can run batches with the same limits, approver and
    /// observers:
    ///
    /// ```
    /// use haft_executor::{Dispatch, RunOptions};
    /// use haft_core::ToolCall;
    /// # use haft_executor::Tool;
    /// # use haft_registry::{Executor, Registry, Workspace};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let now = Tool::new("now").handler(|(), _cx| async { 7 })?;
    /// # let project = Workspace::builder().toolbox("time").tool(now).build()?;
    /// # let registry = Registry::builder().workspace(project).build()?;
    /// let executor = Executor::builder().options(RunOptions::new().concurrency(4)).build(registry);
    /// let calls = vec![ToolCall::new("c1", "time/now", "").into(), ToolCall::new("c2", "time/now", "").into()];
    /// let results = executor.run_calls(calls, executor.options()).collect_results().await;
    /// assert!(results.iter().all(|result| result.is_ok()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// They do not include permissions, approval rules and services: the tools have those themselves.
    #[must_use]
    pub fn options(&self) -> RunOptions {
        self.tools().options().clone()
    }

    /// Returns the current tools.
    fn tools(&self) -> Arc<GuardedTools> {
        let (index, generation, settings) = loop {
            let (index, generation) = self.0.registry.current();
            let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(newest) = state.newest.as_ref().filter(|newest| newest.visible().generation() >= generation) {
                return Arc::clone(newest);
            }
            // Tools must not get another registry's rules, so tools replaced in the meantime are read again. Their
            // successors are published while the registry is locked, so reading waits until they are there.
            if generation >= state.since {
                break (index, generation, Arc::clone(&state.settings));
            }
        };
        // Copy the tools outside the lock, because that drops user values. Two threads may do so at the same time.
        let made = Arc::new(GuardedTools::new(index, generation, settings));
        let mut state = self.0.state.write().unwrap_or_else(PoisonError::into_inner);
        let is_newer = state.newest.as_ref().is_none_or(|newest| newest.visible().generation() < generation);
        let before = is_newer.then(|| state.newest.replace(Arc::clone(&made)));
        drop(state);
        drop(before);
        made
    }
}

/// Finds a tool that the caller may know about.
fn look_up(tools: &GuardedTools, options: &RunOptions, name: &str) -> Result<Arc<RegisteredTool>, LookupError> {
    let sees = |tool: &RegisteredTool| tools.get(tool).is_some_and(|tool| options.sees(tool));
    tools.index().find_among(name, sees, |name| tools.may_know(name)).cloned()
}

/// The tools under their full names, with their permissions, approval rules and services.
impl ToolSource for Executor {
    fn snapshot(&self) -> Snapshot {
        self.tools().visible().clone()
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        self.0.registry.changed(after)
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("registry", &self.0.registry).finish_non_exhaustive()
    }
}
