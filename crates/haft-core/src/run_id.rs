//! The identity of a run, and the idempotency keys of its calls.
//!
//! An id is created when it is first asked for: a run whose handlers never ask has none, and pays for none. From then
//! on it is the same for all calls of the run. A run that is suspended stores its id, so that a call that is resumed
//! later, perhaps twice because a process died, has the key that it would have had before.

use std::fmt;
use std::sync::OnceLock;

use crate::approval::push_hex;
use crate::call::CallId;
use crate::executor::CallHandle;
use crate::random::{Serial, random_bits};
use crate::text_id::text_id;

text_id! {
    /// The id of a run: 32 lower-case hexadecimal digits of random bits, unless the application
    /// [sets](crate::RunOptions::run_id) its own text.
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

    fn of_bits(bits: u128) -> Self {
        format!("{bits:032x}").into()
    }
}

/// The id of a run, which is created when it is first read.
#[derive(Default)]
pub(crate) struct LazyRunId(OnceLock<RunId>);

impl LazyRunId {
    pub(crate) fn get(&self) -> &RunId {
        self.0.get_or_init(RunId::random)
    }
}

impl From<Option<RunId>> for LazyRunId {
    fn from(known: Option<RunId>) -> Self {
        Self(known.map_or_else(OnceLock::new, OnceLock::from))
    }
}

impl fmt::Debug for LazyRunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.get(), f)
    }
}

/// The source of the run id of an owned context.
#[derive(Clone)]
pub(crate) enum RunIdSource {
    /// The call is the only one of its run, so the id is derived from a number that no other call has.
    Alone(Serial),
    /// The run that the call is part of.
    Run(CallHandle),
    /// The id was set.
    Known(RunId),
}

impl RunIdSource {
    pub(crate) fn run_id(&self) -> RunId {
        match self {
            Self::Alone(serial) => RunId::of_bits(serial.bits()),
            Self::Run(handle) => handle.run_id().clone(),
            Self::Known(run_id) => run_id.clone(),
        }
    }
}

/// Returns the idempotency key of a call: a SHA-256 hash of both ids, in hexadecimal.
///
/// The hash covers the length of the first id, so that no two pairs of ids have the same text. It must not change from
/// version to version: a call that was suspended by an earlier one keeps its key.
pub(crate) fn idempotency_key(run_id: &RunId, call_id: &CallId) -> String {
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
