//! Tokens from the OAuth 2 client credentials grant.
//!
//! The first call that needs a token fetches it; calls that need the same one meanwhile wait for that request and share
//! its outcome. It is fetched again shortly before it expires, or after a server has rejected it. The client's secret
//! is part of the key, so callers with different secrets never share a token. Tokens are never written anywhere.

mod error;
mod fetch;

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_core::Secret;
use haft_http::GuardedClient;
use tokio::time::Instant;

pub use self::error::TokenError;
use super::auth::ClientCredentials;

/// The time before its end at which a token is no longer used, and the largest share of its life that this may be.
const MARGIN: Duration = Duration::from_secs(30);
const MARGIN_PART: u32 = 5;

/// The most tokens to keep.
const MAX_TOKENS: usize = 1024;

/// OAuth 2 tokens. Clones share them.
///
/// Tools that share a cache share the tokens for equal credentials.
#[derive(Clone, Default)]
pub struct TokenCache {
    slots: Arc<Mutex<HashMap<TokenKey, Arc<TokenSlot>>>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct TokenKey {
    credentials: ClientCredentials,
    /// The client's secret as text.
    secret: String,
}

/// One token's place. Only the lock's holder fetches it.
#[derive(Default)]
struct TokenSlot {
    state: tokio::sync::Mutex<TokenState>,
    /// The number of completed requests, which tells waiting calls that one was completed meanwhile.
    fetches: AtomicU64,
}

#[derive(Default)]
enum TokenState {
    #[default]
    Missing,
    Held(HeldToken),
    /// The last request failed.
    Failed(TokenError),
}

struct HeldToken {
    token: Secret,
    /// The time at which the token stops being used; `None` if the server did not say.
    until: Option<Instant>,
}

impl TokenCache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the token for these credentials, fetching it if necessary.
    pub(super) async fn token(
        &self,
        client: &GuardedClient,
        credentials: &ClientCredentials,
        secret: &Secret,
        timeout: Duration,
    ) -> Result<Secret, TokenError> {
        let slot = self.slot(credentials, secret);
        let before = slot.fetches.load(Ordering::Acquire);
        let mut state = slot.state.lock().await;
        match &*state {
            TokenState::Held(held) if held.until.is_none_or(|until| Instant::now() < until) => {
                return Ok(held.token.clone());
            }
            // Another call has just tried, while this one was waiting for it.
            TokenState::Failed(error) if slot.fetches.load(Ordering::Acquire) != before => return Err(error.clone()),
            TokenState::Held(_) | TokenState::Failed(_) | TokenState::Missing => {}
        }
        // The future owns all that it needs and is boxed: otherwise the compiler can't see that its type is `Send`.
        let fetching: Pin<Box<dyn Future<Output = _> + Send>> =
            Box::pin(fetch::token(client.clone(), credentials.clone(), secret.clone(), timeout));
        let fetched = fetching.await;
        slot.fetches.fetch_add(1, Ordering::AcqRel);
        match fetched {
            Ok((token, life)) => {
                let until = life.and_then(|life| Instant::now().checked_add(life.saturating_sub(margin(life))));
                *state = TokenState::Held(HeldToken { token: token.clone(), until });
                Ok(token)
            }
            Err(error) => {
                *state = TokenState::Failed(error.clone());
                Err(error)
            }
        }
    }

    /// Removes a token that a server has rejected, unless it was replaced meanwhile.
    pub(super) async fn forget(&self, credentials: &ClientCredentials, secret: &Secret, rejected: &Secret) {
        let slot = self.slot(credentials, secret);
        let mut state = slot.state.lock().await;
        if matches!(&*state, TokenState::Held(held) if held.token.expose() == rejected.expose()) {
            *state = TokenState::Missing;
        }
    }

    fn slot(&self, credentials: &ClientCredentials, secret: &Secret) -> Arc<TokenSlot> {
        let key = TokenKey { credentials: credentials.clone(), secret: secret.expose().to_owned() };
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= MAX_TOKENS && !slots.contains_key(&key) {
            // Only unused slots are removed. All are fetched again on demand.
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        Arc::clone(slots.entry(key).or_default())
    }
}

fn margin(life: Duration) -> Duration {
    MARGIN.min(life / MARGIN_PART)
}

impl fmt::Debug for TokenCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use haft_core::Secret;

    use super::{ClientCredentials, MAX_TOKENS, TokenCache, margin};

    #[test]
    fn a_token_is_replaced_shortly_before_its_end() {
        let seconds = |life| margin(Duration::from_secs(life)).as_secs();
        assert_eq!([0, 10, 100, 150, 3600].map(seconds), [0, 2, 20, 30, 30]);
    }

    #[test]
    fn the_number_of_tokens_is_limited() {
        let cache = TokenCache::new();
        let credentials = ClientCredentials::new("https://id.example/token", "c", "s");
        let held = cache.slot(&credentials, &Secret::new("held"));
        for number in 0..3 * MAX_TOKENS {
            cache.slot(&credentials, &Secret::new(number.to_string()));
        }
        assert!(cache.slots.lock().unwrap().len() <= MAX_TOKENS);
        let same = cache.slot(&credentials, &Secret::new("held"));
        assert!(std::sync::Arc::ptr_eq(&held, &same), "one that is in use stays");
        assert_eq!(format!("{cache:?}"), "TokenCache { .. }");
    }
}
