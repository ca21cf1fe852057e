//! A panic in user code ends the loop, not the program.
//!
//! Unwinds are caught around the two things a loop calls that are not its own: the model and the function that decides.
//! Nothing they touched is used after a panic except to be dropped, and the state of the loop is not among it. What they
//! captured is dropped in isolation, as the core drops what tools and options captured.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use haft_core::TurnRequest;
pub(super) use haft_core::isolation::{Isolated, Panicked, isolated};

use crate::model::{LanguageModel, TurnStream};

/// Awaits work that may panic, in its polls or when it is dropped.
pub(super) async fn caught<T>(work: Pin<Box<dyn Future<Output = T> + Send>>) -> Result<T, Panicked> {
    let mut work = Isolated::new(work);
    poll_fn(|task| match isolated(|| work.as_mut().poll(task)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

impl<M: LanguageModel> LanguageModel for Isolated<M> {
    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        M::stream_turn(self, request)
    }
}
