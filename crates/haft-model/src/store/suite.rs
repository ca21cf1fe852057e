//! The laws of a store, as a test suite for every store.
//!
//! Each law uses conversations of its own, so that they can run one after the other in one store. Time passes only by
//! the function that the caller provides, so nothing waits and nothing depends on the machine.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use haft_core::{Item, ToolCall, ToolCallOutput, TurnRequest};

use super::{Claim, ConversationStore, StoreError, StoredConversation};
use crate::turn_loop::LoopState;

/// The lease of the suite's claims.
const LEASE: Duration = Duration::from_secs(10);
/// The number of concurrent claims and saves.
const RIVALS: usize = 16;

/// The law that a store breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store breaks a law: {law}; {found}")]
#[non_exhaustive]
pub struct SuiteFault {
    /// The law.
    pub law: &'static str,
    /// The behaviour that was found.
    pub found: String,
}

/// Tests a store: what is saved is loaded, one writer at a time, no save by a claim that has expired. Returns the first
/// law that it breaks.
///
/// The store must be empty. `advance` moves the clock of the store, which must not move by itself.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use haft_core::Timestamp;
/// use haft_model::{MemoryStore, store_suite};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft_model::SuiteFault> {
/// let millis = Arc::new(AtomicU64::new(1_000));
/// let clock = Arc::clone(&millis);
/// let store = MemoryStore::new().clock(move || Timestamp::from_unix_millis(clock.load(Ordering::SeqCst)));
/// store_suite(&store, |by| drop(millis.fetch_add(by.as_millis() as u64, Ordering::SeqCst))).await
/// # }
/// ```
pub async fn store_suite<S: ConversationStore + ?Sized>(
    store: &S,
    advance: impl Fn(Duration) + Send + Sync,
) -> Result<(), SuiteFault> {
    let suite = Suite { store, advance };
    suite.saves().await?;
    suite.versions().await?;
    suite.one_claim().await?;
    suite.rival_claims().await?;
    suite.rival_saves().await?;
    suite.expiry().await?;
    suite.renewal().await?;
    suite.late_renewal().await?;
    suite.release().await?;
    suite.ids().await
}

/// A store that is tested.
struct Suite<'a, S: ?Sized, F> {
    store: &'a S,
    advance: F,
}

impl<S: ConversationStore + ?Sized, F: Fn(Duration) + Send + Sync> Suite<'_, S, F> {
    async fn saves(&self) -> Result<(), SuiteFault> {
        let law = Law("a state that was saved is loaded unchanged");
        law.equal(&law.ok(self.store.load("saves").await)?, &None)?;
        let claim = law.ok(self.store.claim("saves", LEASE).await)?;
        law.equal(&law.ok(self.store.load("saves").await)?, &None)?;
        let mut version = 0;
        for state in [state("short"), rich_state()] {
            version = law.ok(self.store.save(&claim, version, &state).await)?;
            let loaded = law.ok(self.store.load("saves").await)?;
            law.equal(&loaded, &Some(StoredConversation::new(state, version)))?;
        }
        law.ok(self.store.release(&claim).await)?;
        let loaded = law.ok(self.store.load("saves").await)?;
        law.equal(&loaded.map(|loaded| loaded.version), &Some(version))
    }

    async fn versions(&self) -> Result<(), SuiteFault> {
        let law = Law("a save that names another version than that of the conversation changes nothing");
        let claim = law.ok(self.store.claim("versions", LEASE).await)?;
        let early = self.store.save(&claim, 7, &state("early")).await;
        law.is(&early, |error| matches!(error, StoreError::Changed { expected: 7, found: 0 }))?;
        law.equal(&law.ok(self.store.load("versions").await)?, &None)?;
        let first = law.ok(self.store.save(&claim, 0, &state("one")).await)?;
        let again = self.store.save(&claim, 0, &state("two")).await;
        law.is(&again, |error| matches!(error, StoreError::Changed { expected: 0, found } if *found == first))?;
        let second = law.ok(self.store.save(&claim, first, &state("three")).await)?;
        law.holds(second > first, || format!("the version {second} follows {first}"))?;
        let loaded = law.ok(self.store.load("versions").await)?;
        law.equal(&loaded, &Some(StoredConversation::new(state("three"), second)))
    }

    async fn one_claim(&self) -> Result<(), SuiteFault> {
        let law = Law("a conversation that is claimed can't be claimed, and other conversations can");
        let claim = law.ok(self.store.claim("one-claim", LEASE).await)?;
        let other = law.ok(self.store.claim("one-claim, another", LEASE).await)?;
        law.holds(claim.token != other.token, || "two claims have one token".to_owned())?;
        let again = self.store.claim("one-claim", LEASE).await;
        law.is(&again, |error| matches!(error, StoreError::Busy { until } if *until == claim.expires_at))?;
        let foreign = Claim { conversation: "one-claim".to_owned(), ..other };
        self.is_powerless(law, &foreign, 0).await?;
        law.ok(self.store.save(&claim, 0, &state("mine")).await).map(drop)
    }

    async fn rival_claims(&self) -> Result<(), SuiteFault> {
        let law = Law("of concurrent claims exactly one succeeds");
        let claims = (0..RIVALS).map(|_| self.store.claim("rival-claims", LEASE));
        let claims = all(claims.collect()).await;
        law.equal(&claims.iter().filter(|claim| claim.is_ok()).count(), &1)?;
        for lost in claims.iter().filter(|claim| claim.is_err()) {
            law.is(lost, |error| matches!(error, StoreError::Busy { .. }))?;
        }
        Ok(())
    }

    async fn rival_saves(&self) -> Result<(), SuiteFault> {
        let law = Law("of concurrent saves of one version exactly one succeeds");
        let claim = law.ok(self.store.claim("rival-saves", LEASE).await)?;
        let states: Vec<LoopState> = (0..RIVALS).map(|number| state(&number.to_string())).collect();
        let saves = all(states.iter().map(|state| self.store.save(&claim, 0, state)).collect()).await;
        law.equal(&saves.iter().filter(|saved| saved.is_ok()).count(), &1)?;
        let won = saves.iter().zip(&states).find_map(|(saved, state)| saved.as_ref().ok().map(|saved| (*saved, state)));
        let expected = won.map(|(version, state)| StoredConversation::new(state.clone(), version));
        law.equal(&law.ok(self.store.load("rival-saves").await)?, &expected)
    }

    async fn expiry(&self) -> Result<(), SuiteFault> {
        let law = Law("a claim that has expired saves nothing, and does not release the one that followed");
        let zombie = law.ok(self.store.claim("expiry", LEASE).await)?;
        let version = law.ok(self.store.save(&zombie, 0, &state("before")).await)?;
        (self.advance)(LEASE);
        let late = self.store.save(&zombie, version, &state("late")).await;
        law.is(&late, |error| matches!(error, StoreError::ClaimLost))?;
        let heir = law.ok(self.store.claim("expiry", LEASE).await)?;
        self.is_powerless(law, &zombie, version).await?;
        let loaded = law.ok(self.store.load("expiry").await)?;
        law.equal(&loaded, &Some(StoredConversation::new(state("before"), version)))?;
        law.is(&self.store.claim("expiry", LEASE).await, |error| matches!(error, StoreError::Busy { .. }))?;
        let version = law.ok(self.store.save(&heir, version, &state("after")).await)?;
        self.is_powerless(law, &zombie, version).await
    }

    async fn renewal(&self) -> Result<(), SuiteFault> {
        let law = Law("a claim that is renewed in time stays valid");
        let mut claim = law.ok(self.store.claim("renewal", LEASE).await)?;
        let mut version = 0;
        for _ in 0..3 {
            (self.advance)(LEASE.mul_f64(0.75));
            let renewed = law.ok(self.store.renew(&claim, LEASE).await)?;
            law.equal(&renewed.token, &claim.token)?;
            law.holds(renewed.expires_at > claim.expires_at, || format!("{renewed:?} follows {claim:?}"))?;
            claim = renewed;
            law.is(&self.store.claim("renewal", LEASE).await, |error| matches!(error, StoreError::Busy { .. }))?;
            version = law.ok(self.store.save(&claim, version, &state("renewed")).await)?;
        }
        Ok(())
    }

    async fn late_renewal(&self) -> Result<(), SuiteFault> {
        let law = Law("a claim that has expired can be renewed until somebody else claims the conversation");
        let claim = law.ok(self.store.claim("late-renewal", LEASE).await)?;
        (self.advance)(LEASE * 3);
        let renewed = law.ok(self.store.renew(&claim, LEASE).await)?;
        law.ok(self.store.save(&renewed, 0, &state("late")).await)?;
        (self.advance)(LEASE);
        let heir = law.ok(self.store.claim("late-renewal", LEASE).await)?;
        law.is(&self.store.renew(&renewed, LEASE).await, |error| matches!(error, StoreError::ClaimLost))?;
        law.ok(self.store.release(&heir).await)?;
        law.is(&self.store.renew(&renewed, LEASE).await, |error| matches!(error, StoreError::ClaimLost))
    }

    async fn release(&self) -> Result<(), SuiteFault> {
        let law = Law("a claim that was released has no power, and the conversation can be claimed at once");
        let claim = law.ok(self.store.claim("release", LEASE).await)?;
        law.ok(self.store.release(&claim).await)?;
        self.is_powerless(law, &claim, 0).await?;
        let next = law.ok(self.store.claim("release", LEASE).await)?;
        self.is_powerless(law, &claim, 0).await?;
        law.ok(self.store.save(&next, 0, &state("next")).await).map(drop)
    }

    async fn ids(&self) -> Result<(), SuiteFault> {
        let law = Law("different ids are different conversations, whatever their text");
        let long = ["x".repeat(5_000), format!("{}y", "x".repeat(4_999))];
        let odd = ["", " ", ".", "..", "/", "a/b", "a\\b", "a", "A", "ä", "a\u{308}", "a\n", "a'; --", "%", "*", "😀"];
        let ids: Vec<&str> = odd.into_iter().chain(long.iter().map(String::as_str)).collect();
        let mut claims = BTreeMap::new();
        for id in &ids {
            let claim = law.ok(self.store.claim(id, LEASE).await)?;
            law.ok(self.store.save(&claim, 0, &state(id)).await)?;
            claims.insert(*id, claim);
        }
        for id in ids {
            let loaded = law.ok(self.store.load(id).await)?;
            law.equal(&loaded.map(|loaded| loaded.state), &Some(state(id)))?;
        }
        for claim in claims.values() {
            law.ok(self.store.release(claim).await)?;
        }
        Ok(())
    }

    /// Checks that a claim can do nothing.
    async fn is_powerless(&self, law: Law, claim: &Claim, version: u64) -> Result<(), SuiteFault> {
        let is_lost = |error: &StoreError| matches!(error, StoreError::ClaimLost);
        law.is(&self.store.save(claim, version, &state("powerless")).await, is_lost)?;
        law.is(&self.store.renew(claim, LEASE).await, is_lost)?;
        law.is(&self.store.release(claim).await, is_lost)
    }
}

/// A law by its text.
#[derive(Clone, Copy)]
struct Law(&'static str);

impl Law {
    fn holds(self, is_kept: bool, found: impl FnOnce() -> String) -> Result<(), SuiteFault> {
        if is_kept { Ok(()) } else { Err(SuiteFault { law: self.0, found: found() }) }
    }

    fn equal<T: PartialEq + Debug>(self, found: &T, expected: &T) -> Result<(), SuiteFault> {
        self.holds(found == expected, || format!("found {found:?} instead of {expected:?}"))
    }

    fn ok<T>(self, done: Result<T, StoreError>) -> Result<T, SuiteFault> {
        done.map_err(|error| SuiteFault { law: self.0, found: format!("found the error: {error}") })
    }

    fn is<T: Debug>(
        self,
        done: &Result<T, StoreError>,
        is_expected: impl FnOnce(&StoreError) -> bool,
    ) -> Result<(), SuiteFault> {
        self.holds(done.as_ref().is_err_and(is_expected), || format!("found {done:?}"))
    }
}

/// Polls all futures until each is ready, and returns their outputs in order.
async fn all<T>(futures: Vec<impl Future<Output = T> + Unpin>) -> Vec<T> {
    let mut slots: Vec<_> = futures.into_iter().map(|future| (future, None)).collect();
    poll_fn(|task| {
        let mut is_done = true;
        for (future, output) in &mut slots {
            if output.is_none() {
                match Pin::new(future).poll(task) {
                    Poll::Ready(value) => *output = Some(value),
                    Poll::Pending => is_done = false,
                }
            }
        }
        if is_done { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    slots.into_iter().filter_map(|(_, output)| output).collect()
}

/// Returns a state with one message.
fn state(text: &str) -> LoopState {
    LoopState::new(TurnRequest::new("any", vec![Item::user(text)]))
}

/// Returns a state with everything that is easily lost: characters, numbers, nesting, the application's own value.
fn rich_state() -> LoopState {
    let arguments = format!("{{\"n\": 12345678901234567890123, \"deep\": {}1{}}}", "[".repeat(100), "]".repeat(100));
    let history = vec![
        Item::user("a\0b \u{2028} \"quotes\" 😀"),
        ToolCall::new("c1", "count", arguments).into(),
        ToolCallOutput::new("c1", "-0.0").into(),
        Item::assistant("x".repeat(100_000)),
    ];
    let mut state = LoopState::new(TurnRequest::new("any", history).instructions("Be brief."));
    // A list of texts is always JSON.
    let _ = state.set_app(&["the application's own"]);
    state
}
