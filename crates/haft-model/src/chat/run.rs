//! The reader's side of a run.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use haft_executor::Cancellation;

use super::error::ChatError;
use super::event_log::LogReader;
use crate::turn_loop::{LoopEvent, LoopOutcome};

/// A running conversation, as a stream of the events of its loop. An event is emitted when everything before it is saved;
/// the last one is [`LoopEvent::Ended`], when the claim is released.
///
/// The run is a task: it goes on between two polls, until 32 events are unread. Dropping the last reader ends it as
/// [`Chat::on_disconnect`](crate::Chat::on_disconnect) says, and the state is saved in either case.
///
/// If the state can't be saved the run ends with [`LoopError::NotSaved`](crate::LoopError::NotSaved), and no further call
/// begins.
#[must_use = "dropping a run cancels it, or lets it go on unseen"]
pub struct ChatRun {
    reader: LogReader,
    flag: Cancellation,
}

impl ChatRun {
    pub(super) fn new(reader: LogReader, flag: Cancellation) -> Self {
        Self { reader, flag }
    }

    /// Returns the next event; `None` after the last.
    pub async fn next(&mut self) -> Option<LoopEvent> {
        poll_fn(|task| self.reader.poll_next(task)).await
    }

    /// Cancels the run: running calls end with `cancelled`, and the state is saved.
    pub fn cancel(&self) {
        self.flag.cancel();
    }

    /// Lets the run go on to its end without a reader.
    ///
    /// ```
    /// use haft_executor::Toolkit;
    /// use haft_model::{Chat, MemoryStore, ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = TurnLoop::new(ScriptedModel::new(["Done."]), Toolkit::new());
    /// let chat = Chat::new(agent, MemoryStore::new());
    /// chat.message("acme/42", "Tidy up, please.").await?.detach();
    /// chat.idle().await;
    /// assert_eq!(chat.load("acme/42").await?.map(|stored| stored.state.text()), Some("Done.".to_owned()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn detach(self) {
        self.reader.log().detach();
    }

    /// Reads to the end and returns what the last event contained.
    pub async fn finish(mut self) -> Result<LoopOutcome, ChatError> {
        while let Some(event) = self.next().await {
            if let LoopEvent::Ended { end, state } = event {
                return Ok(LoopOutcome { end, state: *state });
            }
        }
        Err(ChatError::Interrupted)
    }
}

impl Stream for ChatRun {
    type Item = LoopEvent;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<LoopEvent>> {
        self.get_mut().reader.poll_next(task)
    }
}

impl fmt::Debug for ChatRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatRun").field("log", self.reader.log()).finish_non_exhaustive()
    }
}
