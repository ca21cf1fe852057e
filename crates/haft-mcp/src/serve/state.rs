//! The state that a client keeps for a call that waits: sealed, so that the client can neither read nor change it.
//!
//! ```text
//! h1.base64url( key id | nonce | ChaCha20-Poly1305( expiry, state ) )      bound to caller, tool, definition, arguments
//! ```
//!
//! The binding is authenticated and not contained, so a state of another caller, another tool or other arguments can't be
//! opened at all. Whatever is wrong, the client reads the same error.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use haft_core::{Caller, Secret, Timestamp};
use haft_schema::canonical_text;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The mark of this form.
const MARK: &str = "h1.";
const KEY_ID_LEN: usize = 4;
/// The states that are remembered as used.
const MOST_USED: usize = 100_000;

/// The keys that seal what clients keep for calls that wait.
///
/// A key of its own is created for each process. Processes that serve the same clients share a secret instead: a call that
/// waits at one goes on at any other.
///
/// ```
/// use haft_core::Secret;
/// use haft_mcp::serve::StateKeys;
///
/// let keys = StateKeys::from_secret(&Secret::new("a long random text"))
///     .accepting(&StateKeys::from_secret(&Secret::new("the one of last month")));
/// # let _ = keys;
/// ```
#[derive(Clone)]
pub struct StateKeys {
    /// The first seals; all open.
    keys: Vec<[u8; 32]>,
}

impl StateKeys {
    /// Creates a random key. What it sealed can't be opened after a restart.
    #[must_use]
    pub fn random() -> Self {
        let mut key = [0; 32];
        match SystemRandom::new().fill(&mut key) {
            Ok(()) => Self { keys: vec![key] },
            // Without a key nothing is sealed: calls can't wait at the client.
            Err(_) => Self { keys: Vec::new() },
        }
    }

    /// Derives a key from a secret, which should be long and random.
    #[must_use]
    pub fn from_secret(secret: &Secret) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
        Self { keys: vec![derived(&key, b"haft mcp request state 1")] }
    }

    /// Opens what other keys have sealed as well: those before a change.
    #[must_use]
    pub fn accepting(mut self, older: &Self) -> Self {
        self.keys.extend(&older.keys);
        self
    }
}

impl fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKeys").field("keys", &self.keys.len()).finish()
    }
}

/// The call that a state belongs to.
pub(super) struct StateBinding<'a> {
    pub(super) caller: Option<&'a Caller>,
    pub(super) tool: &'a str,
    pub(super) definition: &'a str,
    pub(super) arguments: &'a Value,
}

/// Seals and opens states.
pub(super) struct Seal {
    keys: Vec<SealKey>,
    random: SystemRandom,
    /// The nonces of states that were used, with their expiry: each counts once in this process.
    used: Mutex<HashMap<[u8; NONCE_LEN], u64>>,
}

struct SealKey {
    id: [u8; KEY_ID_LEN],
    key: LessSafeKey,
}

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    /// Unix milliseconds.
    expires_at: u64,
    state: T,
}

/// A state that can't be used, whatever the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request state is invalid, expired or used: make the call again without it")]
pub(super) struct InvalidState;

impl Seal {
    pub(super) fn new(keys: &StateKeys) -> Self {
        let keys = keys.keys.iter().filter_map(SealKey::new).collect();
        Self { keys, random: SystemRandom::new(), used: Mutex::default() }
    }

    /// Seals a state. `None` if there is no key.
    pub(super) fn seal(
        &self,
        state: &impl Serialize,
        binding: &StateBinding<'_>,
        lifetime: Duration,
    ) -> Option<String> {
        let SealKey { id, key } = self.keys.first()?;
        let expires_at =
            Timestamp::from(SystemTime::now()).unix_millis().saturating_add(u64::try_from(lifetime.as_millis()).ok()?);
        let mut text = serde_json::to_vec(&Sealed { expires_at, state }).ok()?;
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).ok()?;
        let aad = Aad::from(binding.text());
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut text).ok()?;
        let sealed = [&id[..], &nonce, &text].concat();
        Some(format!("{MARK}{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// Opens a state, which counts once.
    pub(super) fn open<T: DeserializeOwned>(&self, text: &str, binding: &StateBinding<'_>) -> Result<T, InvalidState> {
        let sealed = text.strip_prefix(MARK).ok_or(InvalidState)?;
        let sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| InvalidState)?;
        let (id, rest) = sealed.split_first_chunk::<KEY_ID_LEN>().ok_or(InvalidState)?;
        let (nonce, text) = rest.split_first_chunk::<NONCE_LEN>().ok_or(InvalidState)?;
        let mut text = text.to_vec();
        let SealKey { key, .. } = self.keys.iter().find(|key| key.id == *id).ok_or(InvalidState)?;
        let aad = Aad::from(binding.text());
        let opened = key.open_in_place(Nonce::assume_unique_for_key(*nonce), aad, &mut text);
        let opened = opened.map_err(|_| InvalidState)?;
        let Sealed { expires_at, state } = serde_json::from_slice(opened).map_err(|_| InvalidState)?;
        self.use_once(*nonce, expires_at)?;
        Ok(state)
    }

    fn use_once(&self, nonce: [u8; NONCE_LEN], expires_at: u64) -> Result<(), InvalidState> {
        let now = Timestamp::from(SystemTime::now()).unix_millis();
        if expires_at <= now {
            return Err(InvalidState);
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= MOST_USED {
            used.retain(|_, expires_at| *expires_at > now);
        }
        // What can't be remembered must not count: it might count twice.
        if used.len() >= MOST_USED || used.insert(nonce, expires_at).is_some() {
            return Err(InvalidState);
        }
        Ok(())
    }
}

impl StateBinding<'_> {
    fn text(&self) -> String {
        let Self { caller, tool, definition, arguments } = self;
        canonical_text(&json!([caller.map(Caller::as_str), tool, definition, arguments]))
    }
}

impl SealKey {
    fn new(key: &[u8; 32]) -> Option<Self> {
        let mac = hmac::Key::new(hmac::HMAC_SHA256, key);
        let id = *derived(&mac, b"id").first_chunk()?;
        Some(Self { id, key: LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key).ok()?) })
    }
}

fn derived(key: &hmac::Key, purpose: &[u8]) -> [u8; 32] {
    let tag = hmac::sign(key, purpose);
    let mut derived = [0; 32];
    derived.copy_from_slice(tag.as_ref());
    derived
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").field("keys", &self.keys.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFETIME: Duration = Duration::from_secs(60);

    fn keys(secret: &str) -> StateKeys {
        StateKeys::from_secret(&Secret::new(secret))
    }

    fn sealed(seal: &Seal, binding: &StateBinding<'_>) -> String {
        seal.seal(&"state", binding, LIFETIME).unwrap()
    }

    #[test]
    fn a_state_is_opened_once_by_any_process_with_the_key() {
        let (caller, arguments) = (Caller::from("ana"), json!({"a": 1, "b": 2}));
        let binding = StateBinding { caller: Some(&caller), tool: "t", definition: "d", arguments: &arguments };
        let (one, two) = (Seal::new(&keys("k")), Seal::new(&keys("k")));
        let state = sealed(&one, &binding);
        assert!(
            !state.contains("state") && !URL_SAFE_NO_PAD.decode(&state[3..]).unwrap().windows(5).any(|w| w == b"state")
        );
        assert_eq!(two.open::<String>(&state, &binding).unwrap(), "state");
        assert_eq!(two.open::<String>(&state, &binding), Err(InvalidState), "replayed");
        let reordered = json!({"b": 2, "a": 1});
        let same = StateBinding { arguments: &reordered, ..binding };
        assert_eq!(one.open::<String>(&state, &same).unwrap(), "state");
    }

    #[test]
    fn a_state_that_is_not_of_this_call_is_invalid() {
        let (ana, ben, arguments, others) =
            (Caller::from("ana"), Caller::from("ben"), json!({"a": 1}), json!({"a": 2}));
        let binding = || StateBinding { caller: Some(&ana), tool: "t", definition: "d", arguments: &arguments };
        let seal = Seal::new(&keys("k"));
        let state = sealed(&seal, &binding());
        let mut forged = state.clone().into_bytes();
        let last = forged.len() - 2;
        forged[last] = if forged[last] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged).unwrap();
        let expired = seal.seal(&"state", &binding(), Duration::ZERO).unwrap();
        let foreign = sealed(&Seal::new(&keys("other")), &binding());
        for wrong in [&forged, &expired, &foreign, "", "h1.", "h1.AAAA", "h2.AAAA", "h1.%%%", &state[..40]] {
            assert_eq!(seal.open::<String>(wrong, &binding()), Err(InvalidState), "{wrong}");
        }
        for other in [
            StateBinding { caller: Some(&ben), ..binding() },
            StateBinding { caller: None, ..binding() },
            StateBinding { tool: "u", ..binding() },
            StateBinding { definition: "e", ..binding() },
            StateBinding { arguments: &others, ..binding() },
        ] {
            assert_eq!(seal.open::<String>(&state, &other), Err(InvalidState));
        }
        assert!(seal.open::<String>(&state, &binding()).is_ok(), "a wrong attempt does not use it up");
    }

    #[test]
    fn keys_are_changed_without_losing_what_waits() {
        let binding = StateBinding { caller: None, tool: "t", definition: "d", arguments: &Value::Null };
        let state = sealed(&Seal::new(&keys("old")), &binding);
        let changed = Seal::new(&keys("new").accepting(&keys("old")));
        assert!(changed.open::<String>(&state, &binding).is_ok());
        let later = sealed(&changed, &binding);
        assert!(Seal::new(&keys("new")).open::<String>(&later, &binding).is_ok());
        let random = Seal::new(&StateKeys::random());
        assert_eq!(random.open::<String>(&later, &binding), Err(InvalidState));
    }
}
