//! The end of a server: what runs is answered, and nothing new begins.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The state of a server's life.
#[derive(Debug)]
pub(super) struct Lifecycle {
    closing: CancellationToken,
    ended: CancellationToken,
    open: watch::Sender<usize>,
}

/// A request that is answered before the server ends.
#[derive(Debug)]
pub(super) struct Open(Arc<Lifecycle>);

/// Ends a server. Clones end the same one.
///
/// ```
/// use std::time::Duration;
/// use haft_executor::Toolkit;
/// use haft_mcp::serve::serve;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let server = serve(Toolkit::new());
/// let shutdown = server.shutdown();
/// shutdown.graceful(Duration::from_secs(10)).await;
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Shutdown(pub(super) Arc<Lifecycle>);

impl Lifecycle {
    pub(super) fn new() -> Arc<Self> {
        let (open, _) = watch::channel(0);
        Arc::new(Self { closing: CancellationToken::new(), ended: CancellationToken::new(), open })
    }

    pub(super) fn enter(self: &Arc<Self>) -> Open {
        self.open.send_modify(|open| *open += 1);
        Open(Arc::clone(self))
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// Completes when nothing new begins any more.
    pub(super) async fn closing(&self) {
        self.closing.cancelled().await;
    }

    /// Returns the token that is cancelled when everything ends.
    pub(super) fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

impl Shutdown {
    /// Takes no more calls, answers those that run, and then ends connections, sessions and subscriptions. What is not
    /// answered within the grace period is cancelled.
    pub async fn graceful(&self, grace: Duration) {
        let Self(lifecycle) = self;
        lifecycle.closing.cancel();
        let mut open = lifecycle.open.subscribe();
        if timeout(grace, open.wait_for(|open| *open == 0)).await.is_err() {
            tracing::warn!("calls were still running at the end of the grace period, and are cancelled");
        }
        lifecycle.ended.cancel();
    }
}
