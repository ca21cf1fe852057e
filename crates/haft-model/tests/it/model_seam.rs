//! What a stream of deltas comes to.

use haft_core::{Delta, Finish, Item, Turn};
use haft_model::{ModelError, TurnStream};

fn text(text: &str) -> Delta {
    Delta::TextDelta { text: text.to_owned() }
}

#[tokio::test]
async fn the_turn_is_what_the_stream_ends_in() {
    let turn = Turn::new(vec![Item::assistant("hello")], Finish::Stop);
    let stream = TurnStream::of([Ok(text("hel")), Ok(text("lo")), Ok(Delta::complete(turn.clone()))]);
    assert_eq!(stream.into_turn().await.unwrap(), turn);
}

#[tokio::test]
async fn a_stream_without_a_turn_is_incomplete() {
    let error = TurnStream::of([Ok(text("hel"))]).into_turn().await.unwrap_err();
    assert!(matches!(error, ModelError::IncompleteTurn) && error.retryable());
}

#[tokio::test]
async fn an_error_ends_the_wait() {
    let error =
        TurnStream::of([Ok(text("hel")), Err(ModelError::Cancelled), Ok(text("lo"))]).into_turn().await.unwrap_err();
    assert!(matches!(error, ModelError::Cancelled));
}
