//! The identity of a tool, which differs from that of every other tool.
//!
//! Two tools may share a name, an id and their schemas and still return different results: they may have other
//! handlers, other middleware or other state. Code that remembers results of a tool must use this identity as the key,
//! never the name.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use crate::tool::{Inner, Tool};

/// The identity of a tool and its clones. A changed copy has another one. It does not keep the tool alive, and is never
/// reused for a later tool.
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
