//! The profiles for the built-in wires.

use super::{Profile, Strictness, ToolLimits};
use crate::profile::mcp_tool::McpToolForm;
use crate::profile::tool_name::NameRule;
use crate::wire::anthropic_messages::AnthropicToolForm;
use crate::wire::gemini_content::{GeminiToolForm, SchemaCarrier};
use crate::wire::openai_chat::ChatToolForm;
use crate::wire::openai_responses::ResponsesToolForm;
use crate::{AnthropicDialect, GeminiDialect, McpDialect, OpenAiDialect};

impl Profile {
    /// Returns the profile for OpenAI's Responses API.
    #[must_use]
    pub fn openai() -> Self {
        Self::new("openai", OpenAiDialect::Plain, ResponsesToolForm)
            .strict_dialect(OpenAiDialect::Strict)
            .limits(ToolLimits::new().tools(128))
    }

    /// Returns the profile for OpenAI's Chat Completions API, which many servers speak.
    #[must_use]
    pub fn openai_chat() -> Self {
        Self::new("openai", OpenAiDialect::Plain, ChatToolForm)
            .named("openai-chat")
            .strict_dialect(OpenAiDialect::Strict)
            .limits(ToolLimits::new().tools(128).description_chars(1024))
    }

    /// Returns the profile for Anthropic's Messages API.
    #[must_use]
    pub fn anthropic() -> Self {
        Self::new("anthropic", AnthropicDialect::Plain, AnthropicToolForm)
            .strict_dialect(AnthropicDialect::Strict)
            .limits(ToolLimits::new().strict(20, 24, 16))
    }

    /// Returns the profile for Gemini's `generateContent` with `parametersJsonSchema`.
    ///
    /// Gemini holds a model to the schemas of all tools in a request or of none. It does so if one tool states
    /// `strict`, or with [`Strictness::On`].
    #[must_use]
    pub fn gemini() -> Self {
        Self::new("google", GeminiDialect::JsonSchema, GeminiToolForm(SchemaCarrier::JsonSchema))
            .named("gemini")
            .strict_dialect(GeminiDialect::JsonSchema)
            .strictness(Strictness::Off)
            .names(NameRule::new("_.:-", 64).letter_first())
            .limits(ToolLimits::new().tools(512))
    }

    /// Returns the profile for Gemini's `generateContent` with `parameters`, which older models and the Live API take.
    #[must_use]
    pub fn gemini_parameters() -> Self {
        Self::new("google", GeminiDialect::Parameters, GeminiToolForm(SchemaCarrier::Parameters))
            .named("gemini-parameters")
            .strict_dialect(GeminiDialect::Parameters)
            .strictness(Strictness::Off)
            .names(NameRule::new("_.:-", 64).letter_first())
            .limits(ToolLimits::new().tools(512))
    }

    /// Returns the profile for tools listed to MCP clients.
    #[must_use]
    pub fn mcp() -> Self {
        Self::new("mcp", McpDialect, McpToolForm).names(NameRule::new("_.-", 128))
    }

    /// Returns the profiles for all wires.
    #[must_use]
    pub fn all() -> [Self; 6] {
        [Self::openai(), Self::openai_chat(), Self::anthropic(), Self::gemini(), Self::gemini_parameters(), Self::mcp()]
    }
}
