//! Tools without a local handler: a provider's own, a signal for the loop, and a question to a person.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::conversation::ToolCallOutput;
use haft::prelude::*;
use haft::tool::{IntoTool, StaticTool, ToolType};
use serde::{Deserialize, Serialize};

/// Searches the web.
#[tool(
    provider = "anthropic.web_search_20250305",
    provider_name = "web_search",
    name = "AnthropicWebSearch",
    success = Vec<Hit>
)]
struct WebSearch {
    #[schemars(range(min = 1, max = 10))]
    max_uses: Option<u8>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Hit {
    url: String,
}

/// Hand the question to a stronger model.
#[tool(signal)]
struct Escalate {
    reason: String,
}

/// Asks the user which account to use.
#[tool(interaction, success = String)]
struct ChooseAccount {
    accounts: Vec<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit: Toolkit = toolkit![WebSearch { max_uses: Some(3) }, Escalate, ChooseAccount];
    kit.ensure_runnable()?;
    let rejected = WebSearch { max_uses: Some(99) }.into_tool();
    println!("rejected settings: {}", rejected.err().map(|error| error.to_string()).unwrap_or_default());

    // The provider ran this call. The toolkit checks its result, so that it is read like any other.
    let call = ToolCall::new("c0", WebSearch::NAME, "{}").executed_by_provider();
    let output = ToolCallOutput::new("c0", r#"[{"url": "https://haft.dev"}]"#);
    for result in kit.provider_results(&[call.into(), output.into()]) {
        let hits: Vec<Hit> = result.decode()?;
        println!("found: {}", hits[0].url);
    }

    let escalate = Escalate::tool()?;
    println!("escalate: {:?}", escalate.description());
    let call = ToolCall::new("c1", "escalate", r#"{"reason": "too hard"}"#);
    let signal = Escalate::decode(&call)?;
    println!("the loop is told: {}", signal.reason);

    // A loop that doesn't handle a signal or an interaction gets a result all the same.
    let question = ToolCall::new("c2", "choose_account", r#"{"accounts": ["savings"]}"#);
    for result in kit.run([call, question]).collect_results().await {
        println!("run anyway: {}", result.to_call_output().output);
        assert_eq!(result.failure().map(|failure| failure.kind.as_str()), Some("non_local_tool"));
    }
    Ok(())
}
