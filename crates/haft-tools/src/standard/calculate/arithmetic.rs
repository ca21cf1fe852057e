//! The operators.
//!
//! Integers and fractions are exact. If a fraction's exact result has too many digits, the operation is repeated with
//! floats. An integer with too many is a fault, because its digits were the question.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::fault::CalculationFault;
use super::number::{MAX_BITS, Number, NumberValue, too_many_digits};
use super::program::InfixOperator;
use super::work::WorkBudget;

/// The largest root that is looked for exactly.
const MAX_ROOT: u32 = 64;
/// The largest number whose factorial has at most [`MAX_DIGITS`](super::number::MAX_DIGITS) digits.
const MAX_FACTORIAL: u32 = 3_248;

/// Applies an operator.
pub(super) fn operate(
    operator: InfixOperator,
    left: &Number,
    right: &Number,
    work: &mut WorkBudget<'_>,
) -> Result<Number, CalculationFault> {
    let divides = matches!(operator, InfixOperator::Divide | InfixOperator::FloorDivide | InfixOperator::Remainder);
    if divides && right.is_zero() {
        return Err(CalculationFault::DivisionByZero);
    }
    let exact = match (&left.value, &right.value) {
        (NumberValue::Fraction(a), NumberValue::Fraction(b)) if a.is_integer() && b.is_integer() => {
            Some(on_integers(operator, a.numer(), b.numer(), work)?)
        }
        (NumberValue::Fraction(a), NumberValue::Fraction(b)) => unless_too_large(on_fractions(operator, a, b, work))?,
        _ => None,
    };
    let result = match exact {
        Some(result) => result,
        None => on_floats(operator, left.to_float()?, right.to_float()?)?,
    };
    Ok(result.and_exact(left.exact && right.exact))
}

/// Returns a number to another's power.
pub(super) fn power(base: &Number, exponent: &Number, work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
    if base.is_zero() {
        return match () {
            () if exponent.is_zero() => Err(CalculationFault::ZeroToZero),
            () if exponent.is_negative() => Err(CalculationFault::DivisionByZero),
            () => Ok(Number::integer(0)?.and_exact(base.exact && exponent.exact)),
        };
    }
    let exact = match (&base.value, &exponent.value) {
        (NumberValue::Fraction(b), NumberValue::Fraction(e)) if b.is_integer() && e.is_integer() => {
            Some(integer_power(b, e.numer(), work)?)
        }
        (NumberValue::Fraction(b), NumberValue::Fraction(e)) if e.is_integer() => {
            unless_too_large(integer_power(b, e.numer(), work))?
        }
        (NumberValue::Fraction(b), NumberValue::Fraction(e)) if !b.is_negative() => rooted_power(b, e, work)?,
        _ => None,
    };
    let result = match exact {
        Some(result) => result,
        None => Number::float(base.to_float()?.powf(exponent.to_float()?), "a negative number to a fractional power")?,
    };
    Ok(result.and_exact(base.exact && exponent.exact))
}

/// Returns the negated number.
pub(super) fn negate(number: Number) -> Number {
    let value = match number.value {
        NumberValue::Fraction(value) => NumberValue::Fraction(-value),
        NumberValue::Float(value) => NumberValue::Float(-value),
    };
    Number { value, exact: number.exact }
}

/// Returns a non-negative integer's factorial.
pub(super) fn factorial(number: &Number, work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
    let requirement = "an integer that is not negative";
    let n = number
        .to_integer()
        .filter(|n| !n.is_negative())
        .ok_or(CalculationFault::Domain { what: "a factorial", requirement })?;
    let n = n.to_u32().filter(|n| *n <= MAX_FACTORIAL).ok_or_else(too_many_digits)?;
    work.charge_multiply(MAX_BITS, u64::from(n) * 64)?;
    let product = (2..=n).fold(BigInt::one(), |product, factor| product * factor);
    Ok(Number::integer(product)?.and_exact(number.exact))
}

/// Returns `None` for a result with too many digits, which floats can approximate.
fn unless_too_large(result: Result<Number, CalculationFault>) -> Result<Option<Number>, CalculationFault> {
    match result {
        Err(CalculationFault::TooLarge { .. }) => Ok(None),
        result => result.map(Some),
    }
}

fn on_integers(
    operator: InfixOperator,
    left: &BigInt,
    right: &BigInt,
    work: &mut WorkBudget<'_>,
) -> Result<Number, CalculationFault> {
    let (a, b) = (left.bits(), right.bits());
    match operator {
        InfixOperator::Add | InfixOperator::Subtract => work.charge_linear(a.max(b))?,
        InfixOperator::Multiply | InfixOperator::FloorDivide | InfixOperator::Remainder => {
            work.charge_multiply(a, b)?;
        }
        InfixOperator::Divide => work.charge_reduce(a, b)?,
    }
    match operator {
        InfixOperator::Add => Number::integer(left + right),
        InfixOperator::Subtract => Number::integer(left - right),
        InfixOperator::Multiply => Number::integer(left * right),
        InfixOperator::Divide => Number::fraction(BigRational::new(left.clone(), right.clone())),
        InfixOperator::FloorDivide => Number::integer(floored(left, right).0),
        InfixOperator::Remainder => Number::integer(floored(left, right).1),
    }
}

/// Each operation multiplies across and reduces what it gets.
fn on_fractions(
    operator: InfixOperator,
    left: &BigRational,
    right: &BigRational,
    work: &mut WorkBudget<'_>,
) -> Result<Number, CalculationFault> {
    let (a, b) = (left.numer().bits(), right.numer().bits());
    let (c, d) = (left.denom().bits(), right.denom().bits());
    work.charge_multiply(a.max(c), b.max(d))?;
    match operator {
        InfixOperator::Multiply => work.charge_reduce(a + b, c + d)?,
        InfixOperator::Divide => work.charge_reduce(a + d, b + c)?,
        InfixOperator::Add | InfixOperator::Subtract => work.charge_reduce((a + d).max(b + c), c + d)?,
        InfixOperator::FloorDivide | InfixOperator::Remainder => {
            work.charge_reduce(a + d, b + c)?;
            work.charge_reduce(a + d, c + d)?;
        }
    }
    match operator {
        InfixOperator::Add => Number::fraction(left + right),
        InfixOperator::Subtract => Number::fraction(left - right),
        InfixOperator::Multiply => Number::fraction(left * right),
        InfixOperator::Divide => Number::fraction(left / right),
        InfixOperator::FloorDivide => Number::fraction((left / right).floor()),
        InfixOperator::Remainder => Number::fraction(left - right * (left / right).floor()),
    }
}

fn on_floats(operator: InfixOperator, left: f64, right: f64) -> Result<Number, CalculationFault> {
    let result = match operator {
        InfixOperator::Add => left + right,
        InfixOperator::Subtract => left - right,
        InfixOperator::Multiply => left * right,
        InfixOperator::Divide => left / right,
        InfixOperator::FloorDivide => (left / right).floor(),
        InfixOperator::Remainder => left - right * (left / right).floor(),
    };
    Number::float(result, "the result")
}

/// Returns quotient and remainder, where the remainder has the divisor's sign.
fn floored(left: &BigInt, right: &BigInt) -> (BigInt, BigInt) {
    let (quotient, remainder) = (left / right, left % right);
    if remainder.is_zero() || remainder.is_negative() == right.is_negative() {
        (quotient, remainder)
    } else {
        (quotient - 1, remainder + right)
    }
}

/// Returns a power with a fractional exponent if it is a fraction: 8^(2/3) is 4.
fn rooted_power(
    base: &BigRational,
    exponent: &BigRational,
    work: &mut WorkBudget<'_>,
) -> Result<Option<Number>, CalculationFault> {
    let Some(degree) = exponent.denom().to_u32().filter(|degree| *degree <= MAX_ROOT) else { return Ok(None) };
    let Some(root) = exact_root(base, degree, work)? else { return Ok(None) };
    unless_too_large(integer_power(&root, exponent.numer(), work))
}

/// Returns a power whose base is not zero.
fn integer_power(base: &BigRational, exponent: &BigInt, work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
    if base.numer().magnitude().is_one() && base.denom().is_one() {
        let negative = base.is_negative() && exponent.bit(0);
        return Number::integer(if negative { -1 } else { 1 });
    }
    let size = exponent.magnitude().to_u32().ok_or_else(too_many_digits)?;
    let bits = base.numer().bits().max(base.denom().bits());
    // The result has at least this many bits, and at most twice as many.
    let least = (bits - 1).saturating_mul(u64::from(size));
    if least > MAX_BITS {
        return Err(too_many_digits());
    }
    work.charge_multiply(least * 2, least * 2)?;
    let (numerator, denominator) = (base.numer().pow(size), base.denom().pow(size));
    // Powers of coprime numbers are coprime.
    let result = if !exponent.is_negative() {
        BigRational::new_raw(numerator, denominator)
    } else if numerator.is_negative() {
        BigRational::new_raw(-denominator, -numerator)
    } else {
        BigRational::new_raw(denominator, numerator)
    };
    Number::fraction(result)
}

/// Returns a non-negative fraction's root if it is a fraction.
pub(super) fn exact_root(
    value: &BigRational,
    root: u32,
    work: &mut WorkBudget<'_>,
) -> Result<Option<BigRational>, CalculationFault> {
    // Newton's method, in a few dozen steps with one division each.
    let bits = value.numer().bits().max(value.denom().bits());
    (0..32).try_for_each(|_| work.charge_multiply(bits, bits))?;
    let numerator = value.numer().nth_root(root);
    let denominator = value.denom().nth_root(root);
    let exact = numerator.pow(root) == *value.numer() && denominator.pow(root) == *value.denom();
    Ok(exact.then(|| BigRational::new_raw(numerator, denominator)))
}
