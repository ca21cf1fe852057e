//! The table: complete, without contradictions, and with schemas that compile.

use std::collections::HashSet;

use haft_wire::catalogue::{CallForm, CatalogueEntry, Execution, Vendor, entries, entries_of, find};
use serde_json::{Value, json};

/// The tools that the source of this catalogue lists: id, name in the application, name at the provider, whether the
/// application executes it.
const LISTED: &[(&str, &str, &str, bool)] = &[
    ("anthropic.bash_20241022", "AnthropicBash", "bash", true),
    ("anthropic.bash_20250124", "AnthropicBash", "bash", true),
    ("anthropic.code_execution_20250522", "AnthropicCodeExecution", "code_execution", false),
    ("anthropic.code_execution_20250825", "AnthropicCodeExecution", "code_execution", false),
    // Its name is `computer`, although the source lists `computer_use`.
    ("anthropic.computer_use_20241022", "AnthropicComputerUse", "computer", true),
    ("anthropic.computer_20250124", "AnthropicComputerUse", "computer", true),
    ("anthropic.computer_20251124", "AnthropicComputerUse", "computer", true),
    ("anthropic.memory_20250818", "AnthropicMemory", "memory", true),
    ("anthropic.text_editor_20241022", "AnthropicTextEditor", "str_replace_editor", true),
    ("anthropic.text_editor_20250124", "AnthropicTextEditor", "str_replace_editor", true),
    ("anthropic.text_editor_20250429", "AnthropicTextEditor", "str_replace_based_edit_tool", true),
    ("anthropic.text_editor_20250728", "AnthropicTextEditor", "str_replace_based_edit_tool", true),
    ("anthropic.web_search_20250305", "AnthropicWebSearch", "web_search", false),
    ("anthropic.web_fetch_20250910", "AnthropicWebFetch", "web_fetch", false),
    ("anthropic.tool_search_tool_regex_20251119", "AnthropicToolSearchRegex", "tool_search_tool_regex", false),
    ("anthropic.tool_search_tool_bm25_20251119", "AnthropicToolSearchBM25", "tool_search_tool_bm25", false),
    ("openai.apply_patch", "OpenAiApplyPatch", "apply_patch", true),
    ("openai.code_interpreter", "OpenAiCodeInterpreter", "code_interpreter", false),
    ("openai.file_search", "OpenAiFileSearch", "file_search", false),
    ("openai.image_generation", "OpenAiImageGeneration", "image_generation", false),
    ("openai.local_shell", "OpenAiLocalShell", "local_shell", true),
    ("openai.mcp", "OpenAiMcp", "mcp", false),
    ("openai.shell", "OpenAiShell", "shell", true),
    ("openai.web_search", "OpenAiWebSearch", "web_search", false),
    ("openai.web_search_preview", "OpenAiWebSearchPreview", "web_search_preview", false),
    ("google.code_execution", "GoogleCodeExecution", "code_execution", false),
    ("google.google_search", "GoogleSearch", "google_search", false),
    ("google.google_search_retrieval", "GoogleSearchRetrieval", "google_search_retrieval", false),
    ("google.url_context", "GoogleUrlContext", "url_context", false),
];

#[test]
fn every_listed_tool_is_present() {
    for (id, custom_name, provider_name, handled) in LISTED {
        let entry = find(id).unwrap_or_else(|| panic!("{id} is missing"));
        assert_eq!((entry.custom_name, entry.provider_name), (*custom_name, *provider_name), "{id}");
        assert_eq!(entry.requires_handler(&Value::Null), *handled, "{id}");
    }
}

#[test]
fn every_tool_of_the_sdks_is_present() {
    let newest = [
        "anthropic.bash_20250124",
        "anthropic.code_execution_20260521",
        "anthropic.computer_20251124",
        "anthropic.computer_toolset_20260801",
        "anthropic.browser_toolset_20260801",
        "anthropic.memory_20250818",
        "anthropic.text_editor_20250728",
        "anthropic.web_search_20260318",
        "anthropic.web_fetch_20260318",
        "anthropic.tool_search_tool_regex_20251119",
        "anthropic.tool_search_tool_bm25_20251119",
        "anthropic.advisor_20260301",
        "anthropic.mcp_toolset",
        "openai.apply_patch",
        "openai.code_interpreter",
        "openai.computer",
        "openai.file_search",
        "openai.image_generation",
        "openai.mcp",
        "openai.programmatic_tool_calling",
        "openai.shell",
        "openai.tool_search",
        "openai.web_search",
        "google.code_execution",
        "google.computer_use",
        "google.enterprise_web_search",
        "google.file_search",
        "google.google_maps",
        "google.google_search",
        "google.url_context",
    ];
    let current: Vec<_> = entries().filter(|entry| entry.is_current).map(|entry| entry.id).collect();
    assert_eq!(current, newest);
}

#[test]
fn ids_are_unique_and_belong_to_their_vendor() {
    let mut seen = HashSet::new();
    for entry in entries() {
        for id in std::iter::once(entry.id).chain(entry.alias) {
            assert!(seen.insert(id), "{id} is listed twice");
            assert_eq!(Vendor::of_id(id), Some(entry.vendor), "{id}");
            assert_eq!(find(id).unwrap().id, entry.id);
        }
    }
    assert_eq!(seen.len() - 1, Vendor::ALL.iter().map(|vendor| entries_of(*vendor).len()).sum::<usize>());
}

#[test]
fn unknown_ids_are_not_found() {
    for id in ["", ".", "openai", "openai.", "openai.nothing", "acme.web_search", "web_search", "OpenAI.web_search"] {
        assert!(find(id).is_none(), "{id}");
    }
}

#[test]
fn types_on_the_wire_are_unique_per_vendor() {
    for vendor in Vendor::ALL {
        let mut seen = HashSet::new();
        for entry in entries_of(vendor) {
            assert!(seen.insert(entry.wire_type), "{}", entry.id);
        }
    }
}

#[test]
fn all_schemas_compile_and_settings_are_closed_objects() {
    for entry in entries() {
        let schema = entry.args_schema().unwrap_or_else(|error| panic!("{}: {error}", entry.id));
        assert_eq!(schema.as_json()["additionalProperties"], json!(false), "{}", entry.id);
        assert!(schema.check(&json!({"surely_unknown": 1})).is_err(), "{}", entry.id);
        // The schemas of parameters, successes and failures.
        assert!(entry.with_args(least(entry)).unwrap().define().is_ok(), "{}", entry.id);
    }
}

#[test]
fn only_betas_have_a_header() {
    let betas: Vec<_> = entries().filter_map(|entry| Some((entry.id, entry.beta?))).collect();
    let expected = [
        ("anthropic.bash_20241022", "computer-use-2024-10-22"),
        ("anthropic.code_execution_20250825", "code-execution-2025-08-25"),
        ("anthropic.code_execution_20250522", "code-execution-2025-05-22"),
        ("anthropic.computer_20251124", "computer-use-2025-11-24"),
        ("anthropic.computer_20250124", "computer-use-2025-01-24"),
        ("anthropic.computer_use_20241022", "computer-use-2024-10-22"),
        ("anthropic.text_editor_20241022", "computer-use-2024-10-22"),
        ("anthropic.web_fetch_20250910", "web-fetch-2025-09-10"),
        ("anthropic.advisor_20260301", "advisor-tool-2026-03-01"),
        ("anthropic.mcp_toolset", "mcp-client-2025-11-20"),
    ];
    assert_eq!(betas, expected);
}

#[test]
fn the_form_of_calls_fits_the_executor() {
    for entry in entries() {
        let executed = matches!(entry.call, CallForm::Executed(_));
        assert_eq!(executed, entry.execution == Execution::Provider, "{}", entry.id);
    }
}

#[test]
fn a_setting_decides_who_executes() {
    let shell = find("openai.shell").unwrap();
    for (settings, here) in [
        (Value::Null, true),
        (json!({}), true),
        (json!({"environment": null}), true),
        (json!({"environment": {"type": "local"}}), true),
        (json!({"environment": {"type": "container_auto"}}), false),
        (json!({"environment": {"type": "container_reference", "container_id": "c"}}), false),
    ] {
        assert_eq!(shell.requires_handler(&settings), here, "{settings}");
    }
    let search = find("openai.tool_search").unwrap();
    for (settings, here) in
        [(Value::Null, false), (json!({"execution": "server"}), false), (json!({"execution": "client"}), true)]
    {
        assert_eq!(search.requires_handler(&settings), here, "{settings}");
    }
}

/// Returns the settings that an entry requires.
pub(crate) fn least(entry: &CatalogueEntry) -> Value {
    match entry.wire_type {
        "computer_20251124" | "computer_20250124" | "computer_20241022" => {
            json!({"display_width_px": 1024, "display_height_px": 768})
        }
        "advisor_20260301" => json!({"model": "claude-opus-5"}),
        "mcp_toolset" => json!({"mcp_server_name": "docs"}),
        "code_interpreter" => json!({"container": {"type": "auto"}}),
        "computer_use_preview" => json!({"display_width": 1, "display_height": 1, "environment": "linux"}),
        "file_search" => json!({"vector_store_ids": ["vs_1"]}),
        "mcp" => json!({"server_label": "docs", "server_url": "https://mcp.example.org"}),
        "computerUse" => json!({"environment": "ENVIRONMENT_BROWSER"}),
        "fileSearch" => json!({"fileSearchStoreNames": ["fileSearchStores/a"]}),
        _ => Value::Null,
    }
}
