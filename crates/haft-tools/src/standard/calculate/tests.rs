//! Tests the parser and the arithmetic against independent evaluations. Known answers are in
//! `tests/it/standard/calculate.rs`.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, Zero};
use proptest::prelude::*;

use super::evaluate::evaluate;
use super::fault::CalculationFault;
use super::number::{Number, NumberValue};
use super::render::render;
use super::{calculate, fault};

fn value(expression: &str) -> Result<Number, fault::CalculationError> {
    evaluate(expression, &|| false)
}

/// An expression with its own evaluation, on a tree.
#[derive(Clone, Debug)]
enum Tree {
    Integer(i64),
    Decimal(i64, u8),
    Negative(Box<Tree>),
    Binary(char, Box<Tree>, Box<Tree>),
    Power(Box<Tree>, i8),
    Floor(Box<Tree>),
    Larger(Box<Tree>, Box<Tree>),
}

impl Tree {
    /// Returns `None` where the expression is undefined.
    fn evaluate(&self) -> Option<BigRational> {
        Some(match self {
            Self::Integer(value) => BigRational::from_integer((*value).into()),
            Self::Decimal(digits, places) => {
                BigRational::new((*digits).into(), BigInt::from(10).pow(u32::from(*places)))
            }
            Self::Negative(inner) => -inner.evaluate()?,
            Self::Floor(inner) => inner.evaluate()?.floor(),
            Self::Larger(left, right) => left.evaluate()?.max(right.evaluate()?),
            Self::Power(base, exponent) => {
                let base = base.evaluate()?;
                if base.is_zero() && *exponent <= 0 {
                    return None;
                }
                let size = exponent.unsigned_abs();
                let product = (0..size).fold(BigRational::from_integer(1.into()), |product, _| product * &base);
                if *exponent < 0 { product.recip() } else { product }
            }
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.evaluate()?, right.evaluate()?);
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ if right.is_zero() => return None,
                    '/' => left / right,
                    _ => &left - &right * (&left / &right).floor(),
                }
            }
        })
    }

    /// Writes the expression with as few parentheses as the precedence allows.
    fn text(&self) -> String {
        let wrapped = |tree: &Self, least: u8| {
            if tree.strength() < least { format!("({})", tree.text()) } else { tree.text() }
        };
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Decimal(digits, places) => format!("{digits}e-{places}"),
            Self::Negative(inner) => format!("-{}", wrapped(inner, 3)),
            Self::Floor(inner) => format!("floor({})", inner.text()),
            Self::Larger(left, right) => format!("max({}, {})", left.text(), right.text()),
            Self::Power(base, exponent) => format!("{}^{exponent}", wrapped(base, 5)),
            Self::Binary(operator @ ('+' | '-'), left, right) => {
                format!("{} {operator} {}", wrapped(left, 1), wrapped(right, 2))
            }
            Self::Binary(operator, left, right) => format!("{}{operator}{}", wrapped(left, 2), wrapped(right, 3)),
        }
    }

    fn strength(&self) -> u8 {
        match self {
            Self::Binary('+' | '-', ..) => 1,
            Self::Binary(..) => 2,
            Self::Negative(_) => 3,
            Self::Power(..) => 4,
            Self::Integer(value) | Self::Decimal(value, _) if value.is_negative() => 3,
            Self::Integer(_) | Self::Decimal(..) | Self::Floor(_) | Self::Larger(..) => 5,
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (-1000_i64..1000).prop_map(Tree::Integer),
        (-100_000_i64..100_000, 0_u8..6).prop_map(|(digits, places)| Tree::Decimal(digits, places)),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            4 => (prop::sample::select(vec!['+', '-', '*', '/', '%']), two.clone())
                .prop_map(|(operator, (left, right))| Tree::Binary(operator, left.into(), right.into())),
            1 => inner.clone().prop_map(|inner| Tree::Negative(inner.into())),
            1 => (inner.clone(), -3_i8..4).prop_map(|(base, exponent)| Tree::Power(base.into(), exponent)),
            1 => inner.clone().prop_map(|inner| Tree::Floor(inner.into())),
            1 => two.prop_map(|(left, right)| Tree::Larger(left.into(), right.into())),
        ]
    })
}

proptest! {
    #[test]
    fn expressions_have_the_value_of_their_tree(tree in trees()) {
        let text = tree.text();
        match (tree.evaluate(), value(&text)) {
            (Some(expected), Ok(found)) => {
                prop_assert!(found.exact, "{}", text);
                prop_assert_eq!(found.value, NumberValue::Fraction(expected), "{}", text);
            }
            (None, Err(error)) => {
                let undefined = matches!(error.cause, CalculationFault::DivisionByZero | CalculationFault::ZeroToZero);
                prop_assert!(undefined, "{}: {}", text, error);
            }
            (expected, found) => prop_assert!(false, "{}: expected {:?}, found {:?}", text, expected, found),
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = calculate(&text, &|| false);
    }

    #[test]
    fn no_text_of_tokens_panics_and_faults_are_inside_the_text(parts in prop::collection::vec(
        prop::sample::select(vec![
            "1", "0", "9", "99999", "1e99", "0.1", "0x", "0b2", "+", "-", "*", "/", "//", "%", "^", "**", "!", "(", ")",
            ",", "pi", "sqrt", "round(", "max(", "log(", "choose(", "gcd(", "lcm(", "root(", "ln(", " ", "e", "²", "√",
        ]),
        0..40,
    )) {
        let text: String = parts.concat();
        if let Err(error) = value(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.position), "{}: {}", text, error);
        }
    }

    #[test]
    fn rendered_decimals_are_the_number_they_stand_for(digits in any::<i64>(), places in 0_u32..60) {
        let number = BigRational::new(digits.into(), BigInt::from(10).pow(places));
        let rendered = render(&Number::fraction(number.clone()).unwrap());
        prop_assert!(rendered.whole);
        let read = value(&format!("({})", rendered.text)).unwrap();
        prop_assert_eq!(read.value, NumberValue::Fraction(number), "{}", rendered.text);
    }

    #[test]
    fn rounded_decimals_are_off_by_half_a_digit_at_most(
        numerator in 1_i64..,
        denominator in 1_i64..,
        shift in -300_i32..300,
    ) {
        let shift_size = BigInt::from(10).pow(shift.unsigned_abs());
        let number = if shift < 0 {
            BigRational::new(numerator.into(), BigInt::from(denominator) * shift_size)
        } else {
            BigRational::new(BigInt::from(numerator) * shift_size, denominator.into())
        };
        let rendered = render(&Number::fraction(number.clone()).unwrap());
        let read = value(&rendered.text).unwrap().to_fraction();
        let error = ((&read - &number) / &number).abs();
        prop_assert_eq!(rendered.whole, read == number);
        prop_assert!(error <= BigRational::new(5.into(), BigInt::from(10).pow(34)), "{}", rendered.text);
    }
}

#[test]
fn a_cancelled_calculation_stops() {
    let error = evaluate("1 + 2 + 3", &|| true).unwrap_err();
    assert_eq!(error.cause, CalculationFault::Cancelled);
}

#[test]
fn repeated_work_on_large_numbers_ends_at_the_budget() {
    let expression = ["2^31000/3^20000"; 100].join("+");
    assert_eq!(value(&expression).unwrap_err().cause, CalculationFault::TooMuchWork);
}
