//! Numbers: exact fractions where the mathematics allows it, floats elsewhere.
//!
//! `exact` is a separate property. Rounding a float leads to an integer, which further functions can take, but the
//! result is still not exact. Once it is unset, nothing sets it again.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::fault::CalculationFault;
use super::token::Literal;
use super::work::WorkBudget;

/// The most digits in a numerator or denominator.
pub(super) const MAX_DIGITS: u32 = 10_000;
/// The bits in a number with that many digits.
pub(super) const MAX_BITS: u64 = 33_220;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) value: NumberValue,
    /// True if the calculation involved no approximation.
    pub(super) exact: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum NumberValue {
    Fraction(BigRational),
    /// Always finite.
    Float(f64),
}

/// A named number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constant {
    Pi,
    Tau,
    E,
    Phi,
}

impl Constant {
    /// Returns the constant with a lower-case name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "pi" => Self::Pi,
            "tau" => Self::Tau,
            "e" => Self::E,
            "phi" => Self::Phi,
            _ => return None,
        })
    }

    pub(super) fn number(self) -> Number {
        let value = match self {
            Self::Pi => std::f64::consts::PI,
            Self::Tau => std::f64::consts::TAU,
            Self::E => std::f64::consts::E,
            Self::Phi => 1.618_033_988_749_895,
        };
        Number { value: NumberValue::Float(value), exact: false }
    }
}

impl Number {
    /// Creates an exact number within the digit limit.
    pub(super) fn fraction(value: BigRational) -> Result<Self, CalculationFault> {
        let too_large = value.numer().bits() > MAX_BITS || value.denom().bits() > MAX_BITS;
        if too_large { Err(too_many_digits()) } else { Ok(Self { value: NumberValue::Fraction(value), exact: true }) }
    }

    pub(super) fn integer(value: impl Into<BigInt>) -> Result<Self, CalculationFault> {
        Self::fraction(BigRational::from_integer(value.into()))
    }

    /// Creates an approximate number. `what` describes a result that is not a number.
    pub(super) fn float(value: f64, what: &'static str) -> Result<Self, CalculationFault> {
        match value {
            _ if value.is_nan() => Err(CalculationFault::NotReal { what }),
            _ if value.is_infinite() => Err(CalculationFault::OutOfRange),
            _ => Ok(Self { value: NumberValue::Float(value), exact: false }),
        }
    }

    pub(super) fn literal(literal: &Literal, work: &mut WorkBudget<'_>) -> Result<Self, CalculationFault> {
        let size = literal.exponent.unsigned_abs();
        // A factor 10^n, and no division unless there is a fraction.
        work.charge_multiply(literal.digits.bits(), u64::from(size) * 4)?;
        let digits = literal.digits.clone();
        if literal.exponent >= 0 {
            return Self::integer(digits * power_of_ten(size));
        }
        work.charge_reduce(literal.digits.bits(), u64::from(size) * 4)?;
        Self::fraction(BigRational::new(digits, power_of_ten(size)))
    }

    /// Returns the number with `exact` unset unless its inputs are exact.
    pub(super) fn and_exact(mut self, inputs: bool) -> Self {
        self.exact &= inputs;
        self
    }

    /// Returns the value as a float, if it is in range.
    pub(super) fn to_float(&self) -> Result<f64, CalculationFault> {
        match &self.value {
            NumberValue::Float(value) => Ok(*value),
            NumberValue::Fraction(value) => {
                value.to_f64().filter(|value| value.is_finite()).ok_or(CalculationFault::OutOfRange)
            }
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        match &self.value {
            NumberValue::Fraction(value) => value.is_zero(),
            NumberValue::Float(value) => *value == 0.0,
        }
    }

    pub(super) fn is_negative(&self) -> bool {
        match &self.value {
            NumberValue::Fraction(value) => value.is_negative(),
            NumberValue::Float(value) => *value < 0.0,
        }
    }

    /// Returns the value if it is an integer.
    pub(super) fn to_integer(&self) -> Option<BigInt> {
        match &self.value {
            NumberValue::Fraction(value) => value.is_integer().then(|| value.to_integer()),
            NumberValue::Float(value) => (value.fract() == 0.0)
                .then(|| BigRational::from_float(*value))
                .flatten()
                .map(|value| value.to_integer()),
        }
    }

    /// Returns the value as a fraction. A float gives exactly its own value.
    pub(super) fn to_fraction(&self) -> BigRational {
        match &self.value {
            NumberValue::Fraction(value) => value.clone(),
            NumberValue::Float(value) => BigRational::from_float(*value).unwrap_or_else(BigRational::zero),
        }
    }
}

pub(super) fn too_many_digits() -> CalculationFault {
    CalculationFault::TooLarge { digits: MAX_DIGITS }
}

pub(super) fn power_of_ten(exponent: u32) -> BigInt {
    if exponent == 0 { BigInt::one() } else { BigInt::from(10).pow(exponent) }
}
