//! Merging a toolkit over another.

use std::sync::Arc;

use crate::toolkit::{ToolSet, Toolkit};

impl<S> Toolkit<S> {
    /// Merges another toolkit over this one. Where both have a tool with the same name, the other's is used, at the
    /// position of this one's, and [`shadowed`](Toolkit::shadowed) reports it. All other tools of `other` come after.
    ///
    /// Each tool keeps the services of its toolkit, and finds missing ones in the other. Middleware stays around the
    /// tools it was added to. The label is that of this toolkit.
    ///
    /// ```
    /// use haft_executor::{Services, Tool, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
    /// let base: Toolkit = Toolkit::from_iter([tool("read")?, tool("write")?]).with_services(Services::new().with(1_u8));
    /// let dry: Toolkit = Toolkit::from_iter([tool("write")?, tool("log")?]).with_services(Services::new().with(2_u8));
    ///
    /// let kit = base.merge(dry);
    /// assert_eq!(kit.names().collect::<Vec<_>>(), ["read", "write", "log"]);
    /// assert_eq!(kit.shadowed()[0].name, "write");
    /// assert_eq!(kit.services_of("read").unwrap().get::<u8>()?, &1);
    /// assert_eq!(kit.services_of("write").unwrap().get::<u8>()?, &2);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge(mut self, other: Self) -> Self {
        let set = self.set_mut();
        set.finish_provisioning();
        set.absorb(Arc::unwrap_or_clone(other.set));
        set.rebuild_provisions(Arc::clone);
        self.needs.extend(other.needs);
        self
    }
}

impl ToolSet {
    /// Adds everything of another set over this one. [`finish_provisioning`](Self::finish_provisioning) must have been
    /// called on this one, and the provisions must be rebuilt afterwards.
    pub(super) fn absorb(&mut self, mut other: Self) {
        other.finish_provisioning();
        self.widen(other.scope.as_ref());
        for shadowed in other.shadowed {
            self.shadowed.record(shadowed);
        }
        for entry in other.entries {
            self.put(entry);
        }
        self.faults.extend(other.faults);
    }
}
