//! Tools without a local handler: a provider's own, a signal for the loop, and a question to a person.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::prelude::*;
use haft::tool::NameMapper;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchSettings {
    #[schemars(range(min = 1, max = 10))]
    max_uses: u8,
}

/// Hand the question to a stronger model.
#[derive(Debug, Deserialize, JsonSchema)]
struct Escalate {
    reason: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let web_search = Tool::provider("anthropic.web_search_20250305")
        .custom_name("AnthropicWebSearch")
        .provider_name("web_search")
        .args::<SearchSettings>();
    let search = web_search.with_args(SearchSettings { max_uses: 3 }).define()?;
    let rejected = web_search.with_args(json!({ "max_uses": 99 })).define();
    println!("rejected settings: {}", rejected.err().map(|error| error.to_string()).unwrap_or_default());

    let names = NameMapper::new("anthropic", [&search])?;
    println!("{} is {} at its provider", search.name(), names.provider_name(search.name()));

    let escalate = Tool::signal("escalate").params::<Escalate>().define()?;
    println!("escalate: {:?}", escalate.description());
    let call = ToolCall::new("c1", "escalate", r#"{"reason": "too hard"}"#);
    let signal: Escalate = escalate.decode_args(&call)?;
    println!("the loop is told: {}", signal.reason);

    // A loop that doesn't handle it gets a result all the same.
    let ask = Tool::interaction("choose_account").describe("Asks the user which account to use.").define()?;
    assert!(ask.is_interaction() && !ask.requires_handler());
    let kit: Toolkit = Toolkit::new().with_all([search, escalate, ask])?;
    kit.ensure_runnable()?;
    for result in kit.run([call, ToolCall::new("c2", "choose_account", "{}")]).collect_results().await {
        println!("run anyway: {}", result.to_call_output().output);
        assert_eq!(result.failure().map(|failure| failure.kind.as_str()), Some("non_local_tool"));
    }
    Ok(())
}
