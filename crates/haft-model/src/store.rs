//! Stores of conversations: where a chat keeps its states between messages, and through crashes.
//!
//! ```text
//! claim ─> load ─> save ─> save ─> … ─> release
//!   │                ↑
//!   └── renew ───────┘   before the lease expires
//! ```
//!
//! A conversation has one writer at a time: whoever holds its [`Claim`]. A claim is a lease. Its holder may be stopped,
//! cut off or slow, so a store trusts neither the holder nor the holder's clock: it decides by its own clock whether the
//! lease has expired, and a save by a claim that is not the current one must never change anything.

mod claim;
mod error;
#[cfg(feature = "file-store")]
mod file;
mod memory;
mod suite;

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use haft_core::Timestamp;

pub use self::claim::{Claim, ClaimToken};
pub use self::error::StoreError;
#[cfg(feature = "file-store")]
pub use self::file::FileStore;
pub use self::memory::MemoryStore;
pub use self::suite::{SuiteFault, store_suite};
use crate::turn_loop::LoopState;

/// The future of a store's operation. Dropping it may leave the operation done or undone, never half done.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The clock of a store.
type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A store of conversations, by id.
///
/// [`MemoryStore`] and [`FileStore`](crate::FileStore) are ready to use. A store of your own, over a database for example,
/// does each operation in one transaction, and [`store_suite`] tests it.
///
/// An id may be any text, and different texts are different conversations. Ids that come from clients are not
/// authorised by being known: put the tenant into the id (`acme/42`), or check who owns it first.
///
/// ```
/// use std::time::Duration;
///
/// use haft_core::{Item, TurnRequest};
/// use haft_model::{ConversationStore, LoopState, MemoryStore, StoreError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::new();
/// let claim = store.claim("acme/42", Duration::from_secs(15)).await?;
/// let again = store.claim("acme/42", Duration::from_secs(15)).await;
/// assert!(matches!(again, Err(StoreError::Busy { .. })));
///
/// let state = LoopState::new(TurnRequest::new("any", vec![Item::user("Hello!")]));
/// let version = store.save(&claim, 0, &state).await?;
/// store.release(&claim).await?;
/// assert_eq!(store.load("acme/42").await?.map(|stored| stored.version), Some(version));
/// # Ok(())
/// # }
/// ```
pub trait ConversationStore: Send + Sync {
    /// Returns the last saved state of a conversation; `None` if nothing was saved. Requires no claim.
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<StoredConversation>>;

    /// Claims a conversation, which need not exist, until the lease expires. While another claim is valid the error is
    /// [`StoreError::Busy`].
    fn claim<'a>(&'a self, id: &'a str, lease: Duration) -> StoreFuture<'a, Claim>;

    /// Extends a claim, counted from now. A claim that has expired can be renewed as long as nobody else has claimed
    /// the conversation since; otherwise, and after a release, the error is [`StoreError::ClaimLost`].
    fn renew<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StoreFuture<'a, Claim>;

    /// Saves a state if the conversation has the version `expected`, zero if nothing was saved yet, and returns the new
    /// version, which is larger. Another version is [`StoreError::Changed`]. A claim that has expired, was released or
    /// was followed by another one is [`StoreError::ClaimLost`]. After an error the conversation is as before; only after
    /// [`StoreError::Failed`] it may have been saved, as when the answer of a database was lost.
    ///
    /// A state that was saved survives whatever the store survives: for a store on disk that is the loss of power.
    fn save<'a>(&'a self, claim: &'a Claim, expected: u64, state: &'a LoopState) -> StoreFuture<'a, u64>;

    /// Releases a claim, so that the conversation can be claimed at once. A claim that is not the current one is
    /// [`StoreError::ClaimLost`], and the current one stays.
    fn release<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, ()>;
}

/// A conversation as it was saved last.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StoredConversation {
    /// The state.
    pub state: LoopState,
    /// The version, which the next save must name.
    pub version: u64,
}

impl StoredConversation {
    /// Creates the value that a store returns.
    #[must_use]
    pub fn new(state: LoopState, version: u64) -> Self {
        Self { state, version }
    }
}

impl<S: ConversationStore + ?Sized> ConversationStore for Arc<S> {
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<StoredConversation>> {
        S::load(self, id)
    }

    fn claim<'a>(&'a self, id: &'a str, lease: Duration) -> StoreFuture<'a, Claim> {
        S::claim(self, id, lease)
    }

    fn renew<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StoreFuture<'a, Claim> {
        S::renew(self, claim, lease)
    }

    fn save<'a>(&'a self, claim: &'a Claim, expected: u64, state: &'a LoopState) -> StoreFuture<'a, u64> {
        S::save(self, claim, expected, state)
    }

    fn release<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, ()> {
        S::release(self, claim)
    }
}

/// Returns the clock of the machine.
fn system_clock() -> Clock {
    Arc::new(|| SystemTime::now().into())
}
