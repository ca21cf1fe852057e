//! Standard error as a shared screen: bars, messages between them, and prompts, one at a time.

use indicatif::{MultiProgress, ProgressDrawTarget};
use tokio::sync::Mutex;
use std::sync::Arc;

use crate::context::Context;

/// The screen of a command. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    bars: MultiProgress,
    /// Held while a prompt is on the screen.
    prompt: Arc<Mutex<()>>,
}

impl Screen {
    /// Creates the screen. Nothing is drawn where standard error is no terminal.
    pub(crate) fn new(cx: &Context) -> Self {
        let target = if cx.terminal.stderr { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { bars: MultiProgress::with_draw_target(target), prompt: Arc::default() }
    }

    /// Returns the bars, to add one.
    pub(crate) fn bars(&self) -> &MultiProgress {
        &self.bars
    }

    /// Asks a question: waits until no other one is on the screen, hides the bars, and runs `ask` on a thread that may
    /// block. Nothing is returned if `ask` panics.
    pub(crate) async fn ask<T: Send + 'static>(&self, ask: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let _prompt = self.prompt.lock().await;
        let bars = self.bars.clone();
        tokio::task::spawn_blocking(move || bars.suspend(ask)).await.ok()
    }
}
