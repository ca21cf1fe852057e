//! Stores of conversations.

mod crash;
mod file;
mod rival;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use haft_core::{Item, Timestamp, TurnRequest};
use haft_model::{
    Claim, ConversationStore, FileStore, LoopState, MemoryStore, StoreError, StoreFuture, StoredConversation,
    store_suite,
};

const LEASE: Duration = Duration::from_secs(10);

/// A clock that moves when it is told to.
#[derive(Clone, Default)]
struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    fn advance(&self, by: Duration) {
        self.0.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }

    fn reader(&self) -> impl Fn() -> Timestamp + Send + Sync + 'static {
        let millis = Arc::clone(&self.0);
        move || Timestamp::from_unix_millis(millis.load(Ordering::SeqCst))
    }
}

/// Returns a state with one message.
fn state(text: &str) -> LoopState {
    LoopState::new(TurnRequest::new("any", vec![Item::user(text)]))
}

fn open(folder: &tempfile::TempDir) -> FileStore {
    FileStore::open(folder.path().join("chats")).unwrap()
}

#[tokio::test]
async fn the_store_in_memory_keeps_the_laws() {
    let clock = ManualClock::default();
    let store = MemoryStore::new().clock(clock.reader());
    store_suite(&store, |by| clock.advance(by)).await.unwrap();
}

#[tokio::test]
async fn the_store_in_files_keeps_the_laws() {
    let (clock, folder) = (ManualClock::default(), tempfile::tempdir().unwrap());
    let store = open(&folder).clock(clock.reader());
    store_suite(&store, |by| clock.advance(by)).await.unwrap();
}

#[tokio::test]
async fn the_suite_tests_a_store_behind_a_pointer() {
    let clock = ManualClock::default();
    let store: Arc<dyn ConversationStore> = Arc::new(MemoryStore::new().clock(clock.reader()));
    store_suite(&store, |by| clock.advance(by)).await.unwrap();
    store_suite(&*store, |_| ()).await.unwrap_err();
}

/// A fault that a store could have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    LosesSaves,
    IgnoresVersions,
    AlwaysClaims,
    SavesByZombies,
    RenewsNothing,
    RenewsLostClaims,
    ReleasesOthers,
    FoldsIds,
    KeepsReleased,
}

/// A store with one fault.
struct Flawed {
    store: MemoryStore,
    clock: ManualClock,
    flaw: Flaw,
}

impl Flawed {
    fn id(&self, id: &str) -> String {
        if self.flaw == Flaw::FoldsIds { id.to_lowercase() } else { id.to_owned() }
    }

    /// Claims the conversation for whoever asks, as a store does that does not check.
    async fn seize(&self, id: &str) -> Result<Claim, StoreError> {
        loop {
            match self.store.claim(id, LEASE).await {
                Err(StoreError::Busy { .. }) => self.clock.advance(LEASE),
                claimed => return claimed,
            }
        }
    }
}

impl ConversationStore for Flawed {
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<StoredConversation>> {
        Box::pin(async move {
            let loaded = self.store.load(&self.id(id)).await?;
            Ok(loaded.filter(|_| self.flaw != Flaw::LosesSaves))
        })
    }

    fn claim<'a>(&'a self, id: &'a str, lease: Duration) -> StoreFuture<'a, Claim> {
        Box::pin(async move {
            let id = self.id(id);
            if self.flaw == Flaw::AlwaysClaims { self.seize(&id).await } else { self.store.claim(&id, lease).await }
        })
    }

    fn renew<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StoreFuture<'a, Claim> {
        Box::pin(async move {
            match self.flaw {
                Flaw::RenewsNothing => self.store.renew(claim, Duration::ZERO).await,
                Flaw::RenewsLostClaims => Ok(self.store.renew(claim, lease).await.unwrap_or(claim.clone())),
                _ => self.store.renew(claim, lease).await,
            }
        })
    }

    fn save<'a>(&'a self, claim: &'a Claim, expected: u64, state: &'a LoopState) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            match (self.store.save(claim, expected, state).await, self.flaw) {
                (Err(StoreError::Changed { found, .. }), Flaw::IgnoresVersions) => {
                    self.store.save(claim, found, state).await
                }
                (Err(StoreError::ClaimLost), Flaw::SavesByZombies) => {
                    let seized = self.seize(&claim.conversation).await?;
                    self.store.save(&seized, expected, state).await
                }
                (saved, _) => saved,
            }
        })
    }

    fn release<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            match self.flaw {
                Flaw::KeepsReleased => Ok(()),
                Flaw::ReleasesOthers => {
                    let seized = self.seize(&claim.conversation).await?;
                    self.store.release(&seized).await
                }
                _ => self.store.release(claim).await,
            }
        })
    }
}

#[tokio::test]
async fn the_suite_finds_every_flaw() {
    for (flaw, law) in [
        (Flaw::None, None),
        (Flaw::LosesSaves, Some("a state that was saved is loaded unchanged")),
        (Flaw::IgnoresVersions, Some("a save that names another version")),
        (Flaw::AlwaysClaims, Some("a conversation that is claimed can't be claimed")),
        (Flaw::SavesByZombies, Some("a conversation that is claimed can't be claimed")),
        (Flaw::RenewsNothing, Some("a claim that is renewed")),
        (Flaw::RenewsLostClaims, Some("a conversation that is claimed can't be claimed")),
        (Flaw::ReleasesOthers, Some("a conversation that is claimed can't be claimed")),
        (Flaw::FoldsIds, Some("different ids are different conversations")),
        (Flaw::KeepsReleased, Some("a conversation that is claimed can't be claimed")),
    ] {
        let clock = ManualClock::default();
        let store = Flawed { store: MemoryStore::new().clock(clock.reader()), clock: clock.clone(), flaw };
        let found = store_suite(&store, |by| clock.advance(by)).await.err().map(|fault| fault.law);
        assert_eq!(found.is_some(), law.is_some(), "{flaw:?}: {found:?}");
        assert!(found.unwrap_or_default().starts_with(law.unwrap_or_default()), "{flaw:?}: {found:?}");
    }
}
