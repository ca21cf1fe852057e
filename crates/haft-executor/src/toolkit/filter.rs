//! Selecting tools of a toolkit.

use crate::tool::Tool;
use crate::toolkit::Toolkit;

impl<S> Toolkit<S> {
    /// Keeps the tools for which `keep` returns `true`, in their order, with their services. The required state stays
    /// that of the whole toolkit.
    ///
    /// ```
    /// use haft_core::Readonly;
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let read = Tool::new("read").annotate(Readonly(true)).handler(|(), _cx| async {})?;
    /// let write = Tool::new("write").handler(|(), _cx| async {})?;
    /// let kit: Toolkit = Toolkit::from_iter([read, write]);
    ///
    /// let harmless = kit.filter(|tool| tool.annotations().readonly());
    /// assert_eq!(harmless.names().collect::<Vec<_>>(), ["read"]);
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn filter(mut self, mut keep: impl FnMut(&Tool) -> bool) -> Self {
        let set = self.set_mut();
        set.entries.retain(|entry| keep(&entry.tool));
        let names = set.entries.iter().map(|entry| entry.tool.shared_name().clone());
        set.index = names.enumerate().map(|(place, name)| (name, place)).collect();
        let index = &set.index;
        set.shadowed = std::mem::take(&mut set.shadowed).renamed(|name| index.contains_key(name).then(|| name.clone()));
        self
    }
}
