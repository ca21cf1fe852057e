//! Interrupts: Ctrl-C and the signals that end a process.
//!
//! The first interrupt cancels what runs, and the command ends by itself, with everything written that it has to write.
//! A command that does not end in time is dropped, which ends its calls and their processes. A second interrupt drops
//! it at once.

use std::future::Future;
use std::pin::pin;
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
}

impl Interrupt {
    pub(crate) fn new() -> Self {
        Self { cancellation: Cancellation::new() }
    }

    /// Returns the flag that the first interrupt sets, for the options of a run.
    pub(crate) fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    /// Interrupts the command, as Ctrl-C does where a prompt reads the keys.
    pub(crate) fn raise(&self) {
        self.cancellation.cancel();
    }

    /// Reports whether there was an interrupt.
    pub(crate) fn is_raised(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

/// Runs a command until it ends, or until it has been interrupted and does not end in time.
pub(crate) async fn limited<T>(
    cx: &Context,
    command: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let interrupt = cx.interrupt.clone();
    let signals = async {
        let mut signals = Signals::new();
        signals.next().await;
        interrupt.raise();
        signals.next().await;
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

/// The signals that interrupt. One that can't be received keeps its usual effect, which ends the process.
struct Signals {
    #[cfg(unix)]
    received: Vec<tokio::signal::unix::Signal>,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Self { received: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        std::future::poll_fn(|cx| {
            let is_raised = self.received.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
            if is_raised { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
