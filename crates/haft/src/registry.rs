//! Tools by name: toolboxes and workspaces, the executor service, permissions, and tools that are not Rust.
//!
//! ```text
//!  standard toolbox   tool            ┐
//!  project            ns/tool         ├─ Registry ─┐
//!  organisations      org/ns/tool     ┘            ├─ Executor ── run("ns/tool", input) ─► output
//!  permissions, approval rules, services ──────────┘     └── a source: list, dispatch, turn loops, servers
//! ```
//!
//! A [`Registry`] has the tools of the standard toolbox, of a project and of organisations under names that do not
//! collide. An [`Executor`] runs them by their full or a shorter name:
//!
//! ```
//! use haft::prelude::*;
//! use haft::registry::{Executor, PermissionSettings, Registry, Workspace};
//! use haft::serde_json::json;
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let project = Workspace::builder().toolbox("math").toolkit(toolkit![Add]).build()?;
//! let registry = Registry::builder().workspace(project).build()?;
//! let permissions = PermissionSettings::new().allow("math/*").build()?;
//! let executor = Executor::builder().permissions(permissions).build(registry);
//!
//! assert_eq!(executor.run_as::<i64>("math/add", json!({"a": 1, "b": 2})).await?, 3);
//! let error = executor.run("math/add", json!({"a": 1, "b": "2"})).await.unwrap_err();
//! assert_eq!(error.issues()[0].pointer, "/b");
//! # Ok(())
//! # }
//! ```
//!
//! It is a [`ToolSource`](crate::toolkit::ToolSource), so a turn loop, a batch of calls and a server use it as it is; the
//! tools carry their permissions and approval rules with them, and nothing can run them without. Limits, the approver and
//! observers are options of a run, which a loop or a batch takes from [`Executor::options`]:
//!
//! ```
//! # use haft::model::ScriptedTurn;
//! # use haft::prelude::*;
//! # use haft::registry::{Executor, PermissionSettings, Registry};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let model = ScriptedModel::new([ScriptedTurn::text("Nothing to do.")]);
//! # let registry = Registry::builder().build()?;
//! let executor = Executor::builder().options(RunOptions::new().concurrency(4)).build(registry);
//! let agent = TurnLoop::new(model, executor.clone()).options(executor.options());
//!
//! // The permissions of one tenant hold for everything that the loop does, wherever it is polled.
//! let tenant = PermissionSettings::new().allow("math/*").build()?;
//! let run = tenant.sync_scope(|| agent.start(TurnRequest::new("any", vec![Item::user("Hello")])));
//! let outcome = run.finish().await;
//! # assert_eq!(outcome.state.turns(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! The modules `tools` and `workspace`, with the features of these names, have tools that are not Rust, and workspaces as
//! files. Further kinds of tools implement [`ImplementationKind`].

#[doc(inline)]
pub use haft_registry::{
    AmbientPermissions, AskRules, AskSettings, Building, Built, CallEffect, CallPreview, CallerGroups, Closing,
    ConditionFinding, ConditionSeverity, DuplicateKind, EffectFact, Entry, EntryError, EntryFault, EvaluationError,
    Executor, ExecutorBuilder, ExecutorError, Exported, ExpressionError, ExpressionFault, ExpressionInput, FullName,
    ImplementationKind, ImportLister, ImportLogin, Kinds, ListedImport, ListingImport, LiveSource, LoggingIn,
    LoginRequired, LookupError, MAX_EXPRESSION_COST, MAX_EXPRESSION_LEN, MAX_PATTERN_LEN, MAX_SEGMENT_LEN, NameError,
    NamedSecretError, Namespace, OpenPage, OrgName, PatternList, PermissionExplanation, PermissionOutcome,
    PermissionRule, PermissionSettings, Permissions, PinOrigin, PinnedImport, PinnedTool, Probe, Reach, Recipient,
    Refreshing, RegisteredTool, Registry, RegistryBuilder, RegistryError, RegistryFault, RegistryNameFault,
    ReportedServer, RuleEffect, RuleExpression, RuleSetSettings, RuleSettings, RunPermit, SecretFault, SecretOrigin,
    Secrets, SimpleName, StartedCommand, ToolOrigin, ToolPattern, ToolPatternError, ToolPatternFault, ToolPermit,
    ToolSettings, Toolbox, ToolboxBuilder, UnmatchedRule, Workspace, WorkspaceBuilder, WorkspaceError, WorkspaceFault,
    Yields, command_line, reading,
};
