//! An agent with a real provider: `OPENAI_API_KEY=… cargo run --example agent --features clients`.
use haft::conversation::Delta;
use haft::model::{LoopEnd, LoopEvent, OpenAi};
use haft::prelude::*;
use std::io::{Write, stdout};

/// Current temperature in a city, in degrees Celsius.
#[tool]
fn temperature(city: String) -> usize {
    city.len() * 4 // a real tool asks a weather service
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = TurnLoop::new(OpenAi::from_env()?, toolkit![Temperature]);
    let mut run = agent.start(TurnRequest::new("gpt-5-mini", vec![Item::user("Is it warmer in Oslo or in Lisbon?")]));
    while let Some(event) = run.next().await {
        match event {
            LoopEvent::Delta(Delta::TextDelta { text, .. }) => write!(stdout(), "{text}").and(stdout().flush())?,
            LoopEvent::Ended { end: LoopEnd::Failed(error), .. } => return Err(error.into()),
            _ => {}
        }
    }
    Ok(writeln!(stdout())?)
}
