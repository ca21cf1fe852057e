//! Collecting tools when some may share a name.
//!
//! The last tool of a name wins and stands where the first one stood, so an override moves nothing. That a tool gave way
//! is never kept quiet: the toolkit says whose name was taken, and how often.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::seed::RandomState;
use crate::tool::{Tool, ToolName};
use crate::toolkit::{ToolEntry, ToolSet, Toolkit};

/// A name under which tools gave way to a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shadowed {
    /// The name.
    pub name: ToolName,
    /// How many tools gave way. Never zero.
    pub times: usize,
}

/// The names under which tools gave way, each found at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadows {
    /// In the order that first happened.
    names: Vec<Shadowed>,
    /// The place of each name.
    index: HashMap<ToolName, usize, RandomState>,
}

/// Collecting tools.
impl<S> Toolkit<S> {
    /// A toolkit of no tools, to start from.
    ///
    /// ```
    /// use haft_core::Toolkit;
    ///
    /// let kit: Toolkit = Toolkit::empty();
    /// assert!(kit.is_empty());
    /// kit.ensure_runnable()?;
    /// # Ok::<_, haft_core::NotRunnable>(())
    /// ```
    pub fn empty() -> Self {
        Self::new()
    }

    /// The names under which tools gave way to a later one, in the order that first happened. Collecting and
    /// [merging](Toolkit::merge) let the later one win; who wants an error instead uses [`with_all`](Toolkit::with_all)
    /// or [`compose`](Toolkit::compose).
    ///
    /// ```
    /// use haft_core::{Tool, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).run(|(), _cx| async {});
    /// let kit: Toolkit = [tool("search")?, tool("fetch")?, tool("search")?].into_iter().collect();
    /// assert_eq!(kit.names().collect::<Vec<_>>(), ["search", "fetch"]);
    /// assert_eq!(kit.shadowed()[0].name, "search");
    /// assert_eq!(kit.shadowed()[0].to_string(), "1 tool named `search` gave way to a later one");
    /// # Ok::<_, haft_core::DefinitionError>(())
    /// ```
    #[must_use]
    pub fn shadowed(&self) -> &[Shadowed] {
        &self.set.shadowed.names
    }
}

/// The last tool of a name wins, and stands where the first one stood. See [`Toolkit::shadowed`].
impl<S> FromIterator<Tool> for Toolkit<S> {
    fn from_iter<I: IntoIterator<Item = Tool>>(tools: I) -> Self {
        let mut set = ToolSet::default();
        for tool in tools {
            set.put(ToolEntry { tool, provision: None });
        }
        Self { set: Arc::new(set), needs: Vec::new() }
    }
}

impl ToolSet {
    /// Adds a tool, in the place of the one that has its name.
    pub(super) fn put(&mut self, entry: ToolEntry) {
        let name = entry.tool.shared_name().clone();
        match self.index.get(&name) {
            Some(&place) => {
                self.entries[place] = entry;
                self.shadowed.note(Shadowed { name, times: 1 });
            }
            None => {
                self.index.insert(name, self.entries.len());
                self.entries.push(entry);
            }
        }
    }
}

impl Shadows {
    /// Adds to what is known of a name.
    pub(super) fn note(&mut self, shadowed: Shadowed) {
        match self.index.get(&shadowed.name) {
            Some(&place) => self.names[place].times += shadowed.times,
            None => {
                self.index.insert(shadowed.name.clone(), self.names.len());
                self.names.push(shadowed);
            }
        }
    }

    /// Returns the names that are still there, each as `rename` spells it now.
    pub(super) fn renamed(self, rename: impl Fn(&ToolName) -> Option<ToolName>) -> Self {
        let mut renamed = Self::default();
        for Shadowed { name, times } in self.names {
            if let Some(name) = rename(&name) {
                renamed.note(Shadowed { name, times });
            }
        }
        renamed
    }
}

impl IntoIterator for Shadows {
    type Item = Shadowed;
    type IntoIter = std::vec::IntoIter<Shadowed>;

    fn into_iter(self) -> Self::IntoIter {
        self.names.into_iter()
    }
}

impl fmt::Display for Shadowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = if self.times == 1 { "tool" } else { "tools" };
        write!(f, "{} {tools} named `{}` gave way to a later one", self.times, self.name)
    }
}
