//! A tool registry: toolboxes, workspaces for projects and organisations, and lookup by name.
//!
//! You find tools in a [`Registry`] by full or shorter names. You run them with an [`Executor`], which has the services
//! they need and applies [`Permissions`] and [approval rules](AskRules). Tools are functions, or entries in a file that
//! their [kinds](ImplementationKind) turn into tools.
//!
//! ```
//! use haft_core::{FailureKind, Readonly};
//! use haft_executor::Tool;
//! use haft_registry::{Executor, PermissionSettings, Registry, RuleSettings, Workspace};
//! use serde_json::{Value, json};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tool = |name: &str| Tool::dynamic(name).params_json(json!({"type": "object"}));
//! let count = tool("count").annotate(Readonly(true)).handler(|_: Value, _cx| async { 7 })?;
//! let delete = tool("delete").handler(|_: Value, _cx| async { "deleted" })?;
//!
//! // The full names are `mail/count` and `mail/delete`; `count` alone means the first one as well.
//! let project = Workspace::builder().toolbox("mail").exported(count).tool(delete).build()?;
//! let registry = Registry::builder().workspace(project).build()?;
//!
//! // What no rule allows is denied.
//! let permissions = PermissionSettings::new().allow(RuleSettings::tools("*").readonly(true)).build()?;
//! let executor = Executor::builder().permissions(permissions).build(registry);
//!
//! assert_eq!(executor.run("count", json!({})).await?, 7);
//! let error = executor.run("mail/delete", json!({})).await.unwrap_err();
//! assert_eq!(*error.kind(), FailureKind::PermissionDenied);
//! # Ok(())
//! # }
//! ```
//!
//! A name means the tool with the highest precedence: the project's, then an organisation's, then the standard
//! toolbox's. Full names are always unambiguous, and models see only these.
//!
//! An executor is a [`ToolSource`](haft_executor::ToolSource): call batches, turn loops and servers run its tools under the
//! same rules as [`Executor::run`]. The registry below it has no rules.
//!
//! | types | for |
//! |---|---|
//! | [`Registry`], [`Workspace`], [`Toolbox`] | names, precedence, changes while tools run |
//! | [`Executor`], [`ExecutorError`] | running by name |
//! | [`Permissions`], [`AskRules`], [`RuleExpression`] | who may call what, and what requires approval |
//! | [`Secrets`] | secrets that tools refer to by name |
//! | [`ImplementationKind`], [`Kinds`] | kinds of tools in files |
//!
//! The kinds themselves are in `haft-tools`, and workspace files in `haft-workspace`.

// names, and the tools that have them
mod error;
mod index;
mod layers;
mod listing;
mod name;
mod registry;
mod seed;
mod similar;
mod toolbox;
mod workspace;

pub use self::error::{LookupError, RegistryError, RegistryFault};
pub use self::listing::RegisteredTool;
pub use self::name::{
    FullName, MAX_SEGMENT_LEN, NameError, Namespace, OrgName, RegistryNameFault, SimpleName, ToolOrigin,
};
pub use self::registry::{Registry, RegistryBuilder};
pub use self::toolbox::{Exported, Toolbox};
pub use self::workspace::{ToolboxBuilder, Workspace, WorkspaceBuilder, WorkspaceError, WorkspaceFault};

// running them, and who may
mod executor;
mod permission;
mod secrets;

pub use self::executor::{Executor, ExecutorBuilder, ExecutorError};
pub use self::permission::{
    AmbientPermissions, AskRules, AskSettings, CallerGroups, ConditionFinding, ConditionSeverity, EvaluationError,
    ExpressionError, ExpressionFault, ExpressionInput, MAX_EXPRESSION_COST, MAX_EXPRESSION_LEN, MAX_PATTERN_LEN,
    PatternList, PermissionExplanation, PermissionOutcome, PermissionRule, PermissionSettings, Permissions, RuleEffect,
    RuleExpression, RuleSetSettings, RuleSettings, RunPermit, ToolPattern, ToolPatternError, ToolPatternFault,
    ToolPermit, UnmatchedRule,
};
pub use self::secrets::{NamedSecretError, SecretFault, SecretOrigin, Secrets};

// how file entries become tools
mod kind;

pub use self::kind::{
    Building, Built, CallEffect, CallPreview, Closing, DuplicateKind, EffectFact, Entry, EntryError, EntryFault,
    ImplementationKind, ImportLister, ImportLogin, Kinds, ListedImport, ListingImport, LiveSource, LoggingIn,
    LoginRequired, OpenPage, PinOrigin, PinnedImport, PinnedTool, Probe, Reach, Recipient, Refreshing, ReportedServer,
    StartedCommand, ToolSettings, Yields, command_line, reading,
};
