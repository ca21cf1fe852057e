//! Who executes a tool.

use crate::schema::Schema;
use crate::tool::ProviderDefinition;

/// Who executes a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolKind {
    /// The application, by a handler whose types are known: a user-defined tool.
    Local,
    /// The application, by a handler for a schema known only at run time.
    Dynamic,
    /// The provider; the application too, if the definition asks for a handler.
    Provider(ProviderDefinition),
    /// Nobody: the loop reads the call and acts on it.
    Signal,
    /// Somebody outside: the loop stops, and goes on when there is an answer.
    Interaction,
}

impl ToolKind {
    /// Whether calls of such a tool need a handler here.
    pub(crate) fn requires_handler(&self) -> bool {
        match self {
            Self::Local | Self::Dynamic => true,
            Self::Provider(provider) => provider.requires_handler(),
            Self::Signal | Self::Interaction => false,
        }
    }

    pub(crate) fn is_run_by_provider(&self) -> bool {
        self.provider().is_some_and(|provider| !provider.requires_handler())
    }

    pub(crate) fn provider(&self) -> Option<&ProviderDefinition> {
        match self {
            Self::Provider(provider) => Some(provider),
            _ => None,
        }
    }

    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Dynamic => "dynamic",
            Self::Provider(_) => "provider-executed",
            Self::Signal => "signal",
            Self::Interaction => "interaction",
        }
    }

    pub(crate) fn default_parameters(&self) -> Schema {
        match self {
            Self::Local | Self::Signal | Self::Interaction => Schema::empty(),
            Self::Dynamic => Schema::unknown(),
            Self::Provider(_) => Schema::unit(),
        }
    }

    pub(crate) fn default_success(&self) -> Schema {
        match self {
            Self::Dynamic => Schema::unknown(),
            _ => Schema::unit(),
        }
    }
}
