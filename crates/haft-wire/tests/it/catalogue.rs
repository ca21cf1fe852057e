//! The catalogue of provider-defined tools.

mod call;
mod item;
mod parts;
mod render;
mod result;
mod settings;
mod table;

use haft_executor::Tool;
use haft_wire::catalogue::anthropic::{self, FunctionConfig, UrlSource, UrlSourceTool, UrlSources};
use haft_wire::catalogue::google::{self, GoogleEnvironment, NoSettings, PhishingThreshold, TimeRange};
use haft_wire::catalogue::openai::{
    self, ComputerEnvironment, FileFilter, FileRanking, FilterOperator, HybridWeights, ImageFormat, ImageMask,
    ImageQuality, InterpreterContainer, McpApprovalMode, MemoryLimit, NetworkPolicy, SearchExecution, ShellEnvironment,
    WebFilters,
};
use haft_wire::catalogue::{CatalogueSettings, CatalogueTool, UserLocation};
use serde_json::json;

pub(crate) use self::table::least;

/// Returns a tool of every constructor, with all settings that it has.
fn tools() -> Vec<Tool> {
    let mut all = anthropic_tools();
    all.extend(openai_tools());
    all.extend(google_tools());
    all
}

fn anthropic_tools() -> Vec<Tool> {
    let config = || [("wait", FunctionConfig::new().enabled(false).defer_loading(true))];
    let location = UserLocation::approximate().city("Oslo").country("NO").region("Oslo").timezone("Europe/Oslo");
    let reference = UrlSourceTool::ToolReference { name: "lookup".to_owned() };
    let sources = UrlSources::new()
        .user_input(UrlSource::All {})
        .client_tool_results(UrlSource::Only { tools: vec![reference] })
        .server_tool_results(UrlSource::None {});
    vec![
        defined(anthropic::bash()),
        defined(anthropic::code_execution()),
        defined(anthropic::computer(1280, 800).display_number(1).enable_zoom(true)),
        defined(anthropic::computer_toolset().configs(config())),
        defined(anthropic::browser_toolset().configs(config())),
        defined(anthropic::memory()),
        defined(anthropic::text_editor().max_characters(10_000_u64)),
        defined(
            anthropic::web_search()
                .max_uses(3)
                .allowed_domains(["rust-lang.org"])
                .user_location(location)
                .response_inclusion(anthropic::ResponseInclusion::Excluded),
        ),
        defined(
            anthropic::web_fetch()
                .max_uses(3)
                .blocked_domains(vec!["example.org"])
                .citations(anthropic::CitationSetting::new().enabled(true))
                .max_content_tokens(9_000)
                .use_cache(false)
                .url_sources(sources)
                .response_inclusion("full"),
        ),
        defined(anthropic::tool_search_regex()),
        defined(anthropic::tool_search_bm25()),
        defined(anthropic::advisor("claude-opus-5").max_uses(2).max_tokens(500)),
        defined(
            anthropic::mcp_toolset("docs")
                .server(anthropic::AnthropicMcpServer::new("https://mcp.example.org").authorization_token("token"))
                .default_config(FunctionConfig::new().enabled(true))
                .configs(config()),
        ),
    ]
}

fn openai_tools() -> Vec<Tool> {
    let policy = NetworkPolicy::Allowlist { allowed_domains: vec!["pypi.org".to_owned()], domain_secrets: Vec::new() };
    let container = ShellEnvironment::ContainerAuto {
        file_ids: Some(vec!["file_1".to_owned()]),
        memory_limit: Some(MemoryLimit::FourGigabytes),
        network_policy: Some(policy),
        skills: None,
    };
    let recent = FileFilter::attribute("year", FilterOperator::Gte, 2025);
    let filter = FileFilter::all([recent, FileFilter::attribute("kind", FilterOperator::In, json!(["a", 1]))]);
    let ranking = FileRanking::new().ranker("auto").score_threshold(0.5).hybrid_search(HybridWeights::new(0.5, 0.5));
    vec![
        defined(openai::apply_patch()),
        defined(openai::code_interpreter(InterpreterContainer::auto())),
        defined(openai::code_interpreter("cntr_1").name("python")),
        defined(openai::computer()),
        defined(openai::computer_use_preview(1024, 768, ComputerEnvironment::Browser)),
        defined(openai::file_search(["vs_1"]).max_num_results(5).filters(filter).ranking_options(ranking)),
        defined(
            openai::image_generation()
                .quality(ImageQuality::Max)
                .output_format(ImageFormat::Webp)
                .output_compression(80)
                .partial_images(2)
                .size("1024x1536")
                .model("gpt-image-2")
                .background("opaque")
                .moderation("low")
                .input_fidelity("high")
                .action("edit")
                .input_image_mask(ImageMask::new().file_id("file_1")),
        ),
        defined(openai::local_shell()),
        defined(
            openai::mcp("docs")
                .server_url("https://mcp.example.org")
                .authorization("token")
                .allowed_tools(["search"])
                .require_approval(McpApprovalMode::Never)
                .server_description("Documents"),
        ),
        defined(openai::programmatic_tool_calling()),
        defined(openai::shell()),
        defined(openai::shell().environment(container).name("hosted_shell")),
        defined(openai::tool_search()),
        defined(openai::tool_search().execution(SearchExecution::Client).description("Finds").name("own_search")),
        defined(
            openai::web_search()
                .filters(WebFilters::new().allowed_domains(["rust-lang.org"]))
                .user_location(UserLocation::approximate().country("NO"))
                .search_context_size("low")
                .external_web_access(false),
        ),
        defined(openai::web_search_preview().search_context_size("high").search_content_types(["text"])),
    ]
}

fn google_tools() -> Vec<Tool> {
    let types = google::SearchTypes::new().web_search(NoSettings::new()).image_search(NoSettings::new());
    let year = TimeRange::new("2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z");
    let dynamic = google::DynamicRetrieval::new().mode(google::RetrievalMode::ModeDynamic).dynamic_threshold(0.7);
    vec![
        defined(google::code_execution()),
        defined(
            google::computer_use(GoogleEnvironment::Browser)
                .excluded_predefined_functions(["search"])
                .enable_prompt_injection_detection(true)
                .disabled_safety_policies(["ACCOUNT_CREATION"]),
        ),
        defined(google::enterprise_web_search().exclude_domains(["example.org"])),
        defined(google::file_search(["fileSearchStores/a"]).top_k(4).metadata_filter("year > 2024")),
        defined(google::google_maps().enable_widget(true)),
        defined(
            google::google_search()
                .search_types(types)
                .time_range_filter(year)
                .exclude_domains(["example.org"])
                .blocking_confidence(PhishingThreshold::BlockMediumAndAbove),
        ),
        defined(google::google_search_retrieval().dynamic_retrieval_config(dynamic)),
        defined(google::url_context()),
    ]
}

fn defined<S: CatalogueSettings>(tool: CatalogueTool<S>) -> Tool {
    tool.define().unwrap()
}
