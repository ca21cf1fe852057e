//! Every setting of a request.

use haft_core::{Item, TurnRequest};
use serde_json::json;

use super::super::sample_tools;
use super::case::RequestCase;

fn request() -> TurnRequest {
    TurnRequest::new("", vec![Item::user("hi")])
}

pub(super) fn cases() -> Vec<RequestCase> {
    let five = ["a1", "a2", "a3", "a4", "a5"].into_iter().fold(request(), TurnRequest::stop);
    let tools = || request().tools(&sample_tools());
    let many = (0..20).fold(request(), |request, at| request.metadata(format!("key{at}"), "value"));
    vec![
        RequestCase::new("temperature", request().temperature(0.25)).contains("0.25"),
        RequestCase::new("top_p", request().top_p(0.125)).contains("0.125"),
        RequestCase::new("max_output_tokens", request().max_output_tokens(4321)).contains("4321"),
        RequestCase::new("temperature and top_p", request().temperature(0.25).top_p(0.99)).contains("0.99"),
        RequestCase::new("few tokens", request().max_output_tokens(5)),
        RequestCase::new("stop", request().stop("STOP").stop("END")).contains("STOP").contains("END"),
        RequestCase::new("five stops", five).contains("a1").contains("a5"),
        RequestCase::new("empty stop", request().stop("")),
        RequestCase::new("white space as stop", request().stop("\n\n").stop("END")).contains("END"),
        RequestCase::new("metadata", request().metadata("user_id", "u-1").metadata("trace", "t-1"))
            .contains("u-1")
            .contains("t-1"),
        RequestCase::new(
            "stored metadata",
            request().metadata("trace", "t-1").provider_options("openai", json!({"store": true})),
        )
        .contains("t-1"),
        RequestCase::new("metadata that is no text", request().metadata("nested", json!({"deep": [1, "x"]})))
            .contains("deep"),
        RequestCase::new("long metadata", request().metadata("long", "x".repeat(600))).contains("xxx"),
        RequestCase::new("twenty metadata", many).contains("key0").contains("key19"),
        RequestCase::new("parallel calls allowed", tools().allow_parallel_calls()),
        RequestCase::new("parallel calls forbidden", tools().forbid_parallel_calls()),
        RequestCase::new("parallel calls without tools", request().forbid_parallel_calls()),
        RequestCase::new(
            "no options",
            request().provider_options("openai", json!({})).provider_options("google", json!(null)),
        ),
        RequestCase::new("options of others", request().provider_options("acme", json!({"a": 1}))),
        RequestCase::new(
            "options that are no object",
            ["openai", "anthropic", "google", "vllm"]
                .into_iter()
                .fold(request(), |request, provider| request.provider_options(provider, json!([1]))),
        ),
        RequestCase::new("thinking", thinking(request().max_output_tokens(4096))),
        RequestCase::new("thinking with tools", thinking(tools().max_output_tokens(4096))),
        RequestCase::new(
            "user of openai",
            request().provider_options("openai", json!({"user": "u-1", "service_tier": "flex"})),
        ),
        RequestCase::new(
            "options of anthropic",
            request().provider_options("anthropic", json!({"service_tier": "auto", "metadata": {"user_id": "u-1"}})),
        ),
        RequestCase::new(
            "options of google",
            request().temperature(0.5).provider_options(
                "google",
                json!({
                    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
                    "generationConfig": {"seed": 7, "responseLogprobs": true},
                }),
            ),
        ),
    ]
}

/// Asks each provider to think, except for those of Chat Completions.
pub(super) fn thinking(request: TurnRequest) -> TurnRequest {
    request
        .provider_options("anthropic", json!({"thinking": {"type": "enabled", "budget_tokens": 2048}}))
        .provider_options(
            "google",
            json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 100, "includeThoughts": true}}}),
        )
}
