//! Chat Completions servers, and what each does differently.
//!
//! The table is data: one row per server, found by the provider's name and its API's hosts. A row states only what the
//! server documents or is known to reject; everything else is what all of them accept.

use crate::wire::openai_chat::CallIdRule;

/// The differences between a Chat Completions server and OpenAI.
///
/// haft finds them by the provider's name or by the base URL's host, and you can change them:
///
/// ```
/// use haft_wire::{ChatQuirks, OpenAiChat, TokenLimit};
///
/// let mut quirks = ChatQuirks::named("mistral").unwrap();
/// assert!(!quirks.stream_options);
/// quirks.token_limit = TokenLimit::MaxCompletionTokens;
/// let wire = OpenAiChat::compatible("my-gateway").quirks(quirks);
/// # drop(wire);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a row of a table, whose columns are independent of each other")]
#[non_exhaustive]
pub struct ChatQuirks {
    /// The member for the output limit.
    pub token_limit: TokenLimit,
    /// The accepted call ids.
    pub call_ids: CallIdRule,
    /// The tool choices that have an effect.
    pub choices: ChoiceForms,
    /// The members in which the server takes reasoning back.
    pub reasoning: &'static [&'static str],
    /// True if the server demands `reasoning_content` beside calls, also in earlier turns. Calls without reasoning get an
    /// empty one.
    pub reasoning_of_calls: bool,
    /// The supported output formats.
    pub formats: FormatForms,
    /// The rule for sending metadata.
    pub metadata: MetadataRule,
    /// The most stop sequences, if there is a limit.
    pub max_stops: Option<usize>,
    /// True if the server knows the role `developer`. Otherwise its messages are sent with the role `system`.
    pub developer_role: bool,
    /// True if a stream reports its usage only when `stream_options` asks for it.
    pub stream_options: bool,
    /// Set if `parallel_tool_calls` is known.
    pub parallel_tool_calls: bool,
    /// True if a user or system message may follow a tool message. Otherwise a model message goes between them.
    pub input_after_tool: bool,
    /// True if a message of the user or of a tool must be the last. Otherwise the model may continue its own.
    pub ends_with_input: bool,
    /// True if messages have a member `refusal`. Otherwise refusals are sent as text.
    pub refusal_member: bool,
    /// True if the server parses the call arguments in the history, so that they must be a JSON object.
    pub parses_arguments: bool,
}

/// The request member for the output limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenLimit {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// The tool choices that a server follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ChoiceForms {
    /// None: the server ignores the choice, so only the tools that may be called are sent.
    Ignored,
    /// `none`, `auto` and `required`. To require a named tool, only that tool is sent.
    Modes,
    /// A named function as well.
    Named,
    /// A choice among some tools as well.
    Allowed,
}

/// The output formats that a server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatForms {
    /// JSON with a schema.
    Schema,
    /// JSON without a schema.
    JsonObject,
}

/// A rule for sending request metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataRule {
    /// It is sent.
    Sent,
    /// It is sent only with completions that the provider stores.
    WithStore,
    /// It is left out, because the server rejects it.
    Rejected,
}

/// A server by its provider's name and its API's hosts.
struct ServerRow {
    names: &'static [&'static str],
    hosts: &'static [&'static str],
    quirks: ChatQuirks,
}

/// The quirks that unknown servers have in common.
const COMPATIBLE: ChatQuirks = ChatQuirks {
    token_limit: TokenLimit::MaxTokens,
    call_ids: CallIdRule::FortyCharacters,
    choices: ChoiceForms::Named,
    reasoning: &["reasoning", "reasoning_content", "details"],
    reasoning_of_calls: false,
    formats: FormatForms::Schema,
    metadata: MetadataRule::Sent,
    max_stops: None,
    developer_role: false,
    stream_options: true,
    parallel_tool_calls: true,
    input_after_tool: true,
    ends_with_input: false,
    refusal_member: true,
    parses_arguments: true,
};

pub(super) const OPENAI: ChatQuirks = ChatQuirks {
    token_limit: TokenLimit::MaxCompletionTokens,
    choices: ChoiceForms::Allowed,
    metadata: MetadataRule::WithStore,
    max_stops: Some(4),
    developer_role: true,
    parses_arguments: false,
    ..COMPATIBLE
};

#[rustfmt::skip]
const SERVERS: [ServerRow; 8] = [
    // Requests are checked strictly: unknown members (`stream_options`, `reasoning_content`, `refusal`) are errors, ids
    // have nine letters and digits, a user message right after a tool message is rejected (code 3230), and so is a model
    // message at the end. Streams report their usage unasked.
    ServerRow { names: &["mistral", "mistralai"], hosts: &["api.mistral.ai", "codestral.mistral.ai"], quirks: ChatQuirks {
        call_ids: CallIdRule::NineAlphanumerics, reasoning: &[], stream_options: false, input_after_tool: false,
        ends_with_input: true, refusal_member: false,
        ..COMPATIBLE
    } },
    // Reasoning goes back as `reasoning_details`, whole and in order; `reasoning` is accepted beside it.
    ServerRow { names: &["openrouter"], hosts: &["openrouter.ai"], quirks: ChatQuirks {
        reasoning: &["reasoning", "details"],
        ..COMPATIBLE
    } },
    // `max_tokens` is deprecated, `metadata` is documented as unsupported, and `reasoning_content` in a message is
    // rejected.
    ServerRow { names: &["groq"], hosts: &["api.groq.com"], quirks: ChatQuirks {
        token_limit: TokenLimit::MaxCompletionTokens, reasoning: &["reasoning"], metadata: MetadataRule::Rejected,
        max_stops: Some(4),
        ..COMPATIBLE
    } },
    // Output formats have no schema, and `parallel_tool_calls` is not documented. The reasoning of calls is demanded back.
    ServerRow { names: &["deepseek"], hosts: &["api.deepseek.com"], quirks: ChatQuirks {
        reasoning: &["reasoning_content"], reasoning_of_calls: true, formats: FormatForms::JsonObject,
        metadata: MetadataRule::Rejected, max_stops: Some(16), parallel_tool_calls: false,
        ..COMPATIBLE
    } },
    // `max_tokens` is deprecated, and `metadata` is documented as not supported.
    ServerRow { names: &["xai", "x_ai", "x-ai"], hosts: &["api.x.ai"], quirks: ChatQuirks {
        token_limit: TokenLimit::MaxCompletionTokens, reasoning: &["reasoning_content"], metadata: MetadataRule::Rejected,
        ..COMPATIBLE
    } },
    // `tool_choice` and `parallel_tool_calls` are ignored.
    ServerRow { names: &["ollama"], hosts: &["ollama.com"], quirks: ChatQuirks {
        call_ids: CallIdRule::Any, choices: ChoiceForms::Ignored, reasoning: &["reasoning"], parallel_tool_calls: false,
        ..COMPATIBLE
    } },
    // `max_tokens` is deprecated. The reasoning member depends on the version.
    ServerRow { names: &["vllm"], hosts: &[], quirks: ChatQuirks {
        token_limit: TokenLimit::MaxCompletionTokens, call_ids: CallIdRule::Any,
        reasoning: &["reasoning", "reasoning_content"],
        ..COMPATIBLE
    } },
    // A choice that is an object counts as `auto`.
    ServerRow { names: &["llama.cpp", "llamacpp", "llama_cpp"], hosts: &[], quirks: ChatQuirks {
        call_ids: CallIdRule::Any, choices: ChoiceForms::Modes, reasoning: &["reasoning_content"],
        ..COMPATIBLE
    } },
];

impl ChatQuirks {
    /// Returns a server's quirks by its provider's name, such as `mistral` or `ollama`.
    #[must_use]
    pub fn named(provider: &str) -> Option<Self> {
        let row = SERVERS.iter().find(|row| row.names.iter().any(|name| name.eq_ignore_ascii_case(provider)));
        row.map(|row| row.quirks)
    }

    /// Returns a server's quirks by its base URL's host, such as `https://api.mistral.ai/v1`.
    ///
    /// ```
    /// use haft_wire::ChatQuirks;
    ///
    /// assert_eq!(ChatQuirks::at_url("https://api.mistral.ai/v1"), ChatQuirks::named("mistral"));
    /// assert_eq!(ChatQuirks::at_url("http://localhost:11434/v1"), None);
    /// ```
    #[must_use]
    pub fn at_url(base_url: &str) -> Option<Self> {
        let (_, rest) = base_url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = host.split(':').next()?.to_ascii_lowercase();
        let is_at = |known: &str| host == known || host.strip_suffix(known).is_some_and(|sub| sub.ends_with('.'));
        SERVERS.iter().find(|row| row.hosts.iter().any(|known| is_at(known))).map(|row| row.quirks)
    }
}

/// The quirks that this API's servers have in common.
impl Default for ChatQuirks {
    fn default() -> Self {
        COMPATIBLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_found_by_name_and_by_host() {
        for (url, name) in [
            ("https://api.mistral.ai/v1", "mistral"),
            ("https://API.Mistral.ai", "Mistral"),
            ("https://openrouter.ai/api/v1", "openrouter"),
            ("https://user:pass@api.groq.com:443/openai/v1?x=1", "groq"),
            ("https://api.deepseek.com/beta", "deepseek"),
            ("https://eu-west-1.api.x.ai/v1", "xai"),
        ] {
            let found = ChatQuirks::at_url(url);
            assert!(found.is_some() && found == ChatQuirks::named(name), "{url}: {found:?}");
        }
        for url in [
            "",
            "api.mistral.ai",
            "https://example.org/api.mistral.ai",
            "https://notapi.mistral.ai.example",
            "https://xapi.x.ai",
        ] {
            assert_eq!(ChatQuirks::at_url(url), None, "{url}");
        }
        assert_eq!(ChatQuirks::named("acme"), None);
    }
}
