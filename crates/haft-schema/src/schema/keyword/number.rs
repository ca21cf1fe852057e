//! `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`, and the machine types that `format`
//! names: checked while a number is read.
//!
//! Numbers are compared exactly, by their decimal digits. A reader that has only an integer or a float first tests
//! whether it is *certain* to be valid; if not, the digits decide.

use std::borrow::Cow;

use serde_json::Value;

use super::{ALL, Compile, Keyword};
use crate::schema::compile::{SubschemaCompiler, Widths};
use crate::schema::decimal::{Decimal, Divisor, DivisorFault, Number};
use crate::schema::document::Instance;
use crate::schema::draft::Draft::{Draft4, Draft6, Draft202012};
use crate::schema::problem::Problem;
use crate::schema::shape::Shape;
use crate::schema::types::Types;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("minimum", ALL, Shape::Number, Compile::Rules(minimum)),
    Keyword::new("maximum", ALL, Shape::Number, Compile::Rules(maximum)),
    Keyword::new("exclusiveMinimum", (Draft4, Draft4), Shape::Boolean, Compile::Nothing).beside("minimum"),
    Keyword::new("exclusiveMaximum", (Draft4, Draft4), Shape::Boolean, Compile::Nothing).beside("maximum"),
    Keyword::new("exclusiveMinimum", (Draft6, Draft202012), Shape::Number, Compile::Rules(exclusive_minimum)),
    Keyword::new("exclusiveMaximum", (Draft6, Draft202012), Shape::Number, Compile::Rules(exclusive_maximum)),
    Keyword::new("multipleOf", ALL, Shape::PositiveNumber, Compile::Rules(multiple_of)),
    Keyword::new("format", ALL, Shape::Text, Compile::Rules(format)),
];

fn minimum(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    let is_exclusive = subschema.draft == Draft4 && subschema.map.get("exclusiveMinimum") == Some(&Value::Bool(true));
    bound(subschema, keyword, if is_exclusive { BoundSide::Above } else { BoundSide::AtLeast });
}

fn maximum(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    let is_exclusive = subschema.draft == Draft4 && subschema.map.get("exclusiveMaximum") == Some(&Value::Bool(true));
    bound(subschema, keyword, if is_exclusive { BoundSide::Below } else { BoundSide::AtMost });
}

fn exclusive_minimum(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    bound(subschema, keyword, BoundSide::Above);
}

fn exclusive_maximum(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    bound(subschema, keyword, BoundSide::Below);
}

fn bound(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value, side: BoundSide) {
    if let Value::Number(number) = keyword {
        let limit = Number::parse(&number.to_string());
        let expected = format!("{} {limit}", side.words()).into();
        subschema.typed().number.bounds.push(Bound { side, limit, expected });
    }
}

fn multiple_of(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    let Value::Number(number) = keyword else { return };
    match Divisor::new(Number::parse(&number.to_string())) {
        Ok(divisor) => subschema.typed().number.multiple_of = Some(divisor.into()),
        Err(DivisorFault::NotPositive) => subschema.fault("multipleOf", "must be a number greater than 0"),
        Err(DivisorFault::TooManyDigits { max, .. }) => {
            subschema.fault("multipleOf", format!("has more digits than the {max} that are supported"));
        }
        Err(DivisorFault::ExponentOutOfRange) => subschema.fault("multipleOf", "has an exponent that is out of range"),
    }
}

/// Compiles `format`. It limits numbers only in schemas generated from types, and only if a subschema accepts nothing
/// but numbers. For strings it is shown, and adds no rule.
fn format(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    let types = subschema.map.get("type").and_then(super::types_named).unwrap_or(Types::ALL);
    let is_numeric = !types.contains(Types::ALL) && types.contains(Types::INTEGER);
    if subschema.widths() == Widths::Checked
        && is_numeric
        && let Some(width) = keyword.as_str().and_then(Width::named)
    {
        subschema.typed().number.width = Some(width.into());
    }
    if types == Types::STRING
        && let Some(format) = keyword.as_str()
    {
        subschema.typed().string.set_format(format);
    }
}

/// Rules for numbers.
#[derive(Debug, Default)]
pub(in crate::schema) struct NumberRule {
    bounds: Vec<Bound>,
    multiple_of: Option<Box<Divisor>>,
    width: Option<Box<Width>>,
    sure: AcceptedRange,
}

#[derive(Debug)]
struct Bound {
    side: BoundSide,
    limit: Number,
    /// A description of the valid numbers.
    expected: Box<str>,
}

/// The side of a bound on which numbers are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoundSide {
    AtLeast,
    AtMost,
    Above,
    Below,
}

impl BoundSide {
    fn keyword(self) -> &'static str {
        match self {
            Self::AtLeast => "minimum",
            Self::AtMost => "maximum",
            Self::Above => "exclusiveMinimum",
            Self::Below => "exclusiveMaximum",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
            Self::Above => "more than",
            Self::Below => "less than",
        }
    }
}

/// Numbers that are certain to be valid; empty if there are none.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AcceptedRange {
    first: i64,
    last: i64,
    /// Floats strictly between these are valid, unless only integers are.
    above: f64,
    below: f64,
}

impl Default for AcceptedRange {
    fn default() -> Self {
        Self { first: 1, last: 0, above: 0.0, below: 0.0 }
    }
}

/// A machine type that must be able to represent a number.
#[derive(Clone, Debug)]
struct Width {
    expected: &'static str,
    least: Number,
    most: Number,
    /// Set if messages name the type rather than its bounds.
    is_named: bool,
}

impl Width {
    /// Returns the width that a `format` names; schemars emits one for every Rust number type.
    fn named(format: &str) -> Option<Self> {
        let range = |least: &str, most: &str| Self {
            expected: "",
            least: Number::parse(least),
            most: Number::parse(most),
            is_named: false,
        };
        let named = |expected, least: &str, most: &str| Self { expected, is_named: true, ..range(least, most) };
        let signed = |least: i64, most: i64| range(&least.to_string(), &most.to_string());
        let unsigned = |most: u64| range("0", &most.to_string());
        Some(match format {
            "int8" => signed(i8::MIN.into(), i8::MAX.into()),
            "int16" => signed(i16::MIN.into(), i16::MAX.into()),
            "int32" => signed(i32::MIN.into(), i32::MAX.into()),
            "int64" => signed(i64::MIN, i64::MAX),
            "int" => range(&isize::MIN.to_string(), &isize::MAX.to_string()),
            "uint8" => unsigned(u8::MAX.into()),
            "uint16" => unsigned(u16::MAX.into()),
            "uint32" => unsigned(u32::MAX.into()),
            "uint64" => unsigned(u64::MAX),
            "uint" => range("0", &usize::MAX.to_string()),
            "int128" => named("a signed 128-bit integer", &i128::MIN.to_string(), &i128::MAX.to_string()),
            "uint128" => named("an unsigned 128-bit integer", "0", &u128::MAX.to_string()),
            "float" => named("a single-precision number", &format!("{:e}", f32::MIN), &format!("{:e}", f32::MAX)),
            _ => return None,
        })
    }

    fn contains(&self, number: Decimal<'_>) -> bool {
        number >= self.least.as_decimal() && number <= self.most.as_decimal()
    }

    fn expected(&self) -> Cow<'static, str> {
        if self.is_named {
            return Cow::Borrowed(self.expected);
        }
        Cow::Owned(format!("an integer from {} to {}", self.least, self.most))
    }
}

impl Bound {
    fn holds(&self, number: Decimal<'_>) -> bool {
        let order = number.cmp(&self.limit.as_decimal());
        match self.side {
            BoundSide::AtLeast => order.is_ge(),
            BoundSide::AtMost => order.is_le(),
            BoundSide::Above => order.is_gt(),
            BoundSide::Below => order.is_lt(),
        }
    }

    fn problem(&self) -> Problem<'_> {
        Problem::Is { keyword: self.side.keyword(), expected: Cow::Borrowed(&self.expected) }
    }
}

impl NumberRule {
    /// Reports whether there are no rules.
    pub(in crate::schema) fn is_bare(&self) -> bool {
        let Self { bounds, multiple_of, width, sure: _ } = self;
        bounds.is_empty() && multiple_of.is_none() && width.is_none()
    }

    /// Reports whether an integer is certain to be valid.
    #[inline]
    pub(in crate::schema) fn surely_fits(&self, integer: i64) -> bool {
        self.sure.first <= integer && integer <= self.sure.last
    }

    /// Reports whether a float is certain to be valid, if not only integers are.
    #[inline]
    pub(in crate::schema) fn surely_fits_float(&self, float: f64) -> bool {
        self.sure.above < float && float < self.sure.below
    }

    /// Reports whether a number is valid, by its digits.
    pub(in crate::schema) fn fits(&self, number: Decimal<'_>, integers_only: bool) -> bool {
        (!integers_only || number.is_integer())
            && self.bounds.iter().all(|bound| bound.holds(number))
            && self.multiple_of.as_ref().is_none_or(|divisor| number.is_multiple_of(divisor))
            && self.width.as_ref().is_none_or(|width| width.contains(number))
    }

    /// Reports all problems of a number: that it is not an integer, or every rule that it violates.
    pub(in crate::schema) fn check(&self, integers_only: bool, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if self.is_bare() && !integers_only {
            return;
        }
        if !value.is_float() && value.raw().parse().is_ok_and(|integer| self.surely_fits(integer)) {
            return;
        }
        let Some(number) = value.number() else { return };
        if !walk.work(value.raw().len() / 16) {
            return;
        }
        if integers_only && !number.is_integer() {
            walk.report(value, &Problem::Is { keyword: "type", expected: "an integer".into() });
            return;
        }
        let mut is_in_bounds = true;
        for bound in self.bounds.iter().filter(|bound| !bound.holds(number)) {
            is_in_bounds = false;
            walk.report(value, &bound.problem());
        }
        if let Some(divisor) = self.multiple_of.as_ref().filter(|divisor| !number.is_multiple_of(divisor)) {
            let expected = format!("a multiple of {}", divisor.number());
            walk.report(value, &Problem::Is { keyword: "multipleOf", expected: expected.into() });
        }
        if let Some(width) = self.width.as_ref().filter(|width| is_in_bounds && !width.contains(number)) {
            walk.report(value, &Problem::Is { keyword: "format", expected: width.expected() });
        }
    }

    /// Computes which numbers are certain to be valid, once all rules are present.
    pub(in crate::schema) fn close(&mut self) {
        self.sure = self.sure_numbers().unwrap_or_default();
    }

    fn sure_numbers(&self) -> Option<AcceptedRange> {
        if self.multiple_of.is_some() {
            return None;
        }
        let (mut first, mut last) = (i128::from(i64::MIN), i128::from(i64::MAX));
        let (mut above, mut below) = (f64::NEG_INFINITY, f64::INFINITY);
        for Bound { side, limit, .. } in &self.bounds {
            let decimal = limit.as_decimal();
            let whole = decimal.to_i128().filter(|_| decimal.is_integer())?;
            match side {
                BoundSide::AtLeast => first = first.max(whole),
                BoundSide::Above => first = first.max(whole.checked_add(1)?),
                BoundSide::AtMost => last = last.min(whole),
                BoundSide::Below => last = last.min(whole.checked_sub(1)?),
            }
        }
        if let Some(Width { least, most, .. }) = self.width.as_deref() {
            first = first.max(least.as_decimal().to_i128().unwrap_or(i128::MIN));
            last = last.min(most.as_decimal().to_i128().unwrap_or(i128::MAX));
        }
        // A float may stand for digits that round to it; strictly inside the bounds that makes no difference.
        let limits = self.bounds.iter().map(|bound| (bound.side, bound.limit.as_decimal().to_f64()));
        let widths = self.width.iter().flat_map(|width| {
            [
                (BoundSide::AtLeast, width.least.as_decimal().to_f64()),
                (BoundSide::AtMost, width.most.as_decimal().to_f64()),
            ]
        });
        for (side, limit) in limits.chain(widths) {
            match side {
                BoundSide::AtLeast | BoundSide::Above => above = above.max(limit),
                BoundSide::AtMost | BoundSide::Below => below = below.min(limit),
            }
        }
        Some(AcceptedRange { first: first.try_into().ok()?, last: last.try_into().ok()?, above, below })
    }
}
