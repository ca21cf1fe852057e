//! Standard error as a shared screen: bars, messages between them, and questions, one at a time.
//!
//! A question is asked on a thread that blocks until a key is pressed, and nothing can end that thread. So the asker
//! holds a [`ScreenClaim`], and the thread holds it too. When the question's call is cancelled, the terminal's modes
//! are restored at once, the answer is discarded, and the next question waits until the thread has its key. A process
//! that ends does not wait for it.
//!
//! The bars are hidden while a question is on the screen. They are never locked meanwhile: other calls' events go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{MultiProgress, ProgressDrawTarget};
use inquire::{Confirm, InquireError};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::terminal::{Terminal, modes};

/// A command's screen. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    bars: MultiProgress,
    terminal: Terminal,
    /// Held while a question is on the screen.
    question: Arc<Mutex<()>>,
}

/// The right to ask questions, which one asker at a time has. The bars are hidden until it is dropped.
#[derive(Debug)]
pub(crate) struct ScreenClaim {
    screen: Screen,
    held: Arc<OwnedMutexGuard<()>>,
}

/// A question that is on the screen.
struct OpenQuestion {
    terminal: Terminal,
    /// True when nobody waits for the answer any more.
    is_abandoned: Arc<AtomicBool>,
    is_answered: bool,
}

impl Screen {
    /// Creates the screen. Nothing is drawn unless standard error is a terminal.
    pub(crate) fn new(cx: &Context) -> Self {
        let bars = MultiProgress::with_draw_target(draw_target(cx.terminal));
        Self { bars, terminal: cx.terminal, question: Arc::default() }
    }

    /// Returns the bars, to add one.
    pub(crate) fn bars(&self) -> &MultiProgress {
        &self.bars
    }

    /// Returns the terminal.
    pub(crate) fn terminal(&self) -> Terminal {
        self.terminal
    }

    /// Reports whether bars can be seen.
    pub(crate) fn is_drawn(&self) -> bool {
        self.terminal.stderr
    }

    /// Waits until no other question is on the screen, and hides the bars.
    pub(crate) async fn claim(&self) -> ScreenClaim {
        let held = Arc::new(Arc::clone(&self.question).lock_owned().await);
        // What can't be cleared is a terminal that is gone.
        let _ = self.bars.clear();
        self.bars.set_draw_target(ProgressDrawTarget::hidden());
        ScreenClaim { screen: self.clone(), held }
    }

    /// Asks one question: waits until no other one is on the screen, hides the bars, and runs `ask` on a thread that
    /// may block. Returns `None` if `ask` panics.
    pub(crate) async fn ask<T: Send + 'static>(&self, ask: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        self.claim().await.ask(ask).await
    }
}

impl Screen {
    /// Asks a question that is answered by yes or no, which is the default.
    pub(crate) async fn confirm(&self, question: &'static str) -> Result<bool, CommandError> {
        let ask = move || Confirm::new(question).with_default(false).prompt();
        match self.ask(ask).await {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(InquireError::OperationCanceled)) => Ok(false),
            Some(Err(InquireError::OperationInterrupted)) => Err(CommandError::Interrupted),
            Some(Err(error)) => Err(Fault::new("the question can't be asked").cause(&error).into()),
            None => Err(Fault::new("the question can't be asked").into()),
        }
    }
}

impl ScreenClaim {
    /// Asks a question: runs `ask` on a thread that may block. Returns `None` if `ask` panics.
    pub(crate) async fn ask<T: Send + 'static>(&self, ask: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let mut open = OpenQuestion {
            terminal: self.screen.terminal,
            is_abandoned: Arc::clone(&is_abandoned),
            is_answered: false,
        };
        let held = Arc::clone(&self.held);
        let answer = tokio::task::spawn_blocking(move || {
            let answer = (!is_abandoned.load(Ordering::SeqCst)).then(ask);
            drop(held);
            answer
        });
        let answer = answer.await.ok().flatten();
        open.is_answered = true;
        answer
    }

    /// Writes a message between the questions.
    pub(crate) fn note(&self, text: impl std::fmt::Display) {
        self.screen.terminal.note(text);
    }
}

impl Drop for ScreenClaim {
    fn drop(&mut self) {
        self.screen.bars.set_draw_target(draw_target(self.screen.terminal));
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if !self.is_answered {
            self.is_abandoned.store(true, Ordering::SeqCst);
            modes::restore();
            self.terminal.note("\nthe question is withdrawn");
        }
    }
}

fn draw_target(terminal: Terminal) -> ProgressDrawTarget {
    if terminal.stderr { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
