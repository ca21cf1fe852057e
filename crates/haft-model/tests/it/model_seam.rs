//! The turn of a stream of deltas.

use haft_core::{Delta, Finish, Item, Turn};
use haft_model::{ModelError, TurnStream};

fn text(text: &str) -> Delta {
    Delta::text(text)
}

#[tokio::test]
async fn the_turn_is_the_end_of_the_stream() {
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

#[tokio::test]
async fn an_answer_from_a_future_is_one_delta() {
    let turn = Turn::new(vec![Item::assistant("hello")], Finish::Stop);
    let later = turn.clone();
    let mut stream = TurnStream::from_future(async move {
        tokio::task::yield_now().await;
        Ok(later)
    });
    assert!(matches!(stream.next().await, Some(Ok(Delta::TurnComplete(whole))) if *whole == turn));
    assert!(stream.next().await.is_none() && stream.next().await.is_none());

    let mut stream = TurnStream::from_future(async { Err(ModelError::Cancelled) });
    assert!(matches!(stream.next().await, Some(Err(ModelError::Cancelled))));
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn dropping_a_stream_drops_its_future() {
    let held = std::sync::Arc::new(());
    let inside = std::sync::Arc::clone(&held);
    let stream = TurnStream::from_future(async move {
        std::future::pending::<()>().await;
        drop(inside);
        Err(ModelError::Cancelled)
    });
    assert_eq!(std::sync::Arc::strong_count(&held), 2);
    drop(stream);
    assert_eq!(std::sync::Arc::strong_count(&held), 1);
}
