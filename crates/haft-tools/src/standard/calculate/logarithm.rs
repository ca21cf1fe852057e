//! Logarithms, including those of numbers that no float can hold.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive};

use super::arithmetic::power;
use super::fault::CalculationFault;
use super::number::{Number, NumberValue};
use super::work::WorkBudget;

const POSITIVE: &str = "a number greater than zero";

/// Returns the natural logarithm.
pub(super) fn natural(x: &Number) -> Result<Number, CalculationFault> {
    if let NumberValue::Fraction(value) = &x.value
        && value.is_one()
    {
        return Number::integer(0);
    }
    Number::float(logarithm(x, "ln(x)")?, "ln(x)")
}

/// Returns the logarithm to a base, as an integer if it is one.
pub(super) fn to_base(x: &Number, base: &Number, work: &mut WorkBudget<'_>) -> Result<Number, CalculationFault> {
    let (above, below) = (logarithm(x, "log(x, base)")?, logarithm(base, "log(x, base)")?);
    let is_one = matches!(&base.value, NumberValue::Fraction(value) if value.is_one());
    if is_one || below == 0.0 {
        return Err(CalculationFault::Domain { what: "log(x, base)", requirement: "a base other than 1" });
    }
    let quotient = above / below;
    let nearest = quotient.round();
    if let NumberValue::Fraction(value) = &x.value
        && let Some(integer) = nearest.to_i32().filter(|_| (quotient - nearest).abs() < 1e-6)
    {
        let candidate = Number::integer(integer)?;
        match power(base, &candidate, work) {
            Ok(found) if found.value == NumberValue::Fraction(value.clone()) => return Ok(candidate),
            Ok(_) | Err(CalculationFault::TooLarge { .. } | CalculationFault::OutOfRange) => {}
            Err(fault) => return Err(fault),
        }
    }
    // The library's own functions are exact to the last digit; a quotient is not.
    let value = match (x.to_float(), base.to_float()) {
        (Ok(x), Ok(10.0)) if x > 0.0 => x.log10(),
        (Ok(x), Ok(2.0)) if x > 0.0 => x.log2(),
        _ => quotient,
    };
    Number::float(value, "log(x, base)")
}

fn logarithm(x: &Number, what: &'static str) -> Result<f64, CalculationFault> {
    if x.is_negative() || x.is_zero() {
        return Err(CalculationFault::Domain { what, requirement: POSITIVE });
    }
    Ok(match (&x.value, x.to_float()) {
        (_, Ok(value)) if value >= f64::MIN_POSITIVE => value.ln(),
        (NumberValue::Float(value), _) => value.ln(),
        (NumberValue::Fraction(value), _) => of_fraction(value),
    })
}

/// Returns the logarithm of a fraction beyond the float range.
fn of_fraction(value: &BigRational) -> f64 {
    of_integer(&value.numer().abs()) - of_integer(value.denom())
}

/// Returns a positive integer's logarithm, from its first 64 bits and the power of two that they are multiplied by.
fn of_integer(value: &BigInt) -> f64 {
    let shift = value.bits().saturating_sub(64);
    let leading = (value >> shift).to_f64().unwrap_or(1.0);
    #[allow(clippy::cast_precision_loss, reason = "numbers have at most a few ten thousand bits")]
    let shift = shift as f64;
    leading.ln() + shift * std::f64::consts::LN_2
}
