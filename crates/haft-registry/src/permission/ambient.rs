//! The permissions from the scopes around a call.

use std::sync::Arc;

use haft_executor::{Ambient, Tool};

use super::Permissions;
use super::permit::ToolPermit;
use crate::name::FullName;

/// The current scopes' permissions, all of which must allow a call. Cloning is cheap.
///
/// They follow the code in [`Permissions::scope`], and the runs and tasks that the executor starts there. They do not
/// follow tasks that user code spawns.
#[derive(Clone, Debug, Default)]
pub struct AmbientPermissions(Arc<[Permissions]>);

impl AmbientPermissions {
    /// Returns the permissions that apply where you call this; none outside every scope.
    #[must_use]
    pub fn current() -> Self {
        Ambient::current().get::<Self>().cloned().unwrap_or_default()
    }

    /// Returns the permissions, the outermost scope's first.
    pub fn iter(&self) -> impl Iterator<Item = &Permissions> {
        self.0.iter()
    }

    /// Creates a permit for a tool that asks only the permissions from the scope around each call.
    #[must_use]
    pub fn permit_for(name: &FullName, tool: &Tool) -> ToolPermit {
        ToolPermit::new([], name, tool)
    }

    /// Adds permissions. Nothing can be removed, so a nested scope never permits more.
    pub(super) fn narrowed(&self, by: Permissions) -> Self {
        if self.iter().any(|known| known.is_same(&by)) {
            return self.clone();
        }
        Self(self.0.iter().cloned().chain([by]).collect())
    }
}
