//! Anthropic's provider-defined tools, in their current versions. [`find`](crate::catalogue::find) has older ones.
//!
//! A call's parameters are the `input` of its block. If the provider executed the call, its result is the `content` of
//! the result block, and a failure if that content's type ends with `_error`.

mod advisor;
mod bash;
mod code_execution;
mod computer;
mod mcp;
mod memory;
mod superseded;
mod text_editor;
mod tool_search;
mod web_fetch;
mod web_search;

pub use self::advisor::{AdvisorCaching, AdvisorError, AdvisorErrorCode, AdvisorResult, AnthropicAdvisor, advisor};
pub use self::bash::{AnthropicBash, BashCall, bash};
pub use self::code_execution::{
    AnthropicCodeExecution, CodeExecutionCall, CodeExecutionError, CodeExecutionErrorCode, CodeExecutionResult,
    CodeFileCommand, CreatedFile, ProcessResult, code_execution,
};
pub use self::computer::{
    AnthropicBrowserToolset, AnthropicComputerToolset, AnthropicComputerUse, BrowserAction, Click, ComputerAction,
    FunctionConfig, ScrollDirection, browser_toolset, computer, computer_toolset,
};
pub use self::mcp::{AnthropicMcpServer, AnthropicMcpToolset, McpToolDefinition, mcp_toolset};
pub use self::memory::{AnthropicMemory, MemoryCommand, memory};
pub use self::text_editor::{AnthropicTextEditor, TextEditorCommand, text_editor};
pub use self::tool_search::{
    AnthropicToolSearchBm25, AnthropicToolSearchRegex, FoundTools, ToolQuery, ToolReference, ToolSearchError,
    ToolSearchErrorCode, tool_search_bm25, tool_search_regex,
};
pub use self::web_fetch::{
    AnthropicWebFetch, CitationSetting, FetchedDocument, FetchedSource, UrlSource, UrlSourceTool, UrlSources,
    WebFetchCall, WebFetchError, WebFetchErrorCode, WebFetchResult, web_fetch,
};
pub use self::web_search::{
    AnthropicWebSearch, ResponseInclusion, WebSearchCall, WebSearchError, WebSearchErrorCode, WebSearchResult,
    web_search,
};

use crate::catalogue::{CatalogueEntry, CatalogueSettings, Vendor};

/// All Anthropic tools.
///
/// An entry has a `beta` header if the API does not offer the version generally, or did not before a newer one
/// superseded it.
pub(super) static ENTRIES: &[CatalogueEntry] = &[
    AnthropicBash::ENTRY,
    superseded::BASH_20241022,
    AnthropicCodeExecution::ENTRY,
    superseded::CODE_EXECUTION_20260120,
    superseded::CODE_EXECUTION_20250825,
    superseded::CODE_EXECUTION_20250522,
    AnthropicComputerUse::ENTRY,
    superseded::COMPUTER_20250124,
    superseded::COMPUTER_20241022,
    AnthropicComputerToolset::ENTRY,
    AnthropicBrowserToolset::ENTRY,
    AnthropicMemory::ENTRY,
    AnthropicTextEditor::ENTRY,
    superseded::TEXT_EDITOR_20250429,
    superseded::TEXT_EDITOR_20250124,
    superseded::TEXT_EDITOR_20241022,
    AnthropicWebSearch::ENTRY,
    superseded::WEB_SEARCH_20260209,
    superseded::WEB_SEARCH_20250305,
    AnthropicWebFetch::ENTRY,
    superseded::WEB_FETCH_20260309,
    superseded::WEB_FETCH_20260209,
    superseded::WEB_FETCH_20250910,
    AnthropicToolSearchRegex::ENTRY,
    AnthropicToolSearchBm25::ENTRY,
    AnthropicAdvisor::ENTRY,
    AnthropicMcpToolset::ENTRY,
];

/// The names under which code execution makes calls, since it has a shell and an editor.
const CODE_NAMES: &[&str] = &["code_execution", "bash_code_execution", "text_editor_code_execution"];
const CODE_OUTPUTS: &[&str] =
    &["code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result"];

const fn function(
    id: &'static str,
    custom_name: &'static str,
    provider_name: &'static str,
    wire_type: &'static str,
) -> CatalogueEntry {
    CatalogueEntry::function(Vendor::Anthropic, id, custom_name, provider_name, wire_type)
}

const fn executed(
    id: &'static str,
    custom_name: &'static str,
    provider_name: &'static str,
    wire_type: &'static str,
) -> CatalogueEntry {
    CatalogueEntry::executed(Vendor::Anthropic, id, custom_name, provider_name, wire_type)
}

const fn editor(id: &'static str, provider_name: &'static str, wire_type: &'static str) -> CatalogueEntry {
    function(id, "AnthropicTextEditor", provider_name, wire_type)
}

const fn code(id: &'static str, wire_type: &'static str) -> CatalogueEntry {
    executed(id, "AnthropicCodeExecution", "code_execution", wire_type).reported(
        CODE_NAMES,
        "server_tool_use",
        CODE_OUTPUTS,
    )
}

const fn search(id: &'static str, wire_type: &'static str) -> CatalogueEntry {
    executed(id, "AnthropicWebSearch", "web_search", wire_type).reported(
        &["web_search"],
        "server_tool_use",
        &["web_search_tool_result"],
    )
}

const fn fetch(id: &'static str, wire_type: &'static str) -> CatalogueEntry {
    executed(id, "AnthropicWebFetch", "web_fetch", wire_type).reported(
        &["web_fetch"],
        "server_tool_use",
        &["web_fetch_tool_result"],
    )
}
