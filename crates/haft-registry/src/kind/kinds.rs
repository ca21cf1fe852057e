//! The kinds that are registered.

use std::sync::Arc;

use super::ImplementationKind;

/// The registered implementation kinds, in the order they were added.
///
/// ```
/// use haft_registry::Kinds;
///
/// let kinds = Kinds::empty();
/// assert!(kinds.get("http").is_none());
/// assert_eq!(kinds.names().count(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    list: Vec<Arc<dyn ImplementationKind>>,
}

/// A kind whose name is already registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kind `{name}` is already registered")]
#[non_exhaustive]
pub struct DuplicateKind {
    /// The name.
    pub name: String,
}

impl Kinds {
    /// Creates a list without kinds.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds a kind.
    pub fn with(mut self, kind: impl ImplementationKind) -> Result<Self, DuplicateKind> {
        if self.get(kind.name()).is_some() {
            return Err(DuplicateKind { name: kind.name().to_owned() });
        }
        self.list.push(Arc::new(kind));
        Ok(self)
    }

    /// Adds a kind, replacing one with the same name.
    #[must_use]
    pub fn replace(mut self, kind: impl ImplementationKind) -> Self {
        self.list.retain(|known| known.name() != kind.name());
        self.list.push(Arc::new(kind));
        self
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn ImplementationKind>> {
        self.list.iter().find(|kind| kind.name() == name)
    }

    /// Returns all kinds.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn ImplementationKind>> {
        self.list.iter()
    }

    /// Returns the names of all kinds.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|kind| kind.name())
    }
}
