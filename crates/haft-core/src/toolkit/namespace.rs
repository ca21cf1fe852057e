//! Tools under a common prefix.
//!
//! `search` of the namespace `github` is called `github__search`. A prefix holds no `__` and neither begins nor ends
//! with `_`, so the first `__` of such a name is always the end of its prefix: tools of different namespaces never
//! collide, whatever they are called. Names grow, ids stay.

use std::fmt;
use std::sync::Arc;

use crate::tool::{DefinitionError, DefinitionFault, MAX_NAME_LEN, NameFault, Tool};
use crate::toolkit::error::write_joined;
use crate::toolkit::{ToolSet, Toolkit, ToolkitFault};

/// What stands between a namespace and the name of a tool in it.
pub const NAMESPACE_SEPARATOR: &str = "__";

/// Tools that can't be put in a namespace: all faults at once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NamespaceError {
    /// The prefix.
    pub prefix: String,
    /// Everything that is wrong: with the prefix, with the names of tools, with names that appear twice. Never empty.
    pub faults: Vec<NamespaceFault>,
}

/// One thing that is wrong with a namespace.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceFault {
    /// The prefix could not be part of a name.
    #[error("the prefix {0}")]
    Prefix(NameFault),
    /// The prefix leaves no room for a name.
    #[error("the prefix is {0} bytes long, and a whole name has at most {MAX_NAME_LEN}")]
    NoRoom(usize),
    /// The prefix holds what ends a prefix.
    #[error("the prefix contains `{NAMESPACE_SEPARATOR}`, which ends a prefix: nest namespaces instead")]
    Separator,
    /// An underscore next to the separator would hide where the prefix ends.
    #[error("the prefix begins or ends with `_`, which would hide where it ends")]
    OuterUnderscore,
    /// A tool can't have the name it would get.
    #[error("the new name of the tool `{tool}` {fault}")]
    Tool {
        /// The tool, by the name it has.
        tool: String,
        /// What is wrong with the name it would get.
        fault: NameFault,
    },
    /// Two of the tools have one name.
    #[error(transparent)]
    Duplicate(ToolkitFault),
}

impl<S> Toolkit<S> {
    /// The same tools under a prefix: `search` becomes `github__search`. This is for tools of all kinds; one that is
    /// built into a provider keeps its id and its name there. Namespaces can be nested, the one applied last is in front.
    ///
    /// The prefix is a name itself, without `__` and without `_` at its ends. Where the toolkit has no
    /// [`label`](Toolkit::label), its namespace is one.
    ///
    /// ```
    /// use haft_core::{Tool, Toolkit};
    ///
    /// let kit: Toolkit = Toolkit::from_iter([Tool::new("search").run(|query: String, _cx| async move { query })?]);
    /// let kit = kit.namespace("github")?.namespace("work")?;
    /// assert_eq!(kit.names().collect::<Vec<_>>(), ["work__github__search"]);
    /// assert_eq!(kit.get("work__github__search").unwrap().id().as_str(), "search");
    ///
    /// let error = kit.namespace("a__b_").unwrap_err();
    /// assert_eq!(error.faults.len(), 2);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn namespace(mut self, prefix: impl AsRef<str>) -> Result<Self, NamespaceError> {
        let prefix = prefix.as_ref();
        NamespaceError::check(prefix, self.set_mut().add_prefix(prefix))?;
        Ok(self)
    }

    /// Tools made at run time, in a namespace. Names that appear twice are an error, as with
    /// [`with_all`](Toolkit::with_all).
    ///
    /// ```
    /// use haft_core::{Tool, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).run(|(), _cx| async {});
    /// let kit: Toolkit = Toolkit::make_namespaced("fs", [tool("read")?, tool("write")?])?;
    /// assert_eq!(kit.names().collect::<Vec<_>>(), ["fs__read", "fs__write"]);
    ///
    /// let error = Toolkit::<()>::make_namespaced("", [tool("read")?, tool("read")?]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the namespace `` can't be made: the prefix is empty; there is already a tool named `read`"
    /// );
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn make_namespaced(
        prefix: impl AsRef<str>,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<Self, NamespaceError> {
        let prefix = prefix.as_ref();
        let mut set = ToolSet::default();
        let duplicates: Vec<_> = tools.into_iter().filter_map(|tool| set.insert(tool).err()).collect();
        let mut faults = set.add_prefix(prefix);
        faults.extend(duplicates.into_iter().map(NamespaceFault::Duplicate));
        NamespaceError::check(prefix, faults)?;
        Ok(Self { set: Arc::new(set), needs: Vec::new() })
    }
}

impl NamespaceError {
    fn check(prefix: &str, faults: Vec<NamespaceFault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self { prefix: prefix.to_owned(), faults }) }
    }
}

impl ToolSet {
    /// Gives every tool the prefix; if anything is wrong with that, changes nothing and tells all of it.
    fn add_prefix(&mut self, prefix: &str) -> Vec<NamespaceFault> {
        let mut faults = prefix_faults(prefix);
        if faults.iter().any(|fault| matches!(fault, NamespaceFault::NoRoom(_))) {
            return faults;
        }
        let mut renamed = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            match entry.tool.with_name(join(prefix, entry.tool.name())) {
                Ok(tool) => renamed.push(tool),
                Err(error) => faults.extend(too_long(entry.tool.name(), &error)),
            }
        }
        if faults.is_empty() {
            self.index = renamed.iter().enumerate().map(|(place, tool)| (tool.shared_name().clone(), place)).collect();
            for (entry, tool) in self.entries.iter_mut().zip(renamed) {
                entry.tool = tool;
            }
            let shadowed = std::mem::take(&mut self.shadowed);
            self.shadowed = shadowed.renamed(|name| Some(join(prefix, name.as_str()).into()));
            let inner = self.namespace.take();
            self.namespace = Some(inner.map_or_else(|| prefix.into(), |inner| join(prefix, &inner).into()));
        }
        faults
    }
}

fn join(prefix: &str, name: &str) -> String {
    format!("{prefix}{NAMESPACE_SEPARATOR}{name}")
}

fn prefix_faults(prefix: &str) -> Vec<NamespaceFault> {
    let of_name = NameFault::of(prefix).into_iter().filter(|fault| !matches!(fault, NameFault::TooLong(_)));
    let mut faults: Vec<_> = of_name.map(NamespaceFault::Prefix).collect();
    if prefix.len() + NAMESPACE_SEPARATOR.len() >= MAX_NAME_LEN {
        faults.push(NamespaceFault::NoRoom(prefix.len()));
    }
    if prefix.contains(NAMESPACE_SEPARATOR) {
        faults.push(NamespaceFault::Separator);
    }
    if prefix.starts_with('_') || prefix.ends_with('_') {
        faults.push(NamespaceFault::OuterUnderscore);
    }
    faults
}

/// The faults of a tool's new name that are not the prefix's own: only that both together are too long.
fn too_long(tool: &str, error: &DefinitionError) -> Vec<NamespaceFault> {
    let of_length = error.faults.iter().filter_map(|fault| match fault {
        DefinitionFault::Name(fault @ NameFault::TooLong(_)) => Some(*fault),
        _ => None,
    });
    of_length.map(|fault| NamespaceFault::Tool { tool: tool.to_owned(), fault }).collect()
}

impl fmt::Display for NamespaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the namespace `{}` can't be made: ", self.prefix.escape_debug())?;
        write_joined(f, &self.faults)
    }
}

/// Without a source: the message says all faults, and a report that prints sources would say one of them twice.
impl std::error::Error for NamespaceError {}
