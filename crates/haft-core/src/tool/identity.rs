//! What tells one tool from every other.
//!
//! Two tools may share a name, an id and their schemas and still answer differently: other handlers, other middlewares,
//! other state inside. Whoever remembers what a tool answered must ask for this identity and never for the name.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use crate::tool::{Inner, Tool};

/// The identity of a tool and its clones; a changed copy has another. It doesn't keep the tool alive, and is never given
/// to a later tool.
#[derive(Clone)]
pub(crate) struct ToolIdentity(Weak<Inner>);

impl Tool {
    pub(crate) fn identity(&self) -> ToolIdentity {
        ToolIdentity(Arc::downgrade(&self.0))
    }
}

impl PartialEq for ToolIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for ToolIdentity {}

impl Hash for ToolIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}
