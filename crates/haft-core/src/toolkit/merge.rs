//! One toolkit over another.

use std::sync::Arc;

use crate::toolkit::{ToolSet, Toolkit};

impl<S> Toolkit<S> {
    /// This toolkit with another one over it: where both have a tool of one name, the other's wins, in this one's place,
    /// and [`shadowed`](Toolkit::shadowed) says so. Everything else of the other comes after.
    ///
    /// Each tool keeps the services that its own toolkit was given, and finds what it lacks at the other. Middleware
    /// stays around the tools it was wrapped around. The label is this toolkit's.
    ///
    /// ```
    /// use haft_core::{Services, Tool, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).run(|(), _cx| async {});
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
    /// Adds everything of another set over this one, which is [settled](Self::settle) and stays so. What tools are provided
    /// with is to be made anew afterwards.
    pub(super) fn absorb(&mut self, mut other: Self) {
        other.finish_provisioning();
        self.widen(other.scope.as_ref());
        for shadowed in other.shadowed {
            self.shadowed.note(shadowed);
        }
        for entry in other.entries {
            self.put(entry);
        }
        self.faults.extend(other.faults);
    }
}
