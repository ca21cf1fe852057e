//! The terminal's modes: prompts change them, and they must be as before whenever the command ends.
//!
//! A prompt restores them when it is answered. If it is not answered, because its call was cancelled or the process
//! ends, its thread stays behind and waits for a key: then this module restores them.

use std::io;
use std::time::Duration;

use crossterm::event::{self, DisableBracketedPaste};
use crossterm::{cursor, execute, terminal};

/// Restores the modes that a prompt has changed, if any.
pub(crate) fn restore() {
    if terminal::is_raw_mode_enabled().unwrap_or(false) {
        // A terminal that is gone has no modes.
        let _ = execute!(io::stderr(), DisableBracketedPaste, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}

/// Discards what was typed so far: it can't be meant for a question that is not on the screen yet.
pub(crate) fn discard_typed() {
    // A terminal that is gone has nothing typed.
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    while matches!(event::poll(Duration::ZERO), Ok(true)) {
        if event::read().is_err() {
            break;
        }
    }
}

/// Restores the modes before a panic's message is written.
pub(crate) fn restore_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        report(info);
    }));
}

/// The modes before another program had the terminal, which restores them itself unless it is killed.
#[derive(Debug)]
pub(crate) struct LentTerminal {
    #[cfg(unix)]
    modes: Option<rustix::termios::Termios>,
}

impl LentTerminal {
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(unix)]
            modes: rustix::termios::tcgetattr(io::stdin()).ok(),
        }
    }

    /// Takes the terminal back from a program that has ended by itself.
    pub(crate) fn returned(mut self) {
        #[cfg(unix)]
        {
            self.modes = None;
        }
        #[cfg(not(unix))]
        let _ = &mut self;
    }
}

#[cfg(unix)]
impl Drop for LentTerminal {
    fn drop(&mut self) {
        if let Some(modes) = &self.modes {
            let _ = execute!(io::stderr(), terminal::LeaveAlternateScreen, cursor::Show);
            let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, modes);
        }
    }
}
