//! Which declared properties of an object were met.

/// Which declared properties were there: a bit each.
#[derive(Default)]
pub(super) struct Seen {
    low: u64,
    /// Those beyond the first 64, if one of them was there.
    high: Option<Box<[u64]>>,
}

impl Seen {
    /// Marks one; `false` if it was marked before.
    #[inline]
    pub(super) fn insert(&mut self, at: usize) -> bool {
        if at < 64 { mark(&mut self.low, at) } else { self.insert_beyond(at - 64) }
    }

    #[cold]
    fn insert_beyond(&mut self, at: usize) -> bool {
        let mut words = self.high.take().map(Vec::from).unwrap_or_default();
        if words.len() <= at / 64 {
            words.resize(at / 64 + 1, 0);
        }
        let new = mark(&mut words[at / 64], at % 64);
        self.high = Some(words.into());
        new
    }
}

#[inline]
fn mark(word: &mut u64, at: usize) -> bool {
    let bit = 1 << at;
    let new = *word & bit == 0;
    *word |= bit;
    new
}
