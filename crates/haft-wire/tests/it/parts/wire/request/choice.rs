//! Every choice of tools.

use haft_core::{Item, ToolChoice, TurnRequest};
use haft_executor::Tool;
use haft_wire::catalogue::{anthropic, google, openai};
use serde_json::json;

use super::super::{sample_tools, tool};
use super::case::RequestCase;

pub(super) fn cases() -> Vec<RequestCase> {
    let mut cases = Vec::new();
    let encoded = tool("acme/weather.get", "Returns the weather.", json!({"type": "object", "properties": {}}));
    let mut functions = sample_tools();
    functions.push(encoded);
    let mut mixed = functions.clone();
    mixed.extend(built_in().iter().map(|tool| (*tool.descriptor()).clone()));
    for (kind, tools) in [("functions", functions), ("mixed tools", mixed), ("no tools", Vec::new())] {
        for (name, choice) in choices() {
            let request = TurnRequest::new("", vec![Item::user("hi")]).tools(&tools).tool_choice(choice);
            cases.push(RequestCase::new(format!("{name} of {kind}"), request));
        }
    }
    cases
}

/// A tool that each provider executes.
fn built_in() -> Vec<Tool> {
    vec![
        openai::web_search().define().unwrap(),
        anthropic::web_search().define().unwrap(),
        google::google_search().define().unwrap(),
    ]
}

fn choices() -> Vec<(&'static str, ToolChoice)> {
    let none: [&str; 0] = [];
    vec![
        ("auto", ToolChoice::Auto),
        ("none", ToolChoice::None),
        ("required", ToolChoice::Required),
        ("one tool", ToolChoice::tool("add")),
        ("an encoded tool", ToolChoice::tool("acme/weather.get")),
        ("a missing tool", ToolChoice::tool("missing")),
        ("a tool of the provider", ToolChoice::tool(ANTHROPIC_SEARCH)),
        ("some", ToolChoice::may_call(["add", "acme/weather.get"])),
        ("some required", ToolChoice::must_call_one_of(["add", "now"])),
        ("some with one missing", ToolChoice::may_call(["add", "missing"])),
        ("some required, all missing", ToolChoice::must_call_one_of(["missing"])),
        ("some with one of the provider", ToolChoice::may_call(["add", ANTHROPIC_SEARCH])),
        ("nobody", ToolChoice::may_call(none)),
    ]
}

const ANTHROPIC_SEARCH: &str = "AnthropicWebSearch";

/// The choices name tools that exist.
#[test]
fn the_tool_of_the_provider_has_its_name() {
    let names: Vec<_> = built_in().iter().map(|tool| tool.name().to_owned()).collect();
    assert!(names.iter().any(|name| name == ANTHROPIC_SEARCH), "{names:?}");
}
