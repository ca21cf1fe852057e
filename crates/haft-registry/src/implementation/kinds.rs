//! The kinds that are registered.

use std::sync::Arc;

use super::ImplementationKind;

/// The registered kinds of implementations, in the order in which they were added.
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

    /// Creates a list of the kinds of this crate, as far as its features are enabled. They share the tokens of OAuth 2
    /// clients.
    #[must_use]
    pub fn builtin() -> Self {
        #[cfg(feature = "http")]
        let tokens = super::http::TokenCache::new();
        let list: Vec<Arc<dyn ImplementationKind>> = vec![
            #[cfg(feature = "command")]
            Arc::new(super::command::CommandKind::new()),
            #[cfg(feature = "http")]
            Arc::new(super::http::HttpKind::new().tokens(&tokens)),
            #[cfg(feature = "openapi")]
            Arc::new(super::openapi::OpenApiKind::new().tokens(&tokens)),
        ];
        Self { list }
    }

    /// Adds a kind.
    pub fn with(mut self, kind: impl ImplementationKind) -> Result<Self, DuplicateKind> {
        if self.get(kind.name()).is_some() {
            return Err(DuplicateKind { name: kind.name().to_owned() });
        }
        self.list.push(Arc::new(kind));
        Ok(self)
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
