//! Namespaces: tools with a common prefix.
//!
//! The tool `search` in the namespace `github` is called `github__search`. A prefix contains no `__` and neither begins
//! nor ends with `_`, so the first `__` of a name always ends its prefix: tools of different namespaces never collide.
//! The id of a tool gets the same prefix, unless the tool is built into a provider, whose id is the provider's.

use std::fmt;
use std::sync::Arc;

use haft_core::NAMESPACE_SEPARATOR;

use crate::tool::{DefinitionError, DefinitionFault, MAX_NAME_LEN, NameFault, Tool};
use crate::toolkit::error::write_joined;
use crate::toolkit::{ToolSet, Toolkit, ToolkitFault};

/// An invalid namespace, with all faults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NamespaceError {
    /// The prefix.
    pub prefix: String,
    /// All faults: of the prefix, of the resulting names, and of names that occur twice. Never empty.
    pub faults: Vec<NamespaceFault>,
}

/// One fault of a namespace.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceFault {
    /// The prefix can't be part of a name.
    #[error("the prefix {0}")]
    Prefix(NameFault),
    /// The prefix is so long that no name fits after it.
    #[error("the prefix is {0} bytes long, but a name has at most {MAX_NAME_LEN}")]
    NoRoom(usize),
    /// The prefix contains the separator.
    #[error("the prefix contains `{NAMESPACE_SEPARATOR}`, which separates namespaces: nest namespaces instead")]
    Separator,
    /// The prefix begins or ends with an underscore, which would make its end ambiguous.
    #[error("the prefix begins or ends with `_`, which would make its end ambiguous")]
    OuterUnderscore,
    /// A tool can't have the resulting name.
    #[error("the new name of the tool `{tool}` {fault}")]
    Tool {
        /// The current name of the tool.
        tool: String,
        /// The fault of the resulting name.
        fault: NameFault,
    },
    /// A tool can't have the resulting id.
    #[error("the new id of the tool `{tool}` {fault}")]
    Id {
        /// The current name of the tool.
        tool: String,
        /// The fault of the resulting id.
        fault: NameFault,
    },
    /// Two of the tools have the same name.
    #[error(transparent)]
    Duplicate(ToolkitFault),
}

impl<S> Toolkit<S> {
    /// Adds a prefix to the names and ids of all tools: `search` becomes `github__search`. This applies to tools of all
    /// kinds; one that is built into a provider keeps its id and its name there. Namespaces can be nested; the one
    /// added last comes first.
    ///
    /// The prefix must be a valid name, without `__` and without `_` at its ends. If the toolkit has no
    /// [`label`](Toolkit::label), the namespace is used as one.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let kit: Toolkit = Toolkit::from_iter([Tool::new("search").handler(|query: String, _cx| async move { query })?]);
    /// let kit = kit.namespace("github")?.namespace("work")?;
    /// assert_eq!(kit.names().collect::<Vec<_>>(), ["work__github__search"]);
    /// assert_eq!(kit.get("work__github__search").unwrap().id().as_str(), "work__github__search");
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

    /// Creates a toolkit of tools that were built at run time, in a namespace. Names that occur twice are an error, as
    /// in [`with_all`](Toolkit::with_all).
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let tool = |name: &str| Tool::new(name).handler(|(), _cx| async {});
    /// let kit: Toolkit = Toolkit::make_namespaced("fs", [tool("read")?, tool("write")?])?;
    /// assert_eq!(kit.names().collect::<Vec<_>>(), ["fs__read", "fs__write"]);
    ///
    /// let error = Toolkit::<()>::make_namespaced("", [tool("read")?, tool("read")?]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the namespace `` is invalid: the prefix is empty; there is already a tool named `read`; rename one of the two"
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
    /// Adds the prefix to the name of every tool. If there are faults, returns all of them and changes nothing.
    fn add_prefix(&mut self, prefix: &str) -> Vec<NamespaceFault> {
        let mut faults = prefix_faults(prefix);
        if faults.iter().any(|fault| matches!(fault, NamespaceFault::NoRoom(_))) {
            return faults;
        }
        let mut renamed = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            match prefixed(prefix, &entry.tool) {
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

/// Returns the tool with the prefix in its name and, unless a provider defines it, in its id.
fn prefixed(prefix: &str, tool: &Tool) -> Result<Tool, DefinitionError> {
    let renamed = tool.with_name(join(prefix, tool.name()))?;
    if tool.is_provider_defined() { Ok(renamed) } else { renamed.with_id(join(prefix, tool.id().as_str())) }
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

/// Returns the faults of a tool's new name and id that the prefix alone does not have, which is only their length.
fn too_long(tool: &str, error: &DefinitionError) -> Vec<NamespaceFault> {
    let tool = || tool.to_owned();
    let of_length = error.faults.iter().filter_map(|fault| match fault {
        DefinitionFault::Name(fault @ NameFault::TooLong(_)) => {
            Some(NamespaceFault::Tool { tool: tool(), fault: *fault })
        }
        DefinitionFault::Id(fault @ NameFault::TooLong(_)) => Some(NamespaceFault::Id { tool: tool(), fault: *fault }),
        _ => None,
    });
    of_length.collect()
}

impl fmt::Display for NamespaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the namespace `{}` is invalid: ", self.prefix.escape_debug())?;
        write_joined(f, &self.faults)
    }
}

/// There is no source: the message contains all faults, and a report that prints sources would repeat one of them.
impl std::error::Error for NamespaceError {}
