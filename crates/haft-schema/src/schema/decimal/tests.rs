//! Comparison of decimals with integers of arbitrary size.

use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use num_bigint::{BigInt, Sign};
use proptest::prelude::*;

use super::{Decimal, Divisor, DivisorFault, Number};
use crate::seeded::for_all;

/// A number as an integer and a power of ten.
struct ExactNumber {
    digits: BigInt,
    exponent: i64,
}

fn reference(text: &str) -> ExactNumber {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.parse::<i64>().unwrap() - i64::try_from(fraction.len()).unwrap();
    ExactNumber { digits: format!("{whole}{fraction}").parse().unwrap(), exponent }
}

/// Scales two numbers to the same power of ten.
fn aligned(a: &str, b: &str) -> (BigInt, BigInt) {
    let (a, b) = (reference(a), reference(b));
    let least = a.exponent.min(b.exponent);
    let scale =
        |number: ExactNumber| number.digits * BigInt::from(10).pow(u32::try_from(number.exponent - least).unwrap());
    (scale(a), scale(b))
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?([eE][+-]?[0-4])?",
        "-?(0|[1-9]0{0,4})(\\.0{1,4}[1-9]?)?([eE][+-]?[0-6])?",
        "-?(0|[1-9][0-9]{0,60})(\\.[0-9]{1,60})?([eE][+-]?[0-9]{1,2})?",
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?[eE][+-]?[0-9]{1,3}",
        any::<i128>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| format!("{number:e}")),
    ]
}

fn hash(decimal: Decimal<'_>) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(decimal)
}

fn is_multiple(value: &str, divisor: &str) -> bool {
    Decimal::parse(value).is_multiple_of(&Divisor::new(Number::parse(divisor)).unwrap())
}

fn assert_order(a: &str, b: &str, expected: Ordering) {
    let (left, right) = (Decimal::parse(a), Decimal::parse(b));
    assert_eq!(left.cmp(&right), expected, "{a} {b}");
    assert_eq!(right.cmp(&left), expected.reverse(), "{a} {b}");
    assert_eq!(left == right, expected.is_eq(), "{a} {b}");
    assert_eq!(Number::parse(a).as_decimal().cmp(&right), expected, "{a} {b}");
    if expected.is_eq() {
        assert_eq!(hash(left), hash(right), "{a} {b}");
    }
}

#[test]
fn numbers_are_ordered_by_exact_value() {
    for_all(2_000, (number(), number()), |(a, b)| {
        let (left, right) = aligned(&a, &b);
        assert_order(&a, &b, left.cmp(&right));
        Ok(())
    });
}

#[test]
fn a_number_equals_its_other_notations() {
    for_all(2_000, (number(), 0..30_usize), |(text, zeros)| {
        let ExactNumber { digits, exponent } = reference(&text);
        let zeros_text = "0".repeat(zeros);
        let shifted = exponent - i64::try_from(zeros).unwrap();
        assert_order(&text, &format!("{digits}{zeros_text}E{shifted}"), Ordering::Equal);
        assert_order(&text, &format!("{digits}.{zeros_text}0e+0{}", exponent.abs()), {
            let (left, right) = aligned(&text, &format!("{digits}e{}", exponent.abs()));
            left.cmp(&right)
        });
        Ok(())
    });
}

#[test]
fn integers_are_exact() {
    for_all(2_000, number(), |text| {
        let decimal = Decimal::parse(&text);
        let (value, one) = aligned(&text, "1");
        let whole = (&value % &one == BigInt::ZERO).then(|| value / one);
        prop_assert_eq!(decimal.is_integer(), whole.is_some());
        let whole = whole.as_ref();
        prop_assert_eq!(decimal.to_i128(), whole.and_then(|value| i128::try_from(value).ok()));
        prop_assert_eq!(decimal.to_u128(), whole.and_then(|value| u128::try_from(value).ok()));
        prop_assert_eq!(decimal.is_zero(), reference(&text).digits == BigInt::ZERO);
        prop_assert_eq!(decimal.is_negative, reference(&text).digits.sign() == Sign::Minus);
        prop_assert_eq!(decimal.to_f64().to_bits(), text.parse::<f64>().unwrap().to_bits());
        Ok(())
    });
}

#[test]
fn multiples_are_exact() {
    for_all(2_000, (number(), number(), any::<i64>()), |(value, divisor, factor)| {
        let Ok(parsed) = Divisor::new(Number::parse(&divisor)) else { return Ok(()) };
        let (a, b) = aligned(&value, &divisor);
        prop_assert_eq!(Decimal::parse(&value).is_multiple_of(&parsed), a % b == BigInt::ZERO);
        let ExactNumber { digits, exponent } = reference(&divisor);
        let product = format!("{}e{exponent}", digits * factor);
        prop_assert!(Decimal::parse(&product).is_multiple_of(&parsed));
        Ok(())
    });
}

#[test]
fn multiples_of_long_divisors_are_exact() {
    for_all(2_000, ("[1-9][0-9]{0,90}", "[1-9][0-9]{0,36}", 0..40_u32), |(a, b, zeros)| {
        let divisor = Divisor::new(Number::parse(&b)).unwrap();
        let (a, b): (BigInt, BigInt) = (a.parse().unwrap(), b.parse().unwrap());
        let scaled = format!("{a}e{zeros}");
        let expected = &a * BigInt::from(10).pow(zeros) % &b == BigInt::ZERO;
        prop_assert_eq!(Decimal::parse(&scaled).is_multiple_of(&divisor), expected);
        prop_assert!(Decimal::parse(&(&a * &b).to_string()).is_multiple_of(&divisor));
        Ok(())
    });
}

#[test]
fn whole_numbers_are_integers_in_every_notation() {
    for text in ["0", "-0", "0.0", "0e5", "0.000e-7", "3.0", "1e3", "1.5e1", "-20.00", "100e-2", "1e1000000"] {
        assert!(Decimal::parse(text).is_integer(), "{text}");
    }
    for text in ["4.99999999999999999999", "1e-400", "0.5", "1.5", "15e-1", "1e-999999999999999999999999"] {
        assert!(!Decimal::parse(text).is_integer(), "{text}");
        assert!(!Decimal::parse(text).is_zero(), "{text}");
    }
}

#[test]
fn conversions_fail_beyond_the_range_of_the_type() {
    let decimal = Decimal::parse;
    assert_eq!(Decimal::parse(&i128::MAX.to_string()).to_i128(), Some(i128::MAX));
    assert_eq!(decimal("170141183460469231731687303715884105728").to_i128(), None);
    assert_eq!(Decimal::parse(&i128::MIN.to_string()).to_i128(), Some(i128::MIN));
    assert_eq!(Decimal::parse(&u128::MAX.to_string()).to_u128(), Some(u128::MAX));
    assert_eq!(decimal("340282366920938463463374607431768211456").to_u128(), None);
    assert_eq!(decimal("1e38").to_u128(), Some(10_u128.pow(38)));
    assert_eq!(decimal("1e39").to_u128(), None);
    assert_eq!(decimal("1e99999999999999999999").to_u128(), None);
    assert_eq!(decimal("-0").to_u128(), Some(0));
    assert_eq!(decimal("-1").to_u128(), None);
    assert!(decimal("1e400").to_f64().is_infinite());
}

#[test]
fn huge_exponents_keep_their_order() {
    let ascending = [
        "-1e99999999999999999999999",
        "-2e1000000",
        "-1e1000000",
        "-1",
        "-1e-1000000",
        "-1e-99999999999999999999999",
        "0",
        "1e-99999999999999999999999",
        "1e-1000001",
        "9.99e-1000001",
        "1e-1000000",
        "0.1",
        "1e1000000",
        "1e99999999999999999999999",
    ];
    for (at, a) in ascending.iter().enumerate() {
        for (other, b) in ascending.iter().enumerate() {
            assert_order(a, b, at.cmp(&other));
        }
    }
}

#[test]
fn multiples_are_exact_for_any_digits_and_exponents() {
    assert!(is_multiple("0.3", "0.1"));
    assert!(!is_multiple("0.35", "0.1"));
    assert!(!is_multiple("9007199254740993", "2"));
    assert!(is_multiple("9007199254740994", "2"));
    assert!(!is_multiple("1e308", "123456789"));
    assert!(is_multiple("123456789e300", "123456789"));
    assert!(is_multiple("0.0075", "0.0001"));
    assert!(!is_multiple("0.00751", "0.0001"));
    assert!(is_multiple("12391239123", "1e-8"));
    assert!(is_multiple("1e-8", "1e-8"));
    assert!(!is_multiple("1e-9", "1e-8"));
    assert!(is_multiple("1180591620717411303424", "8"));
    assert!(!is_multiple("1180591620717411303425", "8"));
    assert!(is_multiple("0", "7") && is_multiple("-0.0", "1e-300"));
    assert!(is_multiple("-9", "3.0") && is_multiple("1e3", "1e3") && !is_multiple("1e2", "1e3"));
    assert!(is_multiple("1e1000000", "1024") && !is_multiple("1e1000000", "3"));
    assert!(is_multiple("1e99999999999999999999", "0.5"));
    assert!(!is_multiple("1e-99999999999999999999", "1e-300"));
    assert!(is_multiple(&"9".repeat(1_000_000), "9999999999999999"));
}

#[test]
fn invalid_divisors_are_rejected() {
    let fault = |text: &str| Divisor::new(Number::parse(text)).unwrap_err();
    assert_eq!(fault("0"), DivisorFault::NotPositive);
    assert_eq!(fault("-2"), DivisorFault::NotPositive);
    assert_eq!(fault(&"1".repeat(38)), DivisorFault::TooManyDigits { digits: 38, max: 37 });
    assert_eq!(fault("1e-99999999999999999999"), DivisorFault::ExponentOutOfRange);
    assert!(Divisor::new(Number::parse(&format!("{}{}", "9".repeat(37), "0".repeat(1_000)))).is_ok());
}

#[test]
fn long_numbers_are_shortened_in_messages() {
    assert_eq!(Decimal::parse("1.50").to_string(), "1.50");
    assert_eq!(Number::parse("-1E+5").to_string(), "-1E+5");
    let text = "1234567890".repeat(4);
    assert_eq!(Number::parse(&text).to_string(), text);
    let shown = Decimal::parse(&format!("{}e-300", "1234567890".repeat(100_000))).to_string();
    assert_eq!(shown, "1234567890123456789012345678901…890e-300");
    assert_eq!(shown.chars().count(), 40);
}
