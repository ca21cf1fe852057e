//! Anthropic tool versions that a newer one supersedes, as plain data.

use crate::catalogue::CatalogueEntry;
use crate::catalogue::anthropic::{AnthropicBash, AnthropicCodeExecution, AnthropicWebFetch, AnthropicWebSearch};
use crate::catalogue::anthropic::{code, editor, fetch, function, search};
use crate::catalogue::entry::SchemaSource::Json;

/// The header for tools that were published together with computer use, in the versions from that time.
const COMPUTER_USE_2024: &str = "computer-use-2024-10-22";
const COMPUTER_USE_2025: &str = "computer-use-2025-01-24";

/// Screen settings from before zooming.
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

/// Web search settings from before `response_inclusion`.
const SEARCH: &str = r#"{
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
}"#;

/// Web fetch settings from before `use_cache`.
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

/// Web fetch settings from before `response_inclusion`.
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

/// Code execution parameters from before the shell and the editor.
const CODE: &str = r#"{
    "type": "object",
    "properties": {"code": {"type": "string"}},
    "required": ["code"]
}"#;

/// Screen actions from before scrolling, waiting and further clicks.
const FIRST_ACTIONS: &str = r#"{
    "type": "object",
    "properties": {
        "action": {
            "enum": [
                "key", "type", "mouse_move", "left_click", "left_click_drag", "right_click", "middle_click",
                "double_click", "screenshot", "cursor_position"
            ]
        },
        "coordinate": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        "text": {"type": "string"}
    },
    "required": ["action"]
}"#;

/// Screen actions from before zooming.
const ACTIONS: &str = r#"{
    "type": "object",
    "properties": {
        "action": {
            "enum": [
                "key", "type", "mouse_move", "left_click", "left_click_drag", "right_click", "middle_click",
                "double_click", "screenshot", "cursor_position", "left_mouse_down", "left_mouse_up", "scroll",
                "hold_key", "wait", "triple_click"
            ]
        },
        "coordinate": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        "start_coordinate": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
        "text": {"type": "string"},
        "duration": {"type": "number", "minimum": 0},
        "scroll_amount": {"type": "integer", "minimum": 0},
        "scroll_direction": {"enum": ["up", "down", "left", "right"]}
    },
    "required": ["action"]
}"#;

/// The commands in editor versions with `undo_edit`, which put inserted text into `new_str`.
const FIRST_COMMANDS: &str = r#"{
    "type": "object",
    "properties": {
        "command": {"enum": ["view", "create", "str_replace", "insert", "undo_edit"]},
        "path": {"type": "string"},
        "file_text": {"type": "string"},
        "insert_line": {"type": "integer", "minimum": 0},
        "new_str": {"type": "string"},
        "old_str": {"type": "string"},
        "view_range": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    },
    "required": ["command", "path"]
}"#;

/// The editor commands. Models write inserted text to `insert_text` or `new_str`.
const COMMANDS: &str = r#"{
    "type": "object",
    "properties": {
        "command": {"enum": ["view", "create", "str_replace", "insert"]},
        "path": {"type": "string"},
        "file_text": {"type": "string"},
        "insert_line": {"type": "integer", "minimum": 0},
        "insert_text": {"type": "string"},
        "new_str": {"type": "string"},
        "old_str": {"type": "string"},
        "view_range": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    },
    "required": ["command", "path"]
}"#;

const TEXT: &str = r#"{"type": "string"}"#;

pub(super) const BASH_20241022: CatalogueEntry =
    function("anthropic.bash_20241022", "AnthropicBash", "bash", "bash_20241022")
        .types::<AnthropicBash>()
        .beta(COMPUTER_USE_2024)
        .superseded();

pub(super) const CODE_EXECUTION_20260120: CatalogueEntry =
    code("anthropic.code_execution_20260120", "code_execution_20260120")
        .fallible::<AnthropicCodeExecution>()
        .superseded();

pub(super) const CODE_EXECUTION_20250825: CatalogueEntry =
    code("anthropic.code_execution_20250825", "code_execution_20250825")
        .fallible::<AnthropicCodeExecution>()
        .beta("code-execution-2025-08-25")
        .superseded();

pub(super) const CODE_EXECUTION_20250522: CatalogueEntry =
    code("anthropic.code_execution_20250522", "code_execution_20250522")
        .fallible::<AnthropicCodeExecution>()
        .params(Json(CODE))
        .beta("code-execution-2025-05-22")
        .reported(&["code_execution"], "server_tool_use", &["code_execution_tool_result"])
        .superseded();

pub(super) const COMPUTER_20250124: CatalogueEntry =
    computer("anthropic.computer_20250124", "computer_20250124").params(Json(ACTIONS)).beta(COMPUTER_USE_2025);

/// The provider calls this version `computer`, like all others, whatever its id suggests.
pub(super) const COMPUTER_20241022: CatalogueEntry = computer("anthropic.computer_use_20241022", "computer_20241022")
    .alias("anthropic.computer_20241022")
    .params(Json(FIRST_ACTIONS))
    .beta(COMPUTER_USE_2024);

pub(super) const TEXT_EDITOR_20250429: CatalogueEntry =
    editor("anthropic.text_editor_20250429", "str_replace_based_edit_tool", "text_editor_20250429")
        .params(Json(COMMANDS))
        .success(Json(TEXT))
        .superseded();

pub(super) const TEXT_EDITOR_20250124: CatalogueEntry =
    editor("anthropic.text_editor_20250124", "str_replace_editor", "text_editor_20250124")
        .params(Json(FIRST_COMMANDS))
        .success(Json(TEXT))
        .superseded();

pub(super) const TEXT_EDITOR_20241022: CatalogueEntry =
    editor("anthropic.text_editor_20241022", "str_replace_editor", "text_editor_20241022")
        .params(Json(FIRST_COMMANDS))
        .success(Json(TEXT))
        .beta(COMPUTER_USE_2024)
        .superseded();

pub(super) const WEB_SEARCH_20260209: CatalogueEntry = search("anthropic.web_search_20260209", "web_search_20260209")
    .fallible::<AnthropicWebSearch>()
    .args(Json(SEARCH))
    .superseded();

pub(super) const WEB_SEARCH_20250305: CatalogueEntry = search("anthropic.web_search_20250305", "web_search_20250305")
    .fallible::<AnthropicWebSearch>()
    .args(Json(SEARCH))
    .superseded();

pub(super) const WEB_FETCH_20260309: CatalogueEntry = fetch("anthropic.web_fetch_20260309", "web_fetch_20260309")
    .fallible::<AnthropicWebFetch>()
    .args(Json(FETCH_CACHED))
    .superseded();

pub(super) const WEB_FETCH_20260209: CatalogueEntry = fetch("anthropic.web_fetch_20260209", "web_fetch_20260209")
    .fallible::<AnthropicWebFetch>()
    .args(Json(FETCH))
    .superseded();

pub(super) const WEB_FETCH_20250910: CatalogueEntry = fetch("anthropic.web_fetch_20250910", "web_fetch_20250910")
    .fallible::<AnthropicWebFetch>()
    .args(Json(FETCH))
    .beta("web-fetch-2025-09-10")
    .superseded();

const fn computer(id: &'static str, wire_type: &'static str) -> CatalogueEntry {
    function(id, "AnthropicComputerUse", "computer", wire_type).args(Json(SCREEN)).superseded()
}
