//! Unguessable ids.

use crate::item::ApprovalId;

impl ApprovalId {
    /// Creates an id that can't be guessed.
    pub(crate) fn random() -> Self {
        Self::from(format!("approval_{:032x}", random()))
    }
}

/// Returns 128 random bits from the operating system.
#[cfg(feature = "approval")]
fn random() -> u128 {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_ne_bytes(bytes),
        Err(_) => keyed(),
    }
}

#[cfg(not(feature = "approval"))]
fn random() -> u128 {
    keyed()
}

/// Returns 128 bits of a keyed hash whose keys the process chose at random.
fn keyed() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static COUNT: AtomicU64 = AtomicU64::new(0);
    static KEYS: OnceLock<[RandomState; 2]> = OnceLock::new();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let [high, low] = KEYS.get_or_init(Default::default).each_ref().map(|keys| keys.hash_one(count));
    (u128::from(high) << 64) | u128::from(low)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_unique() {
        let ids: HashSet<_> = (0..1_000).map(|_| ApprovalId::random()).collect();
        assert_eq!(ids.len(), 1_000);
        let keyed: HashSet<_> = (0..1_000).map(|_| keyed()).collect();
        assert_eq!(keyed.len(), 1_000);
    }
}
