//! Interrupts: Ctrl-C and the signals that end a process.
//!
//! The first interrupt cancels what runs, and the command ends by itself, with everything written that it has to write.
//! A command that does not end in time is dropped, which ends its calls and their processes. A second interrupt drops
//! it at once.
//!
//! A command may name a [part](Interrupt::part) of its work, such as one answer of a conversation: then the first Ctrl-C
//! cancels the part alone. A second one before the part has ended, and every other signal, is for the whole command.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft::tool::Cancellation;
use tokio::time::sleep;

use crate::context::Context;
use crate::error::CommandError;

/// The time that a command has after an interrupt.
const GRACE: Duration = Duration::from_millis(1500);

/// The interrupts of the process.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    cancellation: Cancellation,
    /// The part of the command that Ctrl-C cancels, while there is one.
    part: Arc<Mutex<Option<Cancellation>>>,
}

/// A part of a command that Ctrl-C cancels in place of the command, until this is dropped.
#[derive(Debug)]
pub(crate) struct InterruptiblePart {
    interrupt: Interrupt,
    cancellation: Cancellation,
}

impl Interrupt {
    pub(crate) fn new() -> Self {
        Self { cancellation: Cancellation::new(), part: Arc::default() }
    }

    /// Returns the flag that the first interrupt sets, for the options of a run.
    pub(crate) fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    /// Interrupts the command, or the part of it that runs, as Ctrl-C does where a prompt reads the keys.
    pub(crate) fn raise(&self) {
        let part = self.current_part();
        part.filter(|part| !part.is_cancelled()).unwrap_or_else(|| self.cancellation()).cancel();
    }

    /// Interrupts the whole command.
    pub(crate) fn end(&self) {
        self.cancellation.cancel();
    }

    /// Reports whether there was an interrupt of the command.
    pub(crate) fn is_raised(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Begins a part that Ctrl-C cancels in place of the command. An interrupt of the command cancels it too.
    pub(crate) fn part(&self) -> InterruptiblePart {
        let cancellation = self.cancellation.child();
        *self.part.lock().unwrap_or_else(PoisonError::into_inner) = Some(cancellation.clone());
        InterruptiblePart { interrupt: self.clone(), cancellation }
    }

    fn current_part(&self) -> Option<Cancellation> {
        self.part.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reports whether something was interrupted that has not ended yet.
    fn is_ending(&self) -> bool {
        self.is_raised() || self.current_part().is_some_and(|part| part.is_cancelled())
    }
}

impl InterruptiblePart {
    /// Returns the flag of the part.
    pub(crate) fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Waits until the part is cancelled and has had the time in which it should end.
    pub(crate) async fn overdue(&self) {
        self.cancellation.cancelled().await;
        sleep(GRACE).await;
    }
}

impl Drop for InterruptiblePart {
    fn drop(&mut self) {
        *self.interrupt.part.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Runs a command until it ends, or until it has been interrupted and does not end in time.
pub(crate) async fn limited<T>(
    cx: &Context,
    command: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let interrupt = cx.interrupt.clone();
    // Signals are received before the command starts anything, not when it first waits.
    let mut signals = Signals::new();
    let signals = async {
        loop {
            let received = signals.next().await;
            if interrupt.is_ending() {
                return;
            }
            match received {
                Received::CtrlC => interrupt.raise(),
                Received::End => interrupt.end(),
            }
        }
    };
    let overdue = async {
        cx.interrupt.cancellation().cancelled().await;
        sleep(GRACE).await;
    };
    let (command, signals, overdue) = (pin!(command), pin!(signals), pin!(overdue));
    tokio::select! {
        biased;
        outcome = command => outcome,
        () = signals => Err(CommandError::Interrupted),
        () = overdue => Err(CommandError::Interrupted),
    }
}

/// A signal that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Received {
    /// A person pressed Ctrl-C.
    CtrlC,
    /// The process must end.
    End,
}

/// The signals that interrupt. One that can't be received keeps its usual effect, which ends the process.
struct Signals {
    #[cfg(unix)]
    received: Vec<(Received, tokio::signal::unix::Signal)>,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [
            (Received::CtrlC, SignalKind::interrupt()),
            (Received::End, SignalKind::terminate()),
            (Received::End, SignalKind::hangup()),
        ];
        let received = |(received, kind)| signal(kind).ok().map(|signal| (received, signal));
        Self { received: kinds.into_iter().filter_map(received).collect() }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    #[cfg(unix)]
    async fn next(&mut self) -> Received {
        std::future::poll_fn(|cx| {
            let is_received = |(received, signal): &mut (Received, tokio::signal::unix::Signal)| {
                signal.poll_recv(cx).is_ready().then_some(*received)
            };
            match self.received.iter_mut().find_map(is_received) {
                Some(received) => std::task::Poll::Ready(received),
                None => std::task::Poll::Pending,
            }
        })
        .await
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> Received {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Received::CtrlC
    }
}

#[cfg(test)]
mod tests {
    use super::Interrupt;

    #[test]
    fn the_first_interrupt_is_for_the_part_and_the_second_for_the_command() {
        let interrupt = Interrupt::new();
        let part = interrupt.part();
        interrupt.raise();
        assert!(part.cancellation().is_cancelled() && interrupt.is_ending() && !interrupt.is_raised());
        interrupt.raise();
        assert!(interrupt.is_raised());
    }

    #[test]
    fn a_part_that_ended_is_not_interrupted_and_the_end_of_the_command_is_that_of_its_part() {
        let interrupt = Interrupt::new();
        let part = interrupt.part();
        interrupt.raise();
        drop(part);
        assert!(!interrupt.is_ending());
        let part = interrupt.part();
        interrupt.end();
        assert!(part.cancellation().is_cancelled() && interrupt.is_raised());
    }
}
