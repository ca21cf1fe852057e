//! Collecting tools that may share a name.
//!
//! The last tool with a name is used, at the position of the first one, so an override does not change the order. A
//! toolkit reports each name under which tools were replaced, and how often.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use haft_core::ToolName;

use crate::seed::RandomState;
use crate::tool::Tool;
use crate::toolkit::{ToolEntry, ToolSet, Toolkit};

/// A name under which tools were replaced by a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shadowed {
    /// The name.
    pub name: ToolName,
    /// The number of replaced tools. Never zero.
    pub times: usize,
}

/// The names under which tools were replaced, with an index.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadows {
    /// The names, in the order of the first replacement.
    names: Vec<Shadowed>,
    /// The position of each name.
    index: HashMap<ToolName, usize, RandomState>,
}

/// Collecting tools.
impl<S> Toolkit<S> {
    /// Creates an empty toolkit.
    ///
    /// ```
    /// use haft_executor::Toolkit;
    ///
    /// let kit: Toolkit = Toolkit::empty();
    /// assert!(kit.is_empty());
    /// kit.ensure_runnable()?;
    /// # Ok::<_, haft_executor::NotRunnable>(())
    /// ```
    pub fn empty() -> Self {
        Self::new()
    }

    /// Returns the names under which tools were replaced by a later one, in the order of the first replacement.
    /// Collecting and [merging](Toolkit::merge) replace tools; use [`with_all`](Toolkit::with_all) or
    /// [`compose`](Toolkit::compose) to get an error instead.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
    /// let kit: Toolkit = [tool("search")?, tool("fetch")?, tool("search")?].into_iter().collect();
    /// assert_eq!(kit.names().collect::<Vec<_>>(), ["search", "fetch"]);
    /// assert_eq!(kit.shadowed()[0].name, "search");
    /// assert_eq!(kit.shadowed()[0].to_string(), "1 tool named `search` was replaced by a later one");
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    #[must_use]
    pub fn shadowed(&self) -> &[Shadowed] {
        &self.set.shadowed.names
    }
}

/// Collects tools. The last tool with a name is used, at the position of the first one. See [`Toolkit::shadowed`].
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
    /// Adds a tool, replacing the one with the same name.
    pub(super) fn put(&mut self, entry: ToolEntry) {
        let name = entry.tool.shared_name().clone();
        match self.index.get(&name) {
            Some(&place) => {
                self.entries[place] = entry;
                self.shadowed.record(Shadowed { name, times: 1 });
            }
            None => {
                self.index.insert(name, self.entries.len());
                self.entries.push(entry);
            }
        }
    }
}

impl Shadows {
    /// Records a replacement.
    pub(super) fn record(&mut self, shadowed: Shadowed) {
        match self.index.get(&shadowed.name) {
            Some(&place) => self.names[place].times += shadowed.times,
            None => {
                self.index.insert(shadowed.name.clone(), self.names.len());
                self.names.push(shadowed);
            }
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.names == other.names
    }

    /// Returns the names that still exist, each renamed by `rename`.
    pub(super) fn renamed(self, rename: impl Fn(&ToolName) -> Option<ToolName>) -> Self {
        let mut renamed = Self::default();
        for Shadowed { name, times } in self.names {
            if let Some(name) = rename(&name) {
                renamed.record(Shadowed { name, times });
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
        let (tools, were) = if self.times == 1 { ("tool", "was") } else { ("tools", "were") };
        write!(f, "{} {tools} named `{}` {were} replaced by a later one", self.times, self.name)
    }
}
