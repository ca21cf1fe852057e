//! OpenAI's provider-defined tools.
//!
//! If the provider executed a call, the call's item contains both parameters and result, so both types read the whole
//! item.

mod apply_patch;
mod code_interpreter;
mod computer;
mod container;
mod file_search;
mod image_generation;
mod local_shell;
mod mcp;
mod programmatic;
mod shell;
mod tool_search;
mod web_search;

pub use self::apply_patch::{OpenAiApplyPatch, PatchCall, PatchOperation, PatchResult, PatchStatus, apply_patch};
pub use self::code_interpreter::{
    InterpreterCall, InterpreterContainer, InterpreterOutput, InterpreterResult, NewContainer, OpenAiCodeInterpreter,
    code_interpreter,
};
pub use self::computer::{
    ComputerCall, ComputerEnvironment, ComputerOutput, OpenAiComputer, OpenAiComputerUse, PointerAction, PointerButton,
    SafetyCheck, ScreenPoint, computer, computer_use_preview,
};
pub use self::container::{DomainSecret, MemoryLimit, NetworkPolicy};
pub use self::file_search::{
    AttributeFilter, CompoundFilter, FileFilter, FileRanker, FileRanking, FileSearchResult, FilterJunction,
    FilterOperator, FoundFile, HybridWeights, OpenAiFileSearch, file_search,
};
pub use self::image_generation::{
    ImageAction, ImageBackground, ImageComplexity, ImageFidelity, ImageFormat, ImageMask, ImageModeration,
    ImageQuality, ImageResult, OpenAiImageGeneration, SvgReasoning, SvgSettings, image_generation,
};
pub use self::local_shell::{LocalShellAction, LocalShellCall, LocalShellOutput, OpenAiLocalShell, local_shell};
pub use self::mcp::{
    McpAllowedTools, McpApproval, McpApprovalFilter, McpApprovalMode, McpCallResult, McpToolFilter, OpenAiMcp, mcp,
};
pub use self::programmatic::{OpenAiProgrammaticToolCalling, ProgramCall, ProgramResult, programmatic_tool_calling};
pub use self::shell::{
    CommandEnd, CommandOutput, ContainerSkill, LocalSkill, OpenAiShell, ShellAction, ShellCall, ShellEnvironment,
    ShellOutput, SkillSource, shell,
};
pub use self::tool_search::{OpenAiToolSearch, SearchExecution, ToolSearchCall, ToolSearchOutput, tool_search};
pub use self::web_search::{
    OpenAiWebSearch, OpenAiWebSearchPreview, SearchContextSize, WebFilters, WebSearchAction, WebSearchActivity,
    WebSource, web_search, web_search_preview,
};

use crate::catalogue::{CatalogueEntry, CatalogueSettings, Vendor};

/// All OpenAI tools.
pub(super) static ENTRIES: &[CatalogueEntry] = &[
    OpenAiApplyPatch::ENTRY,
    OpenAiCodeInterpreter::ENTRY,
    OpenAiComputer::ENTRY,
    OpenAiComputerUse::ENTRY,
    OpenAiFileSearch::ENTRY,
    OpenAiImageGeneration::ENTRY,
    OpenAiLocalShell::ENTRY,
    OpenAiMcp::ENTRY,
    OpenAiProgrammaticToolCalling::ENTRY,
    OpenAiShell::ENTRY,
    OpenAiToolSearch::ENTRY,
    OpenAiWebSearch::ENTRY,
    OpenAiWebSearchPreview::ENTRY,
    dated("openai.web_search_2025_08_26", "web_search_2025_08_26", OpenAiWebSearch::ENTRY),
    dated("openai.web_search_preview_2025_03_11", "web_search_preview_2025_03_11", OpenAiWebSearchPreview::ENTRY),
];

/// Returns an entry for a tool that your application executes.
const fn handled(id: &'static str, custom_name: &'static str, name: &'static str) -> CatalogueEntry {
    CatalogueEntry::function(Vendor::OpenAi, id, custom_name, name, name)
}

/// Returns an entry for a tool that the provider executes and reports in one item.
const fn executed(
    id: &'static str,
    custom_name: &'static str,
    name: &'static str,
    item: &'static str,
) -> CatalogueEntry {
    CatalogueEntry::executed(Vendor::OpenAi, id, custom_name, name, name).reported(&[], item, &[])
}

/// Returns an entry for a version that is named by its date.
const fn dated(id: &'static str, wire_type: &'static str, mut entry: CatalogueEntry) -> CatalogueEntry {
    entry.id = id;
    entry.wire_type = wire_type;
    entry.superseded()
}
