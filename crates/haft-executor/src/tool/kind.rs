//! The kinds of tools, which differ in where their calls are executed.

use haft_core::ToolId;
use haft_schema::Schema;

use crate::tool::ProviderDefinition;

/// The kind of a tool, which decides where its calls are executed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolKind {
    /// A user-defined tool, executed by a handler whose types are known at compile time where it is defined.
    Local,
    /// A tool executed by a handler, with a schema that is known only at run time.
    Dynamic,
    /// A tool built into a provider, which executes it unless the definition requires a handler.
    Provider(ProviderDefinition),
    /// A tool that is not executed: the loop reads the call and acts on it.
    Signal,
    /// A tool that is answered from outside: the loop stops, and continues when there is an answer.
    Interaction,
}

/// The way a call is executed once nothing prevents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Execution {
    /// By a local handler.
    Handler,
    /// Not at all: the call surfaces, and the reader of the run acts on it. Signals and interactions.
    Surfaced,
    /// By the provider, which may have executed it already.
    Provider,
}

impl ToolKind {
    /// Returns how calls of such a tool are executed.
    pub(crate) fn execution(&self) -> Execution {
        match self {
            Self::Local | Self::Dynamic => Execution::Handler,
            Self::Provider(provider) if provider.requires_handler() => Execution::Handler,
            Self::Provider(_) => Execution::Provider,
            Self::Signal | Self::Interaction => Execution::Surfaced,
        }
    }

    /// Reports whether calls of such a tool require a local handler.
    pub(crate) fn requires_handler(&self) -> bool {
        self.execution() == Execution::Handler
    }

    pub(crate) fn provider(&self) -> Option<&ProviderDefinition> {
        match self {
            Self::Provider(provider) => Some(provider),
            _ => None,
        }
    }

    /// Returns the id of such a tool if none is set.
    pub(crate) fn default_id(&self, name: &str) -> ToolId {
        self.provider().map_or(name, ProviderDefinition::id).into()
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
            Self::Local | Self::Provider(_) | Self::Signal | Self::Interaction => Schema::empty(),
            Self::Dynamic => Schema::unknown(),
        }
    }

    pub(crate) fn default_success(&self) -> Schema {
        match self {
            Self::Dynamic => Schema::unknown(),
            _ => Schema::unit(),
        }
    }
}
