//! Composing toolkits of equal rank.
//!
//! Composing is meant for toolkits from different sources. A name that two of them use is an error that lists all
//! toolkits that use it; the order never decides.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::toolkit::error::write_joined;
use crate::toolkit::{ToolSet, Toolkit};

/// Toolkits that can't be composed, with all names that more than one of them uses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComposeError {
    /// The names, in the order they first occur. Never empty.
    pub collisions: Vec<DuplicateToolName>,
}

/// A name that several toolkits use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} toolkits have a tool named `{name}`: {}", count(.sources.len()), .sources.join(", "))]
#[non_exhaustive]
pub struct DuplicateToolName {
    /// The name.
    pub name: String,
    /// The toolkits that use it, in order, each by its label, its namespace, or its index: `toolkit-0`.
    pub sources: Vec<String>,
}

impl<S> Toolkit<S> {
    /// Composes toolkits, in order. A name that more than one of them uses is an error that lists all such names: put
    /// one of the toolkits in a [`namespace`](Toolkit::namespace), or [`merge`](Toolkit::merge) them so that the later
    /// tool replaces the earlier one.
    ///
    /// Each tool keeps the services of its toolkit, and finds missing ones in the others, the last one first.
    /// Middleware stays around the tools it was added to. Faults of tools that were added by type are reported by
    /// [`ensure_runnable`](Toolkit::ensure_runnable).
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let search = || Tool::new("search").handler(|query: String, _cx| async move { query });
    /// let github: Toolkit = Toolkit::from_iter([search()?]).label("github");
    /// let wiki: Toolkit = Toolkit::from_iter([search()?]);
    ///
    /// let error = Toolkit::compose([github.clone(), wiki.clone()]).unwrap_err();
    /// assert_eq!(
    ///     error.collisions[0].to_string(),
    ///     "two toolkits have a tool named `search`: github, toolkit-1"
    /// );
    ///
    /// let kit = Toolkit::compose([github.namespace("github")?, wiki])?;
    /// assert_eq!(kit.names().collect::<Vec<_>>(), ["github__search", "search"]);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn compose(kits: impl IntoIterator<Item = Self>) -> Result<Self, ComposeError> {
        let kits: Vec<Self> = kits.into_iter().collect();
        let collisions = collisions(&kits);
        if !collisions.is_empty() {
            return Err(ComposeError { collisions });
        }
        let mut set = ToolSet::default();
        let mut needs = Vec::new();
        for kit in kits {
            set.absorb(Arc::unwrap_or_clone(kit.set));
            needs.extend(kit.needs);
        }
        set.rebuild_provisions(Arc::clone);
        Ok(Self { set: Arc::new(set), needs })
    }

    /// Sets a label, by which [`compose`](Toolkit::compose) identifies the toolkit in errors. No tool changes.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let kit: Toolkit = Toolkit::from_iter([Tool::signal("done").define()?]).label("control");
    /// let error = Toolkit::compose([kit.clone(), kit]).unwrap_err();
    /// assert_eq!(error.collisions[0].sources, ["control", "control"]);
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.set_mut().label = Some(label.into().into());
        self
    }
}

/// Returns every name that more than one toolkit uses, with those toolkits.
fn collisions<S>(kits: &[Toolkit<S>]) -> Vec<DuplicateToolName> {
    let mut names = Vec::new();
    let mut users: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, kit) in kits.iter().enumerate() {
        for name in kit.names() {
            let users = users.entry(name).or_default();
            if users.is_empty() {
                names.push(name);
            }
            users.push(index);
        }
    }
    let source = |index: &usize| kits[*index].set.source().map_or_else(|| format!("toolkit-{index}"), str::to_owned);
    let shared = names.into_iter().map(|name| (name, &users[name])).filter(|(_, users)| users.len() > 1);
    shared
        .map(|(name, users)| DuplicateToolName { name: name.to_owned(), sources: users.iter().map(source).collect() })
        .collect()
}

/// Spells a small number as a word.
fn count(number: usize) -> String {
    if number == 2 { "two".to_owned() } else { number.to_string() }
}

impl ToolSet {
    /// Returns the label or the namespace of the set.
    fn source(&self) -> Option<&str> {
        self.label.as_deref().or(self.namespace.as_deref())
    }
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the toolkits can't be composed: ")?;
        write_joined(f, &self.collisions)?;
        f.write_str("; put one of them in a namespace, or merge them so that the later tool replaces the earlier one")
    }
}

/// There is no source: the message contains all collisions, and a report that prints sources would repeat one of them.
impl std::error::Error for ComposeError {}
