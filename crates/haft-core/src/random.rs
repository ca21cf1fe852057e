//! Random bits for ids.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that this process gives out once.
///
/// It stands for an id that may never be asked for: taking one is a single atomic addition, and [`Serial::bits`]
/// derives the id from it later, always the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serial(u64);

impl Serial {
    /// Returns the next number.
    #[inline]
    pub fn next() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Self(COUNT.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns 128 bits of a keyed hash of the number, whose keys the process chose at random.
    pub fn bits(self) -> u128 {
        static KEYS: OnceLock<[RandomState; 2]> = OnceLock::new();
        let [high, low] = KEYS.get_or_init(Default::default).each_ref().map(|keys| keys.hash_one(self.0));
        (u128::from(high) << 64) | u128::from(low)
    }
}

/// Returns 128 random bits from the operating system.
pub(crate) fn random_bits() -> u128 {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_ne_bytes(bytes),
        Err(_) => Serial::next().bits(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn bits_are_unique_and_those_of_a_serial_stay_the_same() {
        let random: HashSet<_> = (0..1_000).map(|_| random_bits()).collect();
        assert_eq!(random.len(), 1_000);
        let serials: Vec<_> = (0..1_000).map(|_| Serial::next()).collect();
        let bits: HashSet<_> = serials.iter().map(|serial| serial.bits()).collect();
        assert_eq!(bits.len(), 1_000);
        assert!(serials.iter().all(|serial| serial.bits() == serial.bits()));
    }
}
