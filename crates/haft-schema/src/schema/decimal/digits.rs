//! The digits of a number, borrowed from its text.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The most digits that always fit into a `u64`.
const CHUNK: usize = 19;

/// Decimal digits in two parts, because a decimal point may separate them. Its position is not stored.
#[derive(Clone, Copy)]
pub(super) struct Digits<'t> {
    head: &'t str,
    tail: &'t str,
}

impl<'t> Digits<'t> {
    pub(super) fn new(head: &'t str, tail: &'t str) -> Self {
        Self { head, tail }
    }

    pub(super) fn parts(self) -> (&'t str, &'t str) {
        (self.head, self.tail)
    }

    pub(super) fn len(self) -> usize {
        self.head.len() + self.tail.len()
    }

    pub(super) fn is_empty(self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    pub(super) fn to_u128(self) -> Option<u128> {
        if self.len() <= CHUNK {
            return Some(u128::from(self.iter().fold(0, |value, digit| value * 10 + u64::from(digit))));
        }
        // Without leading zeros, more than 39 digits exceed `u128`; this also bounds the loop.
        if self.len() > 39 {
            return None;
        }
        self.iter().try_fold(0_u128, |value, digit| value.checked_mul(10)?.checked_add(u128::from(digit)))
    }

    /// Returns the remainder of the division by `divisor`, which is not 0 and has at most 37 digits.
    pub(super) fn remainder(self, divisor: u128) -> u128 {
        let (step, width) = step_below(divisor);
        let mut rest = 0;
        let mut chunk = 0;
        let mut chunk_width = 0;
        for digit in self.iter() {
            chunk = chunk * 10 + u128::from(digit);
            chunk_width += 1;
            if chunk_width == width {
                rest = (rest * step + chunk) % divisor;
                chunk = 0;
                chunk_width = 0;
            }
        }
        (rest * 10_u128.pow(chunk_width) + chunk) % divisor
    }

    fn iter(self) -> impl Iterator<Item = u8> {
        self.head.bytes().chain(self.tail.bytes()).map(|byte| byte.wrapping_sub(b'0'))
    }
}

/// Returns the number of digits that one step of a division processes without overflow, as a power of ten and its
/// exponent. A step computes `rest * step + chunk`, which is below `divisor * step` as `rest < divisor` and `chunk <
/// step`.
fn step_below(divisor: u128) -> (u128, u32) {
    let mut step = 10;
    let mut width = 1;
    while width < 18 && divisor.checked_mul(step * 10).is_some() {
        step *= 10;
        width += 1;
    }
    (step, width)
}

/// Compares the fractions `0.digits`. Without trailing zeros, digits that continue others are greater.
impl Ord for Digits<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl PartialOrd for Digits<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Digits<'_> {}

impl PartialEq for Digits<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Hash for Digits<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut chunk = 0_u64;
        for (at, digit) in self.iter().enumerate() {
            if at > 0 && at % CHUNK == 0 {
                state.write_u64(chunk);
                chunk = 0;
            }
            chunk = chunk * 10 + u64::from(digit);
        }
        state.write_u64(chunk);
        state.write_usize(self.len());
    }
}
