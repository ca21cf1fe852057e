//! Isolation of the user code of a loop: a panic ends the loop, not the program.
//!
//! Panics are caught around the user code that a loop calls: the model, the source of the tools and the decide
//! function. The isolation of the core does it; this file only applies it to futures and models. After a panic a value
//! of user code is only dropped, and the state of the loop must not be among what user code can leave half changed.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use haft_core::TurnRequest;
pub(super) use haft_schema::isolation::{Isolated, Panicked, isolated};

use super::prepare::{BeforeRequest, Prepare, PrepareFuture};
use crate::model::{LanguageModel, TurnStream};
use crate::model_info::ModelInfo;

/// Awaits a future of user code, which may panic when it is polled or dropped.
pub(super) async fn caught<T>(work: Pin<Box<dyn Future<Output = T> + Send + '_>>) -> Result<T, Panicked> {
    let mut work = Isolated::new(work);
    poll_fn(|task| match isolated(|| work.as_mut().poll(task)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

impl<M: LanguageModel> LanguageModel for Isolated<M> {
    fn info(&self) -> ModelInfo {
        M::info(self)
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        M::stream_turn(self, request)
    }
}

impl<P: Prepare> Prepare for Isolated<P> {
    fn prepare(&self, request: BeforeRequest) -> PrepareFuture<'_> {
        P::prepare(self, request)
    }
}
