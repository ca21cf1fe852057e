//! A panic in code of the user's ends the loop, not the program.
//!
//! Unwinds are caught around the two things a loop calls that are not its own: the model and the function that decides.
//! Nothing they touched is used after a panic except to be dropped, and the state of the loop is not among it.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

use haft_core::TurnRequest;

use crate::model::{LanguageModel, TurnStream};

/// What a panic said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Panicked(pub(super) String);

/// Runs code that may panic.
pub(super) fn isolated<T>(code: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|payload| Panicked(words(payload)))
}

/// Awaits work that may panic, in its polls or when it is dropped.
pub(super) async fn caught<T>(work: Pin<Box<dyn Future<Output = T> + Send>>) -> Result<T, Panicked> {
    let mut work = Held(Some(work));
    poll_fn(|task| {
        let Some(polled) = &mut work.0 else { return Poll::Pending };
        match isolated(|| polled.as_mut().poll(task)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    })
    .await
}

/// Something of the user's that is dropped in isolation, whenever that is.
pub(super) struct Held<T>(pub(super) Option<T>);

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        let held = self.0.take();
        drop(isolated(|| drop(held)));
    }
}

impl<M: LanguageModel> LanguageModel for Held<M> {
    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        // Only its drop takes the model out.
        self.0.as_ref().map_or_else(|| TurnStream::of([]), |model| model.stream_turn(request))
    }
}

fn words(payload: Box<dyn Any + Send>) -> String {
    let text = match payload.downcast_ref::<&str>() {
        Some(text) => Some((*text).to_owned()),
        None => payload.downcast_ref::<String>().cloned(),
    };
    // A payload whose drop panics with another one is leaked rather than followed for ever.
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
    text.unwrap_or_else(|| "without a message".to_owned())
}
