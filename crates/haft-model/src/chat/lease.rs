//! The claim of a run: released by whoever holds it, renewed while the run lasts.
//!
//! A claim must be released however the work ends, also when a request is dropped between two awaits; otherwise the
//! conversation is busy until the lease expires. The code of a store may panic, which costs the operation only.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use haft_executor::Cancellation;
use haft_schema::isolation::{Isolated, isolated};
use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep};
use tracing::warn;

use crate::store::{Claim, ConversationStore, StoreError, StoreFuture, StoredConversation};
use crate::turn_loop::LoopState;

/// A claim that is released when this is dropped.
pub(super) struct ClaimGuard {
    store: Arc<dyn ConversationStore>,
    /// Unset once it is released.
    claim: Option<Claim>,
}

/// A claim that is renewed while its holder works.
pub(super) struct Lease {
    guard: ClaimGuard,
    span: Duration,
    renewal: Renewal,
    /// Raised when the claim is lost: nothing that happens from then on can be saved.
    flag: Cancellation,
}

enum Renewal {
    /// The time until the next one.
    Due(Pin<Box<Sleep>>),
    Running(Pin<Box<dyn Future<Output = Result<Claim, StoreError>> + Send>>),
    /// The claim is lost.
    Lost,
}

impl ClaimGuard {
    /// Claims a conversation.
    pub(super) async fn claim(
        store: &Arc<dyn ConversationStore>,
        id: &str,
        lease: Duration,
    ) -> Result<Self, StoreError> {
        let claim = caught(|| store.claim(id, lease)).await?;
        Ok(Self { store: Arc::clone(store), claim: Some(claim) })
    }

    /// Loads the conversation.
    pub(super) async fn load(&self) -> Result<Option<StoredConversation>, StoreError> {
        let claim = self.current()?;
        caught(|| self.store.load(&claim.conversation)).await
    }

    /// Saves the conversation.
    pub(super) async fn save(&self, version: u64, state: &LoopState) -> Result<u64, StoreError> {
        let claim = self.current()?;
        caught(|| self.store.save(&claim, version, state)).await
    }

    /// Releases the claim.
    pub(super) async fn release(mut self) {
        if let Some(claim) = self.claim.take() {
            release(&*self.store, &claim).await;
        }
    }

    fn current(&self) -> Result<Claim, StoreError> {
        self.claim.clone().ok_or(StoreError::ClaimLost)
    }
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        let Some(claim) = self.claim.take() else { return };
        // Without a runtime the lease expires by itself.
        if let Ok(runtime) = Handle::try_current() {
            let store = Arc::clone(&self.store);
            drop(runtime.spawn(async move { release(&*store, &claim).await }));
        }
    }
}

impl Lease {
    /// Renews a claim three times per lease, and raises the flag when it is lost.
    pub(super) fn new(guard: ClaimGuard, span: Duration, flag: Cancellation) -> Self {
        Self { guard, span, renewal: Renewal::after(span / 3), flag }
    }

    /// Awaits work, and renews the claim meanwhile.
    pub(super) async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|task| {
            // First, as work may always be ready.
            self.poll_renewal(task);
            work.as_mut().poll(task)
        })
        .await
    }

    /// Saves the conversation. A claim that has expired, because this process was stopped, is renewed first if nobody else
    /// has taken it.
    pub(super) async fn save(&mut self, version: u64, state: &LoopState) -> Result<u64, StoreError> {
        let (store, claim) = (Arc::clone(&self.guard.store), self.guard.current()?);
        let saved = self.during(caught(|| store.save(&claim, version, state))).await;
        let Err(StoreError::ClaimLost) = saved else { return saved };
        let claim = caught(|| store.renew(&claim, self.span)).await?;
        self.renewed(claim.clone());
        self.during(caught(|| store.save(&claim, version, state))).await
    }

    /// Releases the claim.
    pub(super) async fn release(self) {
        match self.renewal {
            // It is not ours to release.
            Renewal::Lost => {}
            Renewal::Due(_) | Renewal::Running(_) => self.guard.release().await,
        }
    }

    fn poll_renewal(&mut self, task: &mut Context<'_>) {
        loop {
            match &mut self.renewal {
                Renewal::Lost => return,
                Renewal::Due(sleep) => {
                    if sleep.as_mut().poll(task).is_pending() {
                        return;
                    }
                    let (store, span) = (Arc::clone(&self.guard.store), self.span);
                    let claim = self.guard.claim.clone();
                    self.renewal = Renewal::Running(Box::pin(async move {
                        let claim = claim.ok_or(StoreError::ClaimLost)?;
                        caught(|| store.renew(&claim, span)).await
                    }));
                }
                Renewal::Running(renewing) => match renewing.as_mut().poll(task) {
                    Poll::Pending => return,
                    Poll::Ready(Ok(claim)) => self.renewed(claim),
                    Poll::Ready(Err(StoreError::ClaimLost)) => {
                        self.renewal = Renewal::Lost;
                        self.guard.claim = None;
                        self.flag.cancel();
                    }
                    Poll::Ready(Err(error)) => {
                        warn!(%error, "the claim on a conversation could not be renewed");
                        self.renewal = Renewal::after(self.span / 10);
                    }
                },
            }
        }
    }

    fn renewed(&mut self, claim: Claim) {
        self.guard.claim = Some(claim);
        self.renewal = Renewal::after(self.span / 3);
    }
}

impl Renewal {
    fn after(wait: Duration) -> Self {
        Self::Due(Box::pin(sleep(wait)))
    }
}

async fn release(store: &dyn ConversationStore, claim: &Claim) {
    match caught(|| store.release(claim)).await {
        // A claim that is not ours any more needs no release.
        Ok(()) | Err(StoreError::ClaimLost) => {}
        Err(error) => warn!(%error, "the claim on a conversation could not be released, and lasts until it expires"),
    }
}

/// Awaits an operation of a store, which may panic.
async fn caught<'a, T: 'a>(operation: impl FnOnce() -> StoreFuture<'a, T>) -> Result<T, StoreError> {
    let panicked = |panicked: haft_schema::isolation::Panicked| {
        let text = panicked.into_text();
        StoreError::failed("use the store", format!("its code panicked: {text}"))
    };
    let mut future = Isolated::new(isolated(operation).map_err(panicked)?);
    poll_fn(|task| match isolated(|| future.as_mut().poll(task)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(done)) => Poll::Ready(done),
        Err(text) => Poll::Ready(Err(panicked(text))),
    })
    .await
}
