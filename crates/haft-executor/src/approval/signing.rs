//! Signatures of approval requests.
//!
//! An approval request that leaves the process may come back modified: with other arguments, another digest, a later
//! expiry or another call. With keys set, every request is signed over everything the approver is presented with and
//! everything that binds a verdict, and a verdict is accepted only with that signature. Keys have ids and can be
//! rotated: the newest one signs, the others still verify.
//!
//! A signature proves that the request was created here. It does not authenticate the approver: the application that
//! receives a verdict does that.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use haft_core::internal::push_hex;
use haft_core::{ApprovalRequest, RequestSignature};
use haft_schema::canonical_text;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::verdict::VerdictFault;

/// The minimum length of a secret, in bytes.
const LEAST_SECRET: usize = 16;
/// Separates these signatures from anything else that is signed with the same secret. The number is that of what they
/// cover.
const DOMAIN: &str = "haft approval request 2\n";
/// The domain of signatures that did not cover the run.
const DOMAIN_WITHOUT_RUN: &str = "haft approval request 1\n";

/// The keys that approval requests are signed with. Cloning is cheap, and `Debug` never prints secrets.
///
/// A signature covers one call of one run, and so its [idempotency key](crate::Cx::idempotency_key), but not the session or
/// tenant it belongs to. If call ids repeat between conversations and verdicts come from clients, use separate keys for
/// each tenant or session.
///
/// ```
/// use haft_executor::SigningKeys;
///
/// let keys = SigningKeys::new("2026-11", b"a secret of thirty-two bytes....")?
///     .accepting("2026-10", b"the secret of the month before..")?;
/// assert_eq!(format!("{keys:?}"), r#"SigningKeys { signs_with: "2026-11", accepts: ["2026-10", "2026-11"] }"#);
/// # Ok::<_, haft_executor::SigningKeyError>(())
/// ```
#[derive(Clone)]
pub struct SigningKeys {
    current: String,
    secrets: Arc<BTreeMap<String, KeyBytes>>,
}

#[derive(Clone)]
struct KeyBytes(Vec<u8>);

/// An invalid signing key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SigningKeyError {
    /// The secret is too short to be secure.
    #[error("the secret of the key `{key_id}` has {length} bytes, but at least 16 are required; use 32")]
    TooShort {
        /// The id of the key.
        key_id: String,
        /// The length of the secret in bytes.
        length: usize,
    },
    /// Two keys have the same id.
    #[error("the key id `{key_id}` is used twice; every key requires a unique id")]
    Repeated {
        /// The id of both keys.
        key_id: String,
    },
}

impl SigningKeys {
    /// Creates a set of one key, which signs and verifies.
    pub fn new(key_id: impl Into<String>, secret: impl AsRef<[u8]>) -> Result<Self, SigningKeyError> {
        let current = key_id.into();
        let keys = Self { current: current.clone(), secrets: Arc::default() };
        keys.accepting(current, secret)
    }

    /// Adds a key that verifies but does not sign, such as one that was in use before.
    pub fn accepting(mut self, key_id: impl Into<String>, secret: impl AsRef<[u8]>) -> Result<Self, SigningKeyError> {
        let (key_id, secret) = (key_id.into(), secret.as_ref());
        if secret.len() < LEAST_SECRET {
            return Err(SigningKeyError::TooShort { key_id, length: secret.len() });
        }
        if self.secrets.contains_key(&key_id) {
            return Err(SigningKeyError::Repeated { key_id });
        }
        Arc::make_mut(&mut self.secrets).insert(key_id, KeyBytes(secret.to_vec()));
        Ok(self)
    }

    /// Signs an approval request with the newest key, replacing any earlier signature.
    pub fn sign(&self, request: &mut ApprovalRequest) {
        request.signature = self.mac(&self.current, &signed_text(request)).map(|mac| {
            let mut written = String::new();
            push_hex(&mut written, &mac.finalize().into_bytes());
            RequestSignature::new(self.current.clone(), written)
        });
    }

    /// Checks that an approval request carries a valid signature and was not modified since it was signed.
    pub fn verify(&self, request: &ApprovalRequest) -> Result<(), VerdictFault> {
        let signature = request.signature.as_ref().ok_or(VerdictFault::Unsigned)?;
        let given = read_hex(&signature.mac).ok_or(VerdictFault::Forged)?;
        let is_signed = |text: String| {
            let mac = self.mac(&signature.key_id, &text);
            let mac = mac.ok_or_else(|| VerdictFault::UnknownKey { key_id: signature.key_id.clone() })?;
            // `verify_slice` compares in constant time.
            mac.verify_slice(&given).map_err(|_| VerdictFault::Forged)
        };
        match is_signed(signed_text(request)) {
            Err(VerdictFault::Forged) if is_signed(text_without_run(request)).is_ok() => {
                Err(VerdictFault::OutdatedSignature)
            }
            verified => verified,
        }
    }

    fn mac(&self, key_id: &str, text: &str) -> Option<Hmac<Sha256>> {
        let KeyBytes(secret) = self.secrets.get(key_id)?;
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        mac.update(text.as_bytes());
        Some(mac)
    }
}

/// Returns the text that a signature covers: everything the approver is presented with, and everything that binds a
/// verdict. The ids of the run and of the call are the call's idempotency key.
fn signed_text(request: &ApprovalRequest) -> String {
    let mut covered = shown(request);
    covered["run_id"] = json!(request.run_id);
    covered["index"] = json!(request.index);
    format!("{DOMAIN}{}", canonical_text(&covered))
}

/// Returns the text that signatures of an earlier version cover.
fn text_without_run(request: &ApprovalRequest) -> String {
    format!("{DOMAIN_WITHOUT_RUN}{}", canonical_text(&shown(request)))
}

fn shown(request: &ApprovalRequest) -> Value {
    let mut shown = json!({
        "request_id": request.request_id,
        "call_id": request.call_id,
        "tool": request.tool,
        "arguments": request.arguments,
        "digest": request.digest,
        "expires_at": request.expires_at,
    });
    if let Some(question) = &request.question {
        shown["question"] = json!(question);
    }
    shown
}

fn read_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
}

impl fmt::Debug for SigningKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let accepts: Vec<_> = self.secrets.keys().collect();
        f.debug_struct("SigningKeys").field("signs_with", &self.current).field("accepts", &accepts).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_core::{Timestamp, ToolCall};

    const OLD: &[u8] = b"the secret of the month before..";
    const NEW: &[u8] = b"a secret of thirty-two bytes....";

    fn unsigned() -> ApprovalRequest {
        let call = ToolCall::new("c1", "pay", "5");
        ApprovalRequest::new("q1", &call).digest("sha256:00").expires_at(Timestamp::from_unix_millis(7))
    }

    fn signed(keys: &SigningKeys) -> ApprovalRequest {
        let mut request = unsigned();
        keys.sign(&mut request);
        request
    }

    #[test]
    fn a_signature_is_valid_only_for_the_unmodified_request() {
        let keys = SigningKeys::new("k", NEW).unwrap();
        let request = signed(&keys);
        assert_eq!(keys.verify(&request), Ok(()));
        let changes: [fn(&mut ApprovalRequest); 9] = [
            |request| request.tool = "refund".into(),
            |request| request.arguments = "6".into(),
            |request| request.request_id = "q2".into(),
            |request| request.call_id = "c2".into(),
            |request| request.digest = "sha256:01".into(),
            |request| request.expires_at = None,
            |request| request.run_id = Some("another".into()),
            |request| request.index = Some(1),
            |request| request.expires_at = Some(Timestamp::from_unix_millis(8)),
        ];
        for change in changes {
            let mut changed = request.clone();
            change(&mut changed);
            assert_eq!(keys.verify(&changed), Err(VerdictFault::Forged), "{changed:?}");
        }
        for mac in ["", "0", "zz", "00", &"0".repeat(64), "\u{e9}\u{e9}"] {
            let mut forged = request.clone();
            forged.signature = Some(RequestSignature::new("k", mac));
            assert_eq!(keys.verify(&forged), Err(VerdictFault::Forged), "{mac}");
        }
        assert_eq!(keys.verify(&unsigned()), Err(VerdictFault::Unsigned));
    }

    #[test]
    fn keys_can_be_rotated_while_requests_are_pending() {
        let before = SigningKeys::new("old", OLD).unwrap();
        let during = SigningKeys::new("new", NEW).unwrap().accepting("old", OLD).unwrap();
        let after = SigningKeys::new("new", NEW).unwrap();
        let signed_before = signed(&before);
        assert_eq!(during.verify(&signed_before), Ok(()));
        assert_eq!(signed(&during).signature.unwrap().key_id, "new");
        let gone = VerdictFault::UnknownKey { key_id: "old".into() };
        assert_eq!(after.verify(&signed_before), Err(gone));
        let same_id_other_secret = SigningKeys::new("old", NEW).unwrap();
        assert_eq!(same_id_other_secret.verify(&signed_before), Err(VerdictFault::Forged));
    }

    #[test]
    fn short_and_duplicate_keys_are_rejected() {
        let short = SigningKeys::new("k", b"short").unwrap_err();
        assert_eq!(short, SigningKeyError::TooShort { key_id: "k".into(), length: 5 });
        let repeated = SigningKeys::new("k", NEW).unwrap().accepting("k", OLD).unwrap_err();
        assert_eq!(repeated, SigningKeyError::Repeated { key_id: "k".into() });
    }

    #[test]
    fn debug_does_not_print_secrets() {
        let shown = format!("{:?}", SigningKeys::new("k", NEW).unwrap());
        assert!(!shown.contains("secret of") && !shown.contains("97"), "{shown}");
    }
}
