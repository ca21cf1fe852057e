//! The progress of a call, as a value that readers of events get typed.
//!
//! A handler may emit any JSON as progress. Of those values, the ones of exactly this form are a [`Progress`]: an
//! object with `done`, and optionally `total` and `message`, and nothing else. Any other value stays what it is. A
//! number is read only if it is exactly the one that was written: a value that this type could only hold as another
//! number is none.

use haft_schema::JsonText;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;
use serde_json::value::RawValue;

/// The progress of a call: an amount that is done, the total if it is known, and a message for people.
///
/// Handlers emit it with `Cx::progress`, and readers get it from
/// [`ToolEvent::progress`](crate::ToolEvent::progress).
///
/// ```
/// use haft_core::Progress;
///
/// let progress = Progress::new(3.0).total(4.0).message("nearly there");
/// assert_eq!(serde_json::to_string(&progress)?, r#"{"done":3.0,"total":4.0,"message":"nearly there"}"#);
/// assert_eq!(progress.fraction(), Some(0.75));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Progress {
    /// The amount that is done, in any unit.
    #[serde(deserialize_with = "exact")]
    pub done: f64,
    /// The total amount in the same unit, if it is known.
    #[serde(default, deserialize_with = "exact_total", skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A message for people; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Progress {
    /// Creates progress with an unknown total and without a message.
    #[must_use]
    pub fn new(done: f64) -> Self {
        Self { done, total: None, message: String::new() }
    }

    /// Sets the total.
    #[must_use]
    pub fn total(mut self, total: impl Into<Option<f64>>) -> Self {
        self.total = total.into();
        self
    }

    /// Sets the message.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Returns the part that is done, from 0 to 1, if the total is known and positive.
    #[must_use]
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0.0)?;
        Some((self.done / total).clamp(0.0, 1.0))
    }

    /// Reads a value that a call emitted; `None` if it has another form.
    #[must_use]
    pub fn read(value: &JsonText) -> Option<Self> {
        let progress: Self = value.decode().ok()?;
        let is_small = |number: f64| number.abs() < BEYOND_64_BITS;
        if is_small(progress.done) && progress.total.is_none_or(is_small) {
            return Some(progress);
        }
        // The parser reads a larger integer as the nearest float, so only the text shows which one was written.
        let written: WrittenNumbers = value.decode().ok()?;
        let is_exact = holds(progress.done, &written.done)
            && progress.total.zip(written.total).is_none_or(|(total, written)| holds(total, &written));
        is_exact.then_some(progress)
    }
}

/// The smallest float beyond the range of 64-bit integers.
const BEYOND_64_BITS: f64 = 18_446_744_073_709_551_616.0;

/// The numbers of a progress value, as they are written.
#[derive(Deserialize)]
struct WrittenNumbers {
    done: Box<RawValue>,
    #[serde(default)]
    total: Option<Box<RawValue>>,
}

/// Reports whether a float is the number that was written. A number with a fraction or an exponent is the nearest
/// float. An integer beyond 128 bits counts as another number.
fn holds(float: f64, written: &RawValue) -> bool {
    let is_integer = !written.get().contains(['.', 'e', 'E']);
    !is_integer || written.get().parse().is_ok_and(|integer: i128| is_same(float, integer))
}

/// Reports whether a float is an integer. A float beyond 128 bits is converted to the last integer, which no float is.
#[allow(clippy::cast_possible_truncation, reason = "the comparison is made with more bits than a float has")]
fn is_same(float: f64, integer: i128) -> bool {
    float as i128 == integer && integer != i128::MAX
}

/// Reads a number that a float holds exactly.
fn exact<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = Number::deserialize(deserializer)?;
    let inexact = || D::Error::custom(format_args!("{number} is not a number of 64 bits"));
    let float = number.as_f64().filter(|float| float.is_finite()).ok_or_else(inexact)?;
    // An integer between two floats would be another number.
    let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    let is_exact = integer.is_none_or(|integer| is_same(float, integer));
    if is_exact { Ok(float) } else { Err(inexact()) }
}

/// Reads a total, which is a number if it is there.
fn exact_total<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    exact(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<Progress> {
        Progress::read(&JsonText::parse(text).unwrap())
    }

    #[test]
    fn only_the_exact_form_is_progress() {
        assert_eq!(read(r#"{"done": 3}"#), Some(Progress::new(3.0)));
        assert_eq!(
            read(r#"{"message": "a", "total": 4, "done": 1e0}"#),
            Some(Progress::new(1.0).total(4.0).message("a"))
        );
        assert_eq!(read(r#"{"done": 9007199254740992}"#), Some(Progress::new(9_007_199_254_740_992.0)));
        for other in [
            "null",
            "3",
            "[]",
            "{}",
            "\"done\"",
            r#"{"done": "3"}"#,
            r#"{"done": null}"#,
            r#"{"done": 1, "total": null}"#,
            r#"{"done": 1, "total": "4"}"#,
            r#"{"done": 1, "message": null}"#,
            r#"{"done": 1, "message": 5}"#,
            r#"{"done": 1, "step": 2}"#,
            r#"{"done": 1, "done": 2}"#,
            r#"{"total": 4}"#,
            r#"{"done": 9007199254740993}"#,
            r#"{"done": 18446744073709551615}"#,
            r#"{"done": -9007199254740993}"#,
            r#"{"done": 18446744073709551617}"#,
            r#"{"done": -18446744073709551617}"#,
            r#"{"done": 1, "total": 340282366920938463463374607431768211457}"#,
            r#"{"done": 170141183460469231731687303715884105727}"#,
            r#"{"done": 1e400}"#,
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn an_integer_that_a_float_holds_is_progress_whatever_its_size() {
        for (text, done) in [("18446744073709551616", 2_f64.powi(64)), ("-18446744073709551616", -2_f64.powi(64))] {
            assert_eq!(read(&format!(r#"{{"done": {text}}}"#)), Some(Progress::new(done)), "{text}");
        }
        assert_eq!(read(r#"{"done": -0, "total": 0.1}"#), Some(Progress::new(-0.0).total(0.1)));
    }

    #[test]
    fn the_fraction_is_between_zero_and_one() {
        let of = |done, total: Option<f64>| Progress::new(done).total(total).fraction();
        assert_eq!(of(1.0, None), None);
        assert_eq!(of(1.0, Some(0.0)), None);
        assert_eq!(of(1.0, Some(-2.0)), None);
        assert_eq!(of(1.0, Some(f64::NAN)), None);
        assert_eq!((of(3.0, Some(2.0)), of(-3.0, Some(2.0)), of(1.0, Some(2.0))), (Some(1.0), Some(0.0), Some(0.5)));
    }

    proptest! {
        #[test]
        fn progress_survives_its_text(done: f64, total: Option<f64>, message: String) {
            let finite = |number: &f64| number.is_finite();
            prop_assume!(finite(&done));
            let progress = Progress::new(done).total(total.filter(finite)).message(message);
            let text = JsonText::encode(&progress).unwrap();
            prop_assert_eq!(Progress::read(&text), Some(progress));
        }
    }
}
