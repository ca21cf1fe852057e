//! Exact divisibility, for `multipleOf`.

use std::fmt;

use super::{Decimal, MAX_EXPONENT, Number};

/// The most digits of a divisor. One more would overflow the arithmetic.
const MAX_DIGITS: usize = 37;

/// A number that others can be multiples of.
#[derive(Clone)]
pub(crate) struct Divisor {
    number: Number,
    digits: u128,
    exponent: i64,
}

/// The reason why a number cannot be a divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DivisorFault {
    /// It is zero or negative.
    NotPositive,
    /// It has more significant digits than are supported.
    TooManyDigits { digits: usize, max: usize },
    /// Its exponent is out of range.
    ExponentOutOfRange,
}

impl Divisor {
    pub(crate) fn new(number: Number) -> Result<Self, DivisorFault> {
        let decimal = number.as_decimal();
        if decimal.is_zero() || decimal.is_negative {
            return Err(DivisorFault::NotPositive);
        }
        if decimal.exponent.abs() >= MAX_EXPONENT / 2 {
            return Err(DivisorFault::ExponentOutOfRange);
        }
        let too_many = DivisorFault::TooManyDigits { digits: decimal.digits.len(), max: MAX_DIGITS };
        if decimal.digits.len() > MAX_DIGITS {
            return Err(too_many);
        }
        let digits = decimal.digits.to_u128().ok_or(too_many)?;
        let exponent = decimal.exponent;
        Ok(Self { number, digits, exponent })
    }

    pub(crate) fn number(&self) -> &Number {
        &self.number
    }
}

impl fmt::Debug for Divisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Divisor({})", self.number)
    }
}

impl Decimal<'_> {
    /// Reports whether the value is `divisor` times some integer.
    pub(crate) fn is_multiple_of(self, divisor: &Divisor) -> bool {
        if self.is_zero() {
            return true;
        }
        // With the value a * 10^p and the divisor b * 10^q, b must divide a * 10^(p - q). The last digit of a is not
        // zero, so a is not a multiple of 10, and the value is not a multiple if p < q.
        let Some(zeros) = self.exponent.checked_sub(divisor.exponent).filter(|zeros| *zeros >= 0) else {
            return false;
        };
        // 10^zeros supplies that many factors 2 and 5 of b; a must supply the rest.
        let rest = without_factor(without_factor(divisor.digits, 2, zeros), 5, zeros);
        self.digits.remainder(rest) == 0
    }
}

/// Divides out a factor, at most `times` times.
fn without_factor(mut value: u128, factor: u128, times: i64) -> u128 {
    for _ in 0..times {
        if !value.is_multiple_of(factor) {
            break;
        }
        value /= factor;
    }
    value
}
