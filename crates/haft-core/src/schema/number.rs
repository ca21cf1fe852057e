//! Rules for numbers, compared without rounding.
//!
//! Bounds and values may both be integers beyond 2^53, so nothing here goes through a float that did not start as
//! one.

use std::cmp::Ordering;

use serde_json::Number;

/// Integers up to this size are exact as floats, and no other number is read as one of them; so one written as `3.0`
/// or `1e3` is taken for the integer it is.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// A number as it was read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Num {
    Int(i128),
    /// Beyond `i128`, as `u128` can be.
    Huge(u128),
    Float(f64),
}

/// Rules for numbers.
#[derive(Debug, Default)]
pub(super) struct NumberRule {
    pub(super) minimum: Option<Num>,
    pub(super) maximum: Option<Num>,
    pub(super) exclusive_minimum: Option<Num>,
    pub(super) exclusive_maximum: Option<Num>,
    /// Only whole divisors; others go to the full validator.
    pub(super) multiple_of: Option<i128>,
    pub(super) width: Option<Width>,
}

/// Integers that fit: the first and the last of them. Empty where none is known to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SureRange {
    first: i64,
    last: i64,
}

/// The machine type a number must fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Integer { name: &'static str, min: i128, max: i128 },
    Signed128,
    Unsigned128,
    Float32,
}

/// The rule that a number breaks.
#[derive(Clone, Copy, Debug)]
pub(super) enum NumberFault {
    NotInteger,
    Inexact,
    Minimum(Num),
    Maximum(Num),
    ExclusiveMinimum(Num),
    ExclusiveMaximum(Num),
    MultipleOf(i128),
    Width(Width),
}

impl Num {
    pub(super) fn of(number: &Number) -> Self {
        if let Some(int) = number.as_i128() {
            Self::Int(int)
        } else if let Some(huge) = number.as_u128() {
            Self::Huge(huge)
        } else {
            // Only with arbitrary precision can a number have no float: it is beyond every bound then.
            Self::Float(number.as_f64().unwrap_or(f64::INFINITY))
        }
    }

    /// Whether this is a whole number, however it was written.
    pub(super) fn is_integral(self) -> bool {
        match self {
            Self::Int(_) | Self::Huge(_) => true,
            Self::Float(float) => float.is_finite() && float.fract() == 0.0,
        }
    }

    /// The integer this float stands for without loss.
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53, so the cast is exact")]
    pub(super) fn exact_integer(float: f64) -> Option<i64> {
        (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
    }

    /// The integer that this float is, within 127 bits.
    #[expect(clippy::cast_possible_truncation, reason = "whole and within range, so the cast is exact")]
    pub(super) fn whole(float: f64) -> Option<i128> {
        (float.fract() == 0.0 && float.abs() < 1e38).then_some(float as i128)
    }

    /// Whether both are the same number, however written.
    pub(super) fn is_same(self, other: Self) -> bool {
        self.compare(other).is_eq()
    }

    fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(&b),
            (Self::Huge(a), Self::Huge(b)) => a.cmp(&b),
            (Self::Huge(_), Self::Int(_)) => Ordering::Greater,
            (Self::Int(_), Self::Huge(_)) => Ordering::Less,
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Less),
            (Self::Float(a), b) => compare_float(a, b),
            (a, Self::Float(b)) => compare_float(b, a).reverse(),
        }
    }
}

impl std::fmt::Display for Num {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(int) => match i64::try_from(*int) {
                Ok(small) => small.fmt(f),
                Err(_) => int.fmt(f),
            },
            Self::Huge(huge) => huge.fmt(f),
            Self::Float(float) => float.fmt(f),
        }
    }
}

impl Width {
    /// The width a `format` names; schemars writes one for every Rust number type.
    pub(super) fn named(format: &str) -> Option<Self> {
        let integer = |name, min: i128, max: i128| Some(Self::Integer { name, min, max });
        match format {
            "int8" => integer("int8", i8::MIN.into(), i8::MAX.into()),
            "int16" => integer("int16", i16::MIN.into(), i16::MAX.into()),
            "int32" => integer("int32", i32::MIN.into(), i32::MAX.into()),
            "int64" => integer("int64", i64::MIN.into(), i64::MAX.into()),
            "int" => integer("int", isize::MIN as i128, isize::MAX as i128),
            "uint8" => integer("uint8", 0, u8::MAX.into()),
            "uint16" => integer("uint16", 0, u16::MAX.into()),
            "uint32" => integer("uint32", 0, u32::MAX.into()),
            "uint64" => integer("uint64", 0, u64::MAX.into()),
            "uint" => integer("uint", 0, usize::MAX as i128),
            "int128" => Some(Self::Signed128),
            "uint128" => Some(Self::Unsigned128),
            "float" => Some(Self::Float32),
            _ => None,
        }
    }

    fn fits(self, num: Num) -> bool {
        match (num, self) {
            (Num::Int(int), Self::Integer { min, max, .. }) => (min..=max).contains(&int),
            (Num::Int(int), Self::Unsigned128) => int >= 0,
            (Num::Huge(_), Self::Integer { .. } | Self::Signed128) => false,
            (Num::Float(float), Self::Float32) => float.abs() <= f64::from(f32::MAX),
            (Num::Float(_), Self::Integer { min, max, .. }) => {
                num.compare(Num::Int(min)).is_ge() && num.compare(Num::Int(max)).is_le()
            }
            // A tree holds integers beyond 64 bits as floats; the typed reader has the digits and decides.
            (Num::Float(_), Self::Signed128 | Self::Unsigned128)
            | (Num::Int(_), Self::Signed128 | Self::Float32)
            | (Num::Huge(_), Self::Unsigned128 | Self::Float32) => true,
        }
    }

    fn is_128(self) -> bool {
        matches!(self, Self::Signed128 | Self::Unsigned128)
    }
}

impl Default for SureRange {
    fn default() -> Self {
        Self { first: 1, last: 0 }
    }
}

impl SureRange {
    #[inline]
    pub(super) fn contains(self, int: impl TryInto<i64>) -> bool {
        int.try_into().is_ok_and(|int| self.first <= int && int <= self.last)
    }
}

impl NumberRule {
    /// Whether there is any rule at all.
    pub(super) fn is_bare(&self) -> bool {
        let Self { minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of, width } = self;
        let unbounded = minimum.or(*maximum).or(*exclusive_minimum).or(*exclusive_maximum).is_none();
        unbounded && multiple_of.is_none() && width.is_none()
    }

    /// Integers that break no rule, as many as can be told at once.
    pub(super) fn sure_range(&self) -> SureRange {
        self.bounds().unwrap_or_default()
    }

    fn bounds(&self) -> Option<SureRange> {
        if self.multiple_of.is_some() {
            return None;
        }
        let whole = |bound: Num| match bound {
            Num::Int(int) => Some(int),
            Num::Float(float) => Num::exact_integer(float).map(i128::from),
            Num::Huge(_) => None,
        };
        let (mut first, mut last) = (i128::from(i64::MIN), i128::from(i64::MAX));
        match self.width {
            Some(Width::Integer { min, max, .. }) => (first, last) = (first.max(min), last.min(max)),
            Some(Width::Unsigned128) => first = 0,
            Some(Width::Signed128 | Width::Float32) | None => {}
        }
        if let Some(bound) = self.minimum {
            first = first.max(whole(bound)?);
        }
        if let Some(bound) = self.exclusive_minimum {
            first = first.max(whole(bound)?.checked_add(1)?);
        }
        if let Some(bound) = self.maximum {
            last = last.min(whole(bound)?);
        }
        if let Some(bound) = self.exclusive_maximum {
            last = last.min(whole(bound)?.checked_sub(1)?);
        }
        Some(SureRange { first: first.try_into().ok()?, last: last.try_into().ok()? })
    }

    /// The first rule that `num` breaks. `integers_only` is what the node's types say; `exact` refuses integers
    /// that were written as floats too large to be told apart from their neighbours.
    #[inline]
    pub(super) fn fault(&self, num: Num, integers_only: bool, exact: Exactness) -> Option<NumberFault> {
        if integers_only {
            if !num.is_integral() {
                return Some(NumberFault::NotInteger);
            }
            if let Num::Float(float) = num
                && exact == Exactness::Required
                && float.abs() > EXACT
                && !self.width.is_some_and(Width::is_128)
            {
                return self.bound_fault(num).or(match self.width {
                    Some(width) if !width.fits(num) => Some(NumberFault::Width(width)),
                    _ => Some(NumberFault::Inexact),
                });
            }
        }
        self.bound_fault(num).or_else(|| self.shape_fault(num))
    }

    /// Every rule that `num` breaks: how large it must be and what it must be a multiple of, or that it is no number of
    /// the right kind at all.
    pub(super) fn faults(
        &self,
        num: Num,
        integers_only: bool,
        exact: Exactness,
    ) -> impl Iterator<Item = NumberFault> + use<> {
        let first = self.fault(num, integers_only, exact);
        let out_of_bounds = matches!(
            first,
            Some(
                NumberFault::Minimum(_)
                    | NumberFault::Maximum(_)
                    | NumberFault::ExclusiveMinimum(_)
                    | NumberFault::ExclusiveMaximum(_)
            )
        );
        let second = self.multiple_of.filter(|divisor| out_of_bounds && !is_multiple(num, *divisor));
        first.into_iter().chain(second.map(NumberFault::MultipleOf))
    }

    #[inline]
    fn bound_fault(&self, num: Num) -> Option<NumberFault> {
        let broken =
            |bound: Option<Num>, allowed: fn(Ordering) -> bool| bound.filter(|bound| !allowed(num.compare(*bound)));
        if let Some(bound) = broken(self.minimum, Ordering::is_ge) {
            return Some(NumberFault::Minimum(bound));
        }
        if let Some(bound) = broken(self.maximum, Ordering::is_le) {
            return Some(NumberFault::Maximum(bound));
        }
        if let Some(bound) = broken(self.exclusive_minimum, Ordering::is_gt) {
            return Some(NumberFault::ExclusiveMinimum(bound));
        }
        broken(self.exclusive_maximum, Ordering::is_lt).map(NumberFault::ExclusiveMaximum)
    }

    #[inline]
    fn shape_fault(&self, num: Num) -> Option<NumberFault> {
        if let Some(divisor) = self.multiple_of
            && !is_multiple(num, divisor)
        {
            return Some(NumberFault::MultipleOf(divisor));
        }
        self.width.filter(|width| !width.fits(num)).map(NumberFault::Width)
    }
}

/// Whether integers written as large floats are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exactness {
    /// The value goes on into a program, which must get the integer that was meant.
    Required,
    /// The value is only checked.
    Waived,
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked before the cast")]
fn compare_float(float: f64, int: Num) -> Ordering {
    const I128_LIMIT: f64 = 1.701_411_834_604_692_3e38;
    let int = match int {
        Num::Int(int) => int,
        Num::Huge(huge) => {
            #[expect(clippy::cast_precision_loss, reason = "no float bound tells such neighbours apart")]
            let huge = huge as f64;
            return float.total_cmp(&huge);
        }
        Num::Float(other) => return float.total_cmp(&other),
    };
    if float >= I128_LIMIT {
        return Ordering::Greater;
    }
    if float < -I128_LIMIT {
        return Ordering::Less;
    }
    let whole = float.trunc();
    (whole as i128).cmp(&int).then_with(|| float.total_cmp(&whole))
}

#[expect(clippy::cast_precision_loss, reason = "only for floats beyond the integers, where it can't matter")]
#[expect(clippy::cast_possible_truncation, reason = "the range is checked before the cast")]
fn is_multiple(num: Num, divisor: i128) -> bool {
    match num {
        Num::Int(int) => int % divisor == 0,
        Num::Huge(huge) => huge % divisor.unsigned_abs() == 0,
        Num::Float(float) if float.fract() != 0.0 => false,
        Num::Float(float) if float.abs() < 1e38 => (float as i128) % divisor == 0,
        Num::Float(float) => float % (divisor as f64) == 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Vec<NumberRule> {
        let bounds = [None, Some(Num::Int(-3)), Some(Num::Int(4)), Some(Num::Float(2.0)), Some(Num::Float(1.5))];
        let extremes = [Some(Num::Int(i128::MAX)), Some(Num::Int(i128::MIN)), Some(Num::Huge(u128::MAX))];
        let widths =
            [None, Width::named("uint8"), Width::named("int64"), Width::named("uint128"), Width::named("float")];
        let mut rules = Vec::new();
        for bound in bounds.into_iter().chain(extremes) {
            for width in widths {
                rules.push(NumberRule { minimum: bound, width, ..NumberRule::default() });
                rules.push(NumberRule { maximum: bound, width, ..NumberRule::default() });
                rules.push(NumberRule { exclusive_minimum: bound, width, ..NumberRule::default() });
                rules.push(NumberRule { exclusive_maximum: bound, width, ..NumberRule::default() });
                rules.push(NumberRule { minimum: bound, multiple_of: Some(2), width, ..NumberRule::default() });
            }
        }
        rules
    }

    #[test]
    fn what_is_sure_to_fit_breaks_no_rule() {
        let values = (-300..300).chain([i64::MIN, i64::MAX, i64::MIN + 1, i64::MAX - 1]);
        for rule in rules() {
            for value in values.clone().filter(|value| rule.sure_range().contains(*value)) {
                let fault = rule.fault(Num::Int(value.into()), true, Exactness::Required);
                assert!(fault.is_none(), "{value} against {rule:?}: {fault:?}");
            }
        }
    }

    #[test]
    fn whole_bounds_are_sure_up_to_the_last_integer() {
        let (minimum, exclusive_maximum) = (Some(Num::Int(1)), Some(Num::Float(15.0)));
        let rule = NumberRule { minimum, exclusive_maximum, width: Width::named("uint8"), ..NumberRule::default() };
        let sure: Vec<i64> = (-1..300).filter(|value| rule.sure_range().contains(*value)).collect();
        assert_eq!(sure, (1..15).collect::<Vec<_>>());
        assert!(!rule.sure_range().contains(u64::MAX));
        assert!(NumberRule::default().sure_range().contains(i64::MIN));
    }
}
