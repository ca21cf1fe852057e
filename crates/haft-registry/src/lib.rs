//! A registry of tools: toolboxes, workspaces of projects and organisations, and lookup by name.

// names, and the tools that have them
mod error;
mod index;
mod layers;
mod listing;
mod name;
mod registry;
mod similar;
mod toolbox;
mod workspace;

pub use self::error::{LookupError, RegistryError, RegistryFault};
pub use self::listing::RegisteredTool;
pub use self::name::{
    FullName, MAX_SEGMENT_LEN, NameError, Namespace, OrgName, RegistryNameFault, SimpleName, ToolOrigin,
};
pub use self::registry::{Registry, RegistryBuilder};
pub use self::toolbox::Toolbox;
pub use self::workspace::{ToolboxBuilder, Workspace, WorkspaceBuilder, WorkspaceError, WorkspaceFault};

// running them, and who may
mod executor;
mod permission;
mod secrets;

pub use self::executor::{Executor, ExecutorBuilder, ExecutorError};
pub use self::permission::{
    AmbientPermissions, AskRules, AskSettings, MAX_PATTERN_LEN, PatternList, PermissionExplanation, PermissionOutcome,
    PermissionRule, PermissionSettings, Permissions, RuleEffect, RuleSetSettings, RuleSettings, ToolPattern,
    ToolPatternError, ToolPatternFault, ToolPermit,
};
#[cfg(feature = "cel")]
pub use self::permission::{
    EvaluationError, ExpressionError, ExpressionFault, ExpressionInput, MAX_EXPRESSION_COST, MAX_EXPRESSION_LEN,
    RuleExpression,
};
pub use self::secrets::{NamedSecretError, SecretFault, SecretOrigin, Secrets};

// tools that are not Rust
mod implementation;
#[cfg(any(feature = "http", feature = "standard"))]
mod json_path;
#[cfg(feature = "standard")]
pub mod standard;

#[cfg(feature = "command")]
pub use self::implementation::command;
#[cfg(feature = "http")]
pub use self::implementation::http;
#[cfg(feature = "openapi")]
pub use self::implementation::openapi;
pub use self::implementation::{
    Building, Built, DuplicateKind, Entry, EntryError, EntryFault, ImplementationKind, Kinds, ToolSettings, TrustNeed,
    Yields,
};

// workspaces as files
#[cfg(feature = "file")]
pub mod file;
