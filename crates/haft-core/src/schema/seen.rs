//! Which declared properties of an object were met.

/// Which declared properties were there: a bit each.
#[derive(Default)]
pub(super) struct Seen {
    low: u64,
    high: Vec<u64>,
}

impl Seen {
    /// Marks one; `false` if it was marked before.
    #[inline]
    pub(super) fn insert(&mut self, at: usize) -> bool {
        let (word, bit) = (at / 64, 1_u64 << (at % 64));
        let word = match word.checked_sub(1) {
            None => &mut self.low,
            Some(beyond) => {
                if self.high.len() <= beyond {
                    self.high.resize(beyond + 1, 0);
                }
                &mut self.high[beyond]
            }
        };
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}
