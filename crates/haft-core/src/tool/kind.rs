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

/// The way a call is executed once nothing prevents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Execution {
    /// A handler runs it here.
    Handler,
    /// It surfaces to whoever reads the run and acts on it there: a signal or an interaction.
    Surfaced,
    /// The provider runs it, or has run it already.
    Provider,
}

impl ToolKind {
    /// Returns what happens to calls of such a tool.
    pub(crate) fn execution(&self) -> Execution {
        match self {
            Self::Local | Self::Dynamic => Execution::Handler,
            Self::Provider(provider) if provider.requires_handler() => Execution::Handler,
            Self::Provider(_) => Execution::Provider,
            Self::Signal | Self::Interaction => Execution::Surfaced,
        }
    }

    /// Returns whether calls of such a tool need a handler here.
    pub(crate) fn requires_handler(&self) -> bool {
        self.execution() == Execution::Handler
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
