//! The provider-defined tools of Anthropic.

use crate::catalogue::entry::SchemaSource::{Any, Json};
use crate::catalogue::{CatalogueEntry, Vendor};

/// The header of tools that were published with computer use, in its versions.
const COMPUTER_USE_2024: &str = "computer-use-2024-10-22";
const COMPUTER_USE_2025: &str = "computer-use-2025-01-24";

/// The settings of a screen, before zooming was added.
const SCREEN: &str = r#"{
    "type": "object",
    "properties": {
        "display_width_px": {"type": "integer", "minimum": 1},
        "display_height_px": {"type": "integer", "minimum": 1},
        "display_number": {"type": ["integer", "null"], "minimum": 0}
    },
    "required": ["display_width_px", "display_height_px"],
    "additionalProperties": false
}"#;

/// The settings of web searches before `response_inclusion` was added.
const SEARCH: &str = r##"{
    "type": "object",
    "properties": {
        "max_uses": {"type": ["integer", "null"], "exclusiveMinimum": 0},
        "allowed_domains": {"type": ["array", "null"], "items": {"type": "string"}},
        "blocked_domains": {"type": ["array", "null"], "items": {"type": "string"}},
        "user_location": {
            "type": ["object", "null"],
            "properties": {
                "type": {"const": "approximate"},
                "city": {"type": ["string", "null"]},
                "country": {"type": ["string", "null"]},
                "region": {"type": ["string", "null"]},
                "timezone": {"type": ["string", "null"]}
            },
            "required": ["type"],
            "additionalProperties": false
        }
    },
    "additionalProperties": false
}"##;

/// The settings of web fetches before `use_cache` was added.
const FETCH: &str = r#"{
    "type": "object",
    "properties": {
        "max_uses": {"type": ["integer", "null"], "exclusiveMinimum": 0},
        "allowed_domains": {"type": ["array", "null"], "items": {"type": "string"}},
        "blocked_domains": {"type": ["array", "null"], "items": {"type": "string"}},
        "citations": {
            "type": ["object", "null"],
            "properties": {"enabled": {"type": "boolean"}},
            "additionalProperties": false
        },
        "max_content_tokens": {"type": ["integer", "null"], "exclusiveMinimum": 0},
        "url_sources": {"type": ["object", "null"]}
    },
    "additionalProperties": false
}"#;

/// The settings of web fetches before `response_inclusion` was added.
const FETCH_CACHED: &str = r#"{
    "type": "object",
    "properties": {
        "max_uses": {"type": ["integer", "null"], "exclusiveMinimum": 0},
        "allowed_domains": {"type": ["array", "null"], "items": {"type": "string"}},
        "blocked_domains": {"type": ["array", "null"], "items": {"type": "string"}},
        "citations": {
            "type": ["object", "null"],
            "properties": {"enabled": {"type": "boolean"}},
            "additionalProperties": false
        },
        "max_content_tokens": {"type": ["integer", "null"], "exclusiveMinimum": 0},
        "url_sources": {"type": ["object", "null"]},
        "use_cache": {"type": "boolean"}
    },
    "additionalProperties": false
}"#;

/// The names of calls that a code execution makes since it has a shell and an editor.
const CODE_NAMES: &[&str] = &["code_execution", "bash_code_execution", "text_editor_code_execution"];
const CODE_OUTPUTS: &[&str] =
    &["code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result"];

/// The functions of the computer toolset.
const COMPUTER_FUNCTIONS: &[&str] = &[
    "cursor_position",
    "double_click",
    "hold_key",
    "key",
    "left_click",
    "left_click_drag",
    "left_mouse_down",
    "left_mouse_up",
    "middle_click",
    "mouse_move",
    "right_click",
    "screenshot",
    "scroll",
    "triple_click",
    "type",
    "wait",
    "zoom",
];

/// The functions of the browser toolset.
const BROWSER_FUNCTIONS: &[&str] = &[
    "close_tab",
    "double_click",
    "file_upload",
    "find",
    "form_input",
    "get_page_text",
    "hold_key",
    "hover",
    "javascript_exec",
    "key",
    "left_click",
    "left_click_drag",
    "left_mouse_down",
    "left_mouse_up",
    "list_tabs",
    "middle_click",
    "mouse_move",
    "navigate",
    "new_tab",
    "read_console",
    "read_network",
    "read_page",
    "right_click",
    "screenshot",
    "scroll",
    "scroll_to",
    "switch_tab",
    "triple_click",
    "type",
    "wait",
    "zoom",
];

/// All tools of Anthropic. A `beta` header is stated for versions that the API does not offer generally, and for those
/// that were superseded before it did.
pub(super) static ENTRIES: &[CatalogueEntry] = &[
    function("anthropic.bash_20250124", "AnthropicBash", "bash", "bash_20250124"),
    function("anthropic.bash_20241022", "AnthropicBash", "bash", "bash_20241022").superseded().beta(COMPUTER_USE_2024),
    code("anthropic.code_execution_20260521", "code_execution_20260521"),
    code("anthropic.code_execution_20260120", "code_execution_20260120").superseded(),
    code("anthropic.code_execution_20250825", "code_execution_20250825").superseded().beta("code-execution-2025-08-25"),
    code("anthropic.code_execution_20250522", "code_execution_20250522")
        .superseded()
        .beta("code-execution-2025-05-22")
        .reported(&["code_execution"], "server_tool_use", &["code_execution_tool_result"]),
    computer("anthropic.computer_20251124", "computer_20251124").args(Any).beta("computer-use-2025-11-24"),
    computer("anthropic.computer_20250124", "computer_20250124").superseded().beta(COMPUTER_USE_2025),
    computer("anthropic.computer_use_20241022", "computer_20241022")
        .alias("anthropic.computer_20241022")
        .superseded()
        .beta(COMPUTER_USE_2024),
    function(
        "anthropic.computer_toolset_20260801",
        "AnthropicComputerToolset",
        "computer",
        "computer_toolset_20260801",
    )
    .functions(Some("computer"), COMPUTER_FUNCTIONS)
    .args(Any),
    function("anthropic.browser_toolset_20260801", "AnthropicBrowserToolset", "browser", "browser_toolset_20260801")
        .functions(Some("browser"), BROWSER_FUNCTIONS)
        .args(Any),
    function("anthropic.memory_20250818", "AnthropicMemory", "memory", "memory_20250818"),
    editor("anthropic.text_editor_20250728", "str_replace_based_edit_tool", "text_editor_20250728").args(Any),
    editor("anthropic.text_editor_20250429", "str_replace_based_edit_tool", "text_editor_20250429").superseded(),
    editor("anthropic.text_editor_20250124", "str_replace_editor", "text_editor_20250124").superseded(),
    editor("anthropic.text_editor_20241022", "str_replace_editor", "text_editor_20241022")
        .superseded()
        .beta(COMPUTER_USE_2024),
    search("anthropic.web_search_20260318", "web_search_20260318").args(Any),
    search("anthropic.web_search_20260209", "web_search_20260209").args(Json(SEARCH)).superseded(),
    search("anthropic.web_search_20250305", "web_search_20250305").args(Json(SEARCH)).superseded(),
    fetch("anthropic.web_fetch_20260318", "web_fetch_20260318").args(Any),
    fetch("anthropic.web_fetch_20260309", "web_fetch_20260309").args(Json(FETCH_CACHED)).superseded(),
    fetch("anthropic.web_fetch_20260209", "web_fetch_20260209").args(Json(FETCH)).superseded(),
    fetch("anthropic.web_fetch_20250910", "web_fetch_20250910")
        .args(Json(FETCH))
        .superseded()
        .beta("web-fetch-2025-09-10"),
    tool_search(
        "anthropic.tool_search_tool_regex_20251119",
        "AnthropicToolSearchRegex",
        "tool_search_tool_regex",
        "tool_search_tool_regex_20251119",
    )
    .reported(&["tool_search_tool_regex"], "server_tool_use", &["tool_search_tool_result"]),
    tool_search(
        "anthropic.tool_search_tool_bm25_20251119",
        "AnthropicToolSearchBM25",
        "tool_search_tool_bm25",
        "tool_search_tool_bm25_20251119",
    )
    .reported(&["tool_search_tool_bm25"], "server_tool_use", &["tool_search_tool_result"]),
    CatalogueEntry::executed(
        Vendor::Anthropic,
        "anthropic.advisor_20260301",
        "AnthropicAdvisor",
        "advisor",
        "advisor_20260301",
    )
    .args(Any)
    .beta("advisor-tool-2026-03-01")
    .reported(&["advisor"], "server_tool_use", &["advisor_tool_result"]),
    CatalogueEntry::executed(
        Vendor::Anthropic,
        "anthropic.mcp_toolset",
        "AnthropicMcpToolset",
        "mcp_toolset",
        "mcp_toolset",
    )
    .args(Any)
    .beta("mcp-client-2025-11-20")
    .reported(&[], "mcp_tool_use", &["mcp_tool_result"]),
];

const fn function(
    id: &'static str,
    custom_name: &'static str,
    provider_name: &'static str,
    wire_type: &'static str,
) -> CatalogueEntry {
    CatalogueEntry::function(Vendor::Anthropic, id, custom_name, provider_name, wire_type)
}

const fn code(id: &'static str, wire_type: &'static str) -> CatalogueEntry {
    CatalogueEntry::executed(Vendor::Anthropic, id, "AnthropicCodeExecution", "code_execution", wire_type).reported(
        CODE_NAMES,
        "server_tool_use",
        CODE_OUTPUTS,
    )
}

const fn computer(id: &'static str, wire_type: &'static str) -> CatalogueEntry {
    function(id, "AnthropicComputerUse", "computer", wire_type).args(Json(SCREEN))
}

const fn editor(id: &'static str, provider_name: &'static str, wire_type: &'static str) -> CatalogueEntry {
    function(id, "AnthropicTextEditor", provider_name, wire_type)
}

const fn search(id: &'static str, wire_type: &'static str) -> CatalogueEntry {
    CatalogueEntry::executed(Vendor::Anthropic, id, "AnthropicWebSearch", "web_search", wire_type).reported(
        &["web_search"],
        "server_tool_use",
        &["web_search_tool_result"],
    )
}

const fn fetch(id: &'static str, wire_type: &'static str) -> CatalogueEntry {
    CatalogueEntry::executed(Vendor::Anthropic, id, "AnthropicWebFetch", "web_fetch", wire_type).reported(
        &["web_fetch"],
        "server_tool_use",
        &["web_fetch_tool_result"],
    )
}

const fn tool_search(
    id: &'static str,
    custom_name: &'static str,
    provider_name: &'static str,
    wire_type: &'static str,
) -> CatalogueEntry {
    CatalogueEntry::executed(Vendor::Anthropic, id, custom_name, provider_name, wire_type)
}
