//! Wire names on the command line.

use haft::wire::Profile;

/// A wire whose form tools are shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProfileName {
    /// The Responses API of OpenAI
    Openai,
    /// The Chat Completions API of OpenAI and of compatible servers
    OpenaiChat,
    /// The Messages API of Anthropic
    Anthropic,
    /// The API of Gemini
    Gemini,
    /// The Model Context Protocol
    Mcp,
}

impl ProfileName {
    /// All wires, in the order they are shown.
    pub(crate) const ALL: [Self; 5] = [Self::Openai, Self::OpenaiChat, Self::Anthropic, Self::Gemini, Self::Mcp];

    /// Returns the name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::OpenaiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Mcp => "mcp",
        }
    }

    /// Returns the wire's profile.
    pub(crate) fn profile(self) -> Profile {
        match self {
            Self::Openai => Profile::openai(),
            Self::OpenaiChat => Profile::openai_chat(),
            Self::Anthropic => Profile::anthropic(),
            Self::Gemini => Profile::gemini(),
            Self::Mcp => Profile::mcp(),
        }
    }
}
