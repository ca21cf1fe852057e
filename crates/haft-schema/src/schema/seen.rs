//! The set of declared properties that an object contains.

/// A set of declared properties, one bit each.
#[derive(Debug, Default)]
pub(super) struct Seen {
    low: u64,
    high: Vec<u64>,
}

impl Seen {
    /// Adds a property; `false` if it was already present.
    #[inline]
    pub(super) fn insert(&mut self, at: usize) -> bool {
        if at < 64 { mark(&mut self.low, at) } else { self.insert_beyond(at - 64) }
    }

    /// Reports whether the set contains a property.
    pub(super) fn contains(&self, at: usize) -> bool {
        let word = if at < 64 { Some(&self.low) } else { self.high.get(at / 64 - 1) };
        word.is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    #[cold]
    fn insert_beyond(&mut self, at: usize) -> bool {
        if self.high.len() <= at / 64 {
            self.high.resize(at / 64 + 1, 0);
        }
        mark(&mut self.high[at / 64], at % 64)
    }
}

#[inline]
fn mark(word: &mut u64, at: usize) -> bool {
    let bit = 1 << at;
    let new = *word & bit == 0;
    *word |= bit;
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_property_is_new_once() {
        let mut seen = Seen::default();
        for at in [0, 63, 64, 65, 127, 128, 500, 1] {
            assert!(!seen.contains(at), "{at}");
            assert!(seen.insert(at), "{at}");
            assert!(seen.contains(at), "{at}");
            assert!(!seen.insert(at), "{at}");
        }
        assert!(!seen.contains(129) && !seen.contains(10_000));
        assert!(seen.insert(2));
    }
}
