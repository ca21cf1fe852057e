//! One question until its answer: the loop runs, its events are shown, and its state is stored.

use haft::model::{LoopEnd, LoopEvent};
use haft::tool::Cancellation;

use super::agent::Chat;
use super::view::ChatView;
use crate::error::{CommandError, Fault};

/// The reason that the model reads for calls that nobody can decide about here.
const UNDECIDED: &str = "nobody decides about calls here";

/// Runs the loop until it ends. Stores the state before the model is asked, after each turn, and at the end.
pub(crate) async fn run(
    chat: &mut Chat,
    view: &mut dyn ChatView,
    cancellation: &Cancellation,
) -> Result<LoopEnd, CommandError> {
    chat.save()?;
    loop {
        let end = run_once(chat, view, cancellation).await?;
        if !end.is_waiting() {
            return Ok(end);
        }
        // An approver that is there has been asked by the loop.
        close_open_calls(chat)?;
    }
}

async fn run_once(
    chat: &mut Chat,
    view: &mut dyn ChatView,
    cancellation: &Cancellation,
) -> Result<LoopEnd, CommandError> {
    let agent = chat.agent.clone().cancellation(cancellation.clone());
    let mut run = agent.start(chat.stored.state.clone());
    while let Some(event) = run.next().await {
        let shown = view.event(&event);
        if shown.is_err() || matches!(event, LoopEvent::TurnEnded { .. } | LoopEvent::Ended { .. }) {
            chat.stored.state = run.state();
            chat.save()?;
        }
        shown?;
    }
    let outcome = run.finish().await;
    chat.stored.state = outcome.state;
    Ok(outcome.end)
}

/// Denies the calls that wait for a verdict, and closes those that wait for an answer.
fn close_open_calls(chat: &mut Chat) -> Result<(), CommandError> {
    let state = &mut chat.stored.state;
    let unclosable = |error| Fault::new("the calls that wait can't be closed").cause(&error);
    for request in state.approvals() {
        chat.agent.verdict(state, request.deny(UNDECIDED)).map_err(unclosable)?;
    }
    let waiting: Vec<_> = state.interactions().iter().map(|interaction| interaction.call_id().clone()).collect();
    for call_id in waiting {
        state.close(call_id, UNDECIDED).map_err(unclosable)?;
    }
    Ok(())
}
