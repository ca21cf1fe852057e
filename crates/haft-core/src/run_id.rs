//! The identity of a run, and the idempotency keys of its calls.

use crate::call::CallId;
use crate::digest::push_hex;
use crate::random::random_bits;
use crate::text_id::text_id;

text_id! {
    /// The id of a run: 32 lower-case hexadecimal digits of random bits, unless the application
    /// sets its own text.
    ///
    /// ```
    /// use haft_core::RunId;
    ///
    /// let id = RunId::random();
    /// assert_eq!(id.as_str().len(), 32);
    /// assert_ne!(id, RunId::random());
    /// assert_eq!(RunId::from("order-17"), "order-17");
    /// ```
    RunId
}

impl RunId {
    /// Creates an id of 128 random bits.
    #[must_use]
    pub fn random() -> Self {
        Self::of_bits(random_bits())
    }

    /// Creates the id of these bits.
    #[doc(hidden)]
    #[must_use]
    pub fn of_bits(bits: u128) -> Self {
        format!("{bits:032x}").into()
    }
}

/// Returns the idempotency key of a call: a SHA-256 hash of both ids, in hexadecimal.
///
/// The hash covers the length of the first id, so that no two pairs of ids have the same text. It must not change from
/// version to version: a call that was suspended by an earlier one keeps its key.
#[must_use]
pub fn idempotency_key(run_id: &RunId, call_id: &CallId) -> String {
    use sha2::{Digest, Sha256};

    let (run_id, call_id) = (run_id.as_str(), call_id.as_str());
    let text = format!("haft idempotency key 1:{}:{run_id}{call_id}", run_id.len());
    let mut key = String::with_capacity(64);
    push_hex(&mut key, &Sha256::digest(text));
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_stable_and_tells_ids_apart() {
        let key = |run_id: &str, call_id: &str| idempotency_key(&run_id.into(), &call_id.into());
        assert_eq!(key("run", "call"), "8a660909fb8d0c99d40fe228e757d942d7f949216f2202fdf0013b39367125db");
        assert_ne!(key("ab", "c"), key("a", "bc"));
        assert_ne!(key("", "1:a"), key("1:", "a"));
        assert_ne!(key("1", "1"), key("11", ""));
    }
}
