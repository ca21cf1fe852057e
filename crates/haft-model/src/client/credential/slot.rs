//! The place of a token: it is cached until shortly before its end, and one request at a time fetches it.

use std::time::Duration;

use haft_http::Secret;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::{AccessToken, Authorization, CredentialError, TokenSource};

/// The time before its end at which a token is no longer used, and the part of its life that this is at most.
const MARGIN: Duration = Duration::from_secs(30);
const MARGIN_PART: u32 = 5;

/// The place of one token. Whoever holds its lock is the only one who fetches it; the others wait and share the token. If the
/// request that fetches it is dropped, the next one fetches it.
pub(super) struct TokenSlot {
    source: Box<dyn TokenSource>,
    held: Mutex<Option<HeldToken>>,
}

struct HeldToken {
    secret: Secret,
    /// The time from which on the token is not used; none if it is used until it is rejected.
    until: Option<Instant>,
}

impl TokenSlot {
    pub(super) fn new(source: Box<dyn TokenSource>) -> Self {
        Self { source, held: Mutex::new(None) }
    }

    /// Returns the token, and fetches it if necessary.
    pub(super) async fn token(&self) -> Result<Secret, CredentialError> {
        let mut held = self.held.lock().await;
        if let Some(token) = held.as_ref().filter(|token| token.until.is_none_or(|until| Instant::now() < until)) {
            return Ok(token.secret.clone());
        }
        let AccessToken { secret, lifetime } = self.source.fetch().await?;
        if secret.expose().trim().is_empty() {
            return Err(CredentialError::Missing {
                message: "the source of the token returned an empty one".to_owned(),
            });
        }
        // A life beyond the range of the clock never ends.
        let usable = lifetime.map(|life| life.saturating_sub(MARGIN.min(life / MARGIN_PART)));
        let until = usable.and_then(|usable| Instant::now().checked_add(usable));
        *held = Some(HeldToken { secret: secret.clone(), until });
        Ok(secret)
    }

    /// Removes a token that the provider has rejected, unless it was replaced meanwhile.
    pub(super) async fn discard(&self, rejected: &Authorization) {
        let mut held = self.held.lock().await;
        if held.as_ref().is_some_and(|token| rejected.secrets().any(|secret| secret == token.secret.expose())) {
            *held = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::client::credential::CredentialFuture;

    /// Fetches numbered tokens, each after a second, and fails as often as told.
    struct Slow {
        lifetime: Option<Duration>,
        fetched: AtomicU32,
        failures: AtomicU32,
    }

    impl TokenSource for Slow {
        fn fetch(&self) -> CredentialFuture<'_, AccessToken> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if self.failures.load(Ordering::SeqCst) > 0 {
                    self.failures.fetch_sub(1, Ordering::SeqCst);
                    return Err(CredentialError::Unavailable { message: "down".to_owned() });
                }
                let number = self.fetched.fetch_add(1, Ordering::SeqCst) + 1;
                Ok(AccessToken { secret: Secret::new(format!("token-{number}")), lifetime: self.lifetime })
            })
        }
    }

    fn slot(lifetime: Option<Duration>, failures: u32) -> Arc<TokenSlot> {
        let source = Slow { lifetime, fetched: AtomicU32::new(0), failures: AtomicU32::new(failures) };
        Arc::new(TokenSlot::new(Box::new(source)))
    }

    async fn token(slot: &TokenSlot) -> String {
        slot.token().await.unwrap().expose().to_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_replaced_shortly_before_its_end() {
        let seconds = Duration::from_secs;
        for (life, used) in [(3600, 3570), (150, 120), (100, 80), (10, 8)] {
            let slot = slot(Some(seconds(life)), 0);
            assert_eq!(token(&slot).await, "token-1");
            tokio::time::advance(seconds(used).saturating_sub(Duration::from_millis(1))).await;
            assert_eq!(token(&slot).await, "token-1", "{life}");
            tokio::time::advance(Duration::from_millis(1)).await;
            assert_eq!(token(&slot).await, "token-2", "{life}");
        }
        let endless = slot(None, 0);
        token(&endless).await;
        tokio::time::advance(seconds(1_000_000)).await;
        assert_eq!(token(&endless).await, "token-1");
        let beyond = slot(Some(Duration::MAX), 0);
        assert_eq!((token(&beyond).await, token(&beyond).await), ("token-1".to_owned(), "token-1".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_fetches_and_a_dropped_or_failed_one_leaves_it_to_the_next() {
        let shared = slot(None, 0);
        let all = futures_util::future::join_all((0..50).map(|_| token(&shared))).await;
        assert!(all.iter().all(|token| token == "token-1"));

        let dropped = slot(None, 0);
        let cancelled = tokio::time::timeout(Duration::from_millis(500), dropped.token()).await;
        assert!(cancelled.is_err());
        assert_eq!(token(&dropped).await, "token-1");

        let failing = slot(None, 1);
        let (first, second) = tokio::join!(failing.token(), failing.token());
        assert!(first.is_err() && second.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_rejected_token_is_discarded() {
        let slot = slot(None, 0);
        token(&slot).await;
        slot.discard(&Authorization::bearer(Secret::new("token-0"))).await;
        assert_eq!(token(&slot).await, "token-1", "another request has replaced it already");
        slot.discard(&Authorization::bearer(Secret::new("token-1"))).await;
        assert_eq!(token(&slot).await, "token-2");
    }
}
