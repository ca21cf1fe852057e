//! An interaction: a call that a user answers, perhaps tomorrow. The loop stops, its state is stored as JSON, and when
//! the answer is there any process can continue.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::atomic::{AtomicU32, Ordering};

use haft::model::{Expect, LoopEnd, LoopState, ScriptedTurn};
use haft::prelude::*;
use serde::Serialize;
use serde_json::json;

/// Ask the user which account to use.
#[tool(interaction, success = Chosen)]
struct ChooseAccount {
    question: String,
    accounts: Vec<String>,
}

/// The answer of the user. An answer of another form is rejected.
#[derive(Serialize, JsonSchema)]
struct Chosen {
    account: String,
}

/// The number of times the rate was fetched, in the whole program.
static FETCHED: AtomicU32 = AtomicU32::new(0);

/// The interest rate of today, in percent.
#[tool(readonly)]
fn get_rate() -> f64 {
    FETCHED.fetch_add(1, Ordering::Relaxed);
    2.5
}

/// Creates the loop in each process: models and tools are code, and not part of the state.
fn agent(model: ScriptedModel) -> TurnLoop {
    TurnLoop::new(model, toolkit![GetRate, ChooseAccount])
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("Today:");
    let question = r#"{"question": "Which account?", "accounts": ["savings", "current"]}"#;
    let calls = [ToolCall::new("c1", "choose_account", question), ToolCall::new("c2", "get_rate", "{}")];
    let request = TurnRequest::new("some-model", vec![Item::user("How much interest do I get?")]);
    let outcome = agent(ScriptedModel::default().then(calls)).start(request).finish().await;

    let LoopEnd::Waiting { interactions, .. } = &outcome.end else { anyhow::bail!("not waiting: {:?}", outcome.end) };
    let asked: ChooseAccount = interactions[0].decode()?;
    println!("  the user is asked: {} {:?}", asked.question, asked.accounts);
    let stored = serde_json::to_string(&outcome.state)?;
    println!("  stored: {} bytes, with the rate in them", stored.len());

    println!("Tomorrow, elsewhere:");
    let mut state: LoopState = serde_json::from_str(&stored)?;
    let id = state.interactions()[0].call_id().clone();

    let answers = Expect::new().last(json!({"output": r#"{"account":"savings"}"#})).last(json!({"output": "2.5"}));
    let model = ScriptedModel::new([ScriptedTurn::text("You get 2.5 percent on your savings.").expect(answers)]);
    let agent = agent(model.clone());

    // The answer is checked at once: the model gets only what the tool's schema allows.
    let Err(error) = agent.answer(&mut state, &id, "the first one") else { anyhow::bail!("taken") };
    println!("  rejected: {error}");

    // Nothing is lost by that: the interaction is still pending.
    agent.answer_as::<ChooseAccount>(&mut state, &id, Chosen { account: "savings".to_owned() })?;
    let outcome = agent.start(state).finish().await;
    println!("  {}", outcome.state.text());

    assert!(outcome.end.is_stopped());
    assert_eq!(outcome.state.text(), "You get 2.5 percent on your savings.");
    assert_eq!(FETCHED.load(Ordering::Relaxed), 1, "what had run did not run again");
    model.finish()?;
    Ok(())
}
