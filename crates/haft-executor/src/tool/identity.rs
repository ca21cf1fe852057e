//! The identity of a tool.
//!
//! Two tools may share a name, an id and their schemas and still answer differently: other handlers, other middlewares,
//! other captured state. A cache must therefore tell tools apart by this identity and never by name.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use crate::tool::{Inner, Tool};

/// The identity of a tool and its clones; a changed copy has another one. It does not keep the tool alive, and no later
/// tool has it. See [`Tool::identity`].
#[derive(Clone)]
pub struct ToolIdentity(Weak<Inner>);

impl Tool {
    /// Returns the identity of the tool, by which a cache tells it from tools of the same name.
    ///
    /// ```
    /// use haft_executor::Tool;
    ///
    /// let one = || Tool::new("one").handler(|(), _cx| async { 1 });
    /// let (tool, same_name) = (one()?, one()?);
    /// assert_eq!(tool.identity(), tool.clone().identity());
    /// assert_ne!(tool.identity(), same_name.identity());
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    #[must_use]
    pub fn identity(&self) -> ToolIdentity {
        ToolIdentity(Arc::downgrade(&self.0))
    }
}

impl PartialEq for ToolIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for ToolIdentity {}

impl fmt::Debug for ToolIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolIdentity").field(&self.0.as_ptr()).finish()
    }
}

impl Hash for ToolIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}
