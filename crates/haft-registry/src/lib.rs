//! A registry of tools: toolboxes, workspaces of projects and organisations, and lookup by name.

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
