//! The provider-defined tools of OpenAI.

use crate::catalogue::entry::SchemaSource::Any;
use crate::catalogue::item::PlainForm;
use crate::catalogue::{CatalogueEntry, Vendor};

/// All tools of OpenAI.
pub(super) static ENTRIES: &[CatalogueEntry] = &[
    handled("openai.apply_patch", "OpenAiApplyPatch", "apply_patch").items(
        "apply_patch_call",
        &["operation"],
        "apply_patch_call_output",
        PlainForm::Patch,
    ),
    executed("openai.code_interpreter", "OpenAiCodeInterpreter", "code_interpreter", "code_interpreter_call").args(Any),
    handled("openai.computer", "OpenAiComputer", "computer").items(
        "computer_call",
        &["action", "actions", "pending_safety_checks"],
        "computer_call_output",
        PlainForm::Screenshot,
    ),
    handled("openai.computer_use_preview", "OpenAiComputerUse", "computer_use_preview")
        .items(
            "computer_call",
            &["action", "actions", "pending_safety_checks"],
            "computer_call_output",
            PlainForm::Screenshot,
        )
        .args(Any)
        .superseded(),
    executed("openai.file_search", "OpenAiFileSearch", "file_search", "file_search_call").args(Any),
    executed("openai.image_generation", "OpenAiImageGeneration", "image_generation", "image_generation_call").args(Any),
    handled("openai.local_shell", "OpenAiLocalShell", "local_shell")
        .items("local_shell_call", &["action"], "local_shell_call_output", PlainForm::Output)
        .output_id("id")
        .superseded(),
    executed("openai.mcp", "OpenAiMcp", "mcp", "mcp_call").args(Any),
    executed(
        "openai.programmatic_tool_calling",
        "OpenAiProgrammaticToolCalling",
        "programmatic_tool_calling",
        "program",
    )
    .reported(&[], "program", &["program_output"]),
    handled("openai.shell", "OpenAiShell", "shell")
        .items("shell_call", &["action"], "shell_call_output", PlainForm::Commands)
        .args(Any)
        .executed_by("/environment/type", &[None, Some("local")]),
    handled("openai.tool_search", "OpenAiToolSearch", "tool_search")
        .items("tool_search_call", &["arguments"], "tool_search_output", PlainForm::Tools)
        .args(Any)
        .executed_by("/execution", &[Some("client")]),
    executed("openai.web_search", "OpenAiWebSearch", "web_search", "web_search_call")
        .alias("openai.web_search_2025_08_26")
        .args(Any),
    executed("openai.web_search_preview", "OpenAiWebSearchPreview", "web_search_preview", "web_search_call")
        .alias("openai.web_search_preview_2025_03_11")
        .args(Any)
        .superseded(),
];

/// Returns the entry of a tool that the application executes.
const fn handled(id: &'static str, custom_name: &'static str, name: &'static str) -> CatalogueEntry {
    CatalogueEntry::function(Vendor::OpenAi, id, custom_name, name, name)
}

/// Returns the entry of a tool that the provider executes, and reports in one item.
const fn executed(
    id: &'static str,
    custom_name: &'static str,
    name: &'static str,
    item: &'static str,
) -> CatalogueEntry {
    CatalogueEntry::executed(Vendor::OpenAi, id, custom_name, name, name).reported(&[], item, &[])
}
