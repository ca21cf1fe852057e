//! Interrupts: Ctrl-C and the signals that end a process.
//!
//! ```text
//! main thread      supervise: signals, and the end of the command ─► grace of its processes ─► exit
//! command thread   limited: the command, until it ends or is dropped
//! other threads    tasks, and work that does not yield (blocking)
//! ```
//!
//! The first interrupt cancels what runs, and the command ends by itself after writing all that it has to. A command
//! that does not end in time is dropped, which ends its calls and their processes. Those processes have their grace
//! period, and the command waits for it, at most [`MAX_GRACE`]. A second interrupt kills them, and ends the command at
//! once. None of this depends on the working threads: the main thread does nothing else.
//!
//! A command may name a [part](Interrupt::part) of its work, such as one answer in a conversation: then the first
//! Ctrl-C cancels the part alone. A second one before the part has ended, and every other signal, is for the whole
//! command.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use haft::tool::Cancellation;
use haft::tools::command::{commands_ended, kill_commands};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;

/// The time that a command has after an interrupt.
const GRACE: Duration = Duration::from_millis(1500);

/// The time in which a command must notice that it is dropped. If it does not, it is busy, and is left to the process's
/// end.
const NOTICE: Duration = Duration::from_millis(200);

/// The longest time that the process waits for the grace periods of its tools' processes.
const MAX_GRACE: Duration = Duration::from_secs(60);

/// The stack size for working threads: a main thread's usual one.
pub(crate) const STACK: usize = 8 << 20;

/// The process's interrupts.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    cancellation: Cancellation,
    /// Cancelled by the second interrupt.
    at_once: Cancellation,
    /// The time that the command has after an interrupt, in milliseconds, beyond the usual one.
    more_grace: Arc<AtomicU64>,
    /// The part of the command that Ctrl-C cancels, while there is one.
    part: Arc<Mutex<Option<Cancellation>>>,
}

/// A part of a command that Ctrl-C cancels instead of the command, until this is dropped.
#[derive(Debug)]
pub(crate) struct InterruptiblePart {
    interrupt: Interrupt,
    cancellation: Cancellation,
}

impl Interrupt {
    pub(crate) fn new() -> Self {
        Self {
            cancellation: Cancellation::new(),
            at_once: Cancellation::new(),
            more_grace: Arc::default(),
            part: Arc::default(),
        }
    }

    /// Returns the flag that the first interrupt sets, for a run's options.
    pub(crate) fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    /// Interrupts the command, or its running part, as Ctrl-C does where a prompt reads the keys.
    pub(crate) fn raise(&self) {
        let part = self.current_part();
        part.filter(|part| !part.is_cancelled()).unwrap_or_else(|| self.cancellation()).cancel();
    }

    /// Gives the command more time after an interrupt.
    pub(crate) fn extend_grace(&self, by: Duration) {
        self.more_grace.store(u64::try_from(by.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns the time that the command has after an interrupt.
    fn grace(&self) -> Duration {
        GRACE.saturating_add(Duration::from_millis(self.more_grace.load(Ordering::Relaxed)))
    }

    /// Interrupts the whole command.
    pub(crate) fn end(&self) {
        self.cancellation.cancel();
    }

    /// Reports whether the command was interrupted.
    pub(crate) fn is_raised(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Begins a part that Ctrl-C cancels instead of the command. An interrupt of the command cancels it too.
    pub(crate) fn part(&self) -> InterruptiblePart {
        let cancellation = self.cancellation.child();
        *self.part.lock().unwrap_or_else(PoisonError::into_inner) = Some(cancellation.clone());
        InterruptiblePart { interrupt: self.clone(), cancellation }
    }

    /// Runs work that does not yield on its own thread. An interrupt ends the wait for it, and the process does not
    /// wait for the thread.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CommandError> {
        let cancellation = self.cancellation();
        tokio::select! {
            biased;
            done = tokio::task::spawn_blocking(work) => done.map_err(|error| match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => CommandError::Interrupted,
            }),
            () = cancellation.cancelled() => Err(CommandError::Interrupted),
        }
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
    /// Returns the part's flag.
    pub(crate) fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Waits until the part is cancelled and its time to end has passed.
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

/// Runs a command on its own thread. Returns when it and its tools' processes have ended, or when the process has to
/// exit without waiting for them.
pub(crate) fn supervise<C>(
    command: impl FnOnce() -> C + Send + 'static,
    cx: &'static Context,
    workers: &Handle,
) -> io::Result<Result<ExitStatus, CommandError>>
where
    C: Future<Output = Result<ExitStatus, CommandError>>,
{
    let own = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    own.block_on(async {
        // Signals are received before the command starts anything.
        let mut signals = Signals::new();
        let (sender, outcome) = oneshot::channel();
        let workers = workers.clone();
        let thread = thread::Builder::new().name("command".to_owned()).stack_size(STACK).spawn(move || {
            // The receiver is gone if the process exits.
            drop(sender.send(workers.block_on(limited(cx, command()))));
        })?;
        let mut outcome = pin!(async {
            match outcome.await {
                Ok(outcome) => outcome,
                Err(_) => match thread.join() {
                    Ok(()) => Err(CommandError::Interrupted),
                    Err(panic) => std::panic::resume_unwind(panic),
                },
            }
        });
        let ended = until_interrupted(cx, &mut signals, &mut outcome).await;
        let outcome = match ended {
            Some(outcome) => {
                grace(cx, &mut signals).await;
                outcome
            }
            None => {
                kill_commands();
                // A command that is not busy ends what it has started, and restores the terminal.
                timeout(NOTICE, outcome).await.unwrap_or(Err(CommandError::Interrupted))
            }
        };
        kill_commands();
        Ok(outcome)
    })
}

/// Waits for the processes' grace periods, until a second interrupt.
async fn grace(cx: &Context, signals: &mut Signals) {
    let ended = async {
        if timeout(GRACE, commands_ended()).await.is_err() {
            cx.terminal.note("waiting for processes of tools to end; Ctrl-C kills them");
            commands_ended().await;
        }
    };
    tokio::select! {
        biased;
        () = ended => {}
        () = signals.next_for(&cx.interrupt) => {}
        () = sleep(MAX_GRACE) => {}
    }
}

/// Waits for a command's outcome. Returns `None` if it must end at once, or did not end in time.
async fn until_interrupted<T>(
    cx: &Context,
    signals: &mut Signals,
    outcome: &mut (impl Future<Output = T> + Unpin),
) -> Option<T> {
    let overdue = async {
        cx.interrupt.cancellation().cancelled().await;
        sleep(cx.interrupt.grace() + NOTICE).await;
    };
    tokio::select! {
        biased;
        outcome = outcome => Some(outcome),
        () = signals.next_for(&cx.interrupt) => None,
        () = overdue => None,
    }
}

/// Runs a command until it ends, or until it has been interrupted and does not end in time.
async fn limited<T>(cx: &Context, command: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let (cancellation, at_once) = (cx.interrupt.cancellation(), cx.interrupt.at_once.clone());
    let overdue = async {
        cancellation.cancelled().await;
        sleep(cx.interrupt.grace()).await;
    };
    tokio::select! {
        biased;
        outcome = command => outcome,
        () = at_once.cancelled() => Err(CommandError::Interrupted),
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
    /// Interrupts the command with each signal, until one ends it at once.
    async fn next_for(&mut self, interrupt: &Interrupt) {
        loop {
            let received = self.next().await;
            if interrupt.is_ending() {
                interrupt.at_once.cancel();
                return;
            }
            match received {
                Received::CtrlC => interrupt.raise(),
                Received::End => interrupt.end(),
            }
        }
    }

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
