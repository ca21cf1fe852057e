//! Answers that are values of a type: of a single request, and of a loop with tools. An answer that breaks a rule of the
//! type is sent back to the model with its issues.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::prelude::*;
use serde::Deserialize;

/// A review of a book.
#[derive(Debug, Deserialize, JsonSchema)]
struct Review {
    title: String,
    #[schemars(range(min = 1, max = 5))]
    stars: u8,
}

/// The number of copies in the shop.
#[tool(readonly)]
fn copies(title: String) -> usize {
    title.len()
}

/// An order of a book.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Order {
    title: String,
    copies: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Scripts stand in for models. The first answer has too many stars.
    let critic = ScriptedModel::new([r#"{"title": "Dune", "stars": 9}"#, r#"{"title": "Dune", "stars": 5}"#]);
    let request = TurnRequest::new("any", vec![Item::user("I loved Dune.")]);
    let answer = critic.object::<Review>(request).await?;
    println!("{:?} after {} turns", answer.value, answer.turns.len());
    assert_eq!((answer.value.title.as_str(), answer.value.stars), ("Dune", 5));

    let clerk = ScriptedModel::default()
        .then([ToolCall::new("c1", "copies", r#"{"title": "Dune"}"#)])
        .then(r#"{"title": "Dune", "copies": 4}"#);
    let agent = TurnLoop::new(clerk, toolkit![Copies]).finish_as::<Order>()?;
    let outcome = agent.start(TurnRequest::new("any", vec![Item::user("All copies of Dune!")])).finish().await;
    println!("{:?}", outcome.value);
    assert_eq!(outcome.value, Some(Order { title: "Dune".to_owned(), copies: 4 }));
    Ok(())
}
