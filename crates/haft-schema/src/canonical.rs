//! Canonical text of JSON values: equal values have equal text.
//!
//! The form is that of RFC 8785: keys sorted by their UTF-16 code units, strings escaped as little as possible, numbers
//! as ECMAScript writes them, so that `1.0`, `1e0` and `1` are the same. There is one departure: digits beyond the
//! precision of a float are kept, because two different numbers must never have the same text. Comparisons and digests
//! rely on that, so nothing here may round.

use serde_json::{Map, Number, Value};

/// Returns the canonical text of a value. Equal values have equal texts, and different values have different ones.
#[must_use]
pub fn canonical_text(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    text
}

/// Reports whether two numbers in JSON notation are the same number.
pub(crate) fn is_same_number(a: &str, b: &str) -> bool {
    let canonical = |number: &str| {
        let mut text = String::new();
        write_digits(number, &mut text);
        text
    };
    canonical(a) == canonical(b)
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => write_number(number, text),
        Value::String(string) => write_string(string, text),
        Value::Array(items) => write_array(items, text),
        Value::Object(members) => write_object(members, text),
    }
}

fn write_array(items: &[Value], text: &mut String) {
    text.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write_value(item, text);
    }
    text.push(']');
}

fn write_object(members: &Map<String, Value>, text: &mut String) {
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    text.push('{');
    for (index, (key, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write_string(key, text);
        text.push(':');
        write_value(value, text);
    }
    text.push('}');
}

fn write_string(string: &str, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            control if control < ' ' => text.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => text.push(other),
        }
    }
    text.push('"');
}

/// Writes a number from its decimal digits: the shortest that round-trip a float, or all digits of an integer.
fn write_number(number: &Number, text: &mut String) {
    write_digits(&number.to_string(), text);
}

fn write_digits(written: &str, text: &mut String) {
    match CanonicalDecimal::read(written) {
        Some(decimal) => decimal.write(text),
        // No machine integer holds the exponent. Only the number's own text is certain to differ from that of other
        // numbers.
        None => text.push_str(written),
    }
}

/// `0.digits × 10^point`, without zeros at either end. Zero has no digits.
struct CanonicalDecimal {
    negative: bool,
    digits: String,
    point: i64,
}

impl CanonicalDecimal {
    fn read(written: &str) -> Option<Self> {
        let (negative, unsigned) = match written.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, written),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let significant = all.trim_start_matches('0');
        let leading = i64::try_from(all.len() - significant.len()).ok()?;
        let point = i64::try_from(whole.len()).ok()?.checked_sub(leading)?.checked_add(exponent)?;
        Some(Self { negative, digits: significant.trim_end_matches('0').to_owned(), point })
    }

    /// Writes the number in the layout of ECMAScript's `Number::toString`.
    fn write(&self, text: &mut String) {
        let Self { digits, point, .. } = self;
        if digits.is_empty() {
            return text.push('0');
        }
        if self.negative {
            text.push('-');
        }
        match usize::try_from(*point) {
            Ok(point @ 1..=21) if digits.len() <= point => {
                text.push_str(digits);
                text.extend(std::iter::repeat_n('0', point - digits.len()));
            }
            Ok(point @ 1..=21) => {
                let (whole, fraction) = digits.split_at(point);
                text.push_str(&format!("{whole}.{fraction}"));
            }
            _ if (-5..=0).contains(point) => {
                text.push_str("0.");
                text.extend(std::iter::repeat_n('0', usize::try_from(-point).unwrap_or_default()));
                text.push_str(digits);
            }
            _ => {
                let (first, rest) = digits.split_at(1);
                let dot = if rest.is_empty() { "" } else { "." };
                text.push_str(&format!("{first}{dot}{rest}e{:+}", i128::from(*point) - 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn canonical(text: &str) -> String {
        canonical_text(&serde_json::from_str(text).unwrap())
    }

    /// Numbers in JSON, each with its canonical text.
    const NUMBERS: [(&str, &str); 26] = [
        ("0", "0"),
        ("-0.0", "0"),
        ("1.0", "1"),
        ("1e0", "1"),
        ("-1", "-1"),
        ("10", "10"),
        ("1e2", "100"),
        ("4.50", "4.5"),
        ("333333333.33333329", "333333333.3333333"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("1.5e21", "1.5e+21"),
        ("123456789e15", "1.23456789e+23"),
        ("0.1", "0.1"),
        ("1e-6", "0.000001"),
        ("1e-7", "1e-7"),
        ("1.25e-7", "1.25e-7"),
        ("-2e-3", "-0.002"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740993"),
        ("-9007199254740993", "-9007199254740993"),
        ("9223372036854775807", "9223372036854775807"),
        ("18446744073709551615", "18446744073709551615"),
        ("1E+2", "100"),
    ];

    #[test]
    fn numbers_are_written_as_ecmascript_does_and_keep_their_digits() {
        for (written, expected) in NUMBERS {
            assert_eq!(canonical(written), expected, "{written}");
        }
    }

    #[test]
    fn digits_beyond_float_precision_are_kept() {
        let text = |written: &str| {
            let mut text = String::new();
            CanonicalDecimal::read(written).unwrap().write(&mut text);
            text
        };
        assert_eq!(text("340282366920938463463374607431768211455"), "3.40282366920938463463374607431768211455e+38");
        assert_eq!(text("0.10000000000000000000001"), "0.10000000000000000000001");
        assert!(CanonicalDecimal::read("1e99999999999999999999").is_none());
    }

    #[test]
    fn keys_are_sorted_by_utf16_code_units() {
        // U+FB33 is one unit above every surrogate, although U+1F600 is the greater character.
        let written = "{\"\u{fb33}\":1,\"\u{1f600}\":2,\"\u{20ac}\":3,\"\\r\":4,\"1\":5,\"\u{f6}\":6}";
        let expected = "{\"\\r\":4,\"1\":5,\"\u{f6}\":6,\"\u{20ac}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}";
        assert_eq!(canonical(written), expected);
    }

    #[test]
    fn strings_are_escaped_as_little_as_possible() {
        let value = json!("\u{20ac}$\u{f}\nA'B\"\\/\u{7f}\u{8}\u{c}\t\r\u{0}");
        assert_eq!(canonical_text(&value), "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\/\u{7f}\\b\\f\\t\\r\\u0000\"");
    }

    fn any_number() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-3i64..3).prop_map(Value::from),
            (-3i32..3).prop_map(|whole| Value::from(f64::from(whole))),
            prop::num::f64::NORMAL.prop_map(Value::from),
        ]
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any_number(),
            "[a-b\"\\\\\u{0}-\u{1f}\u{1f600}]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c]{0,2}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Returns the same value with the keys of every object in reverse order.
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(reversed).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect())
            }
            other => other.clone(),
        }
    }

    /// Reports whether both are the same value, regardless of the order of keys and the notation of numbers.
    fn same(a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => a.as_f64() == b.as_f64(),
            (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
            }
            (a, b) => a == b,
        }
    }

    proptest! {
        #[test]
        fn it_does_not_depend_on_the_order_of_keys(value in any_value()) {
            prop_assert_eq!(canonical_text(&value), canonical_text(&reversed(&value)));
        }

        #[test]
        fn it_is_json_of_the_same_value_and_its_own_canonical_text(value in any_value()) {
            let text = canonical_text(&value);
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(same(&read, &value), "{} became {}", value, text);
            prop_assert_eq!(canonical_text(&read), text);
        }

        #[test]
        fn one_text_is_one_value(a in any_value(), b in any_value()) {
            if canonical_text(&a) == canonical_text(&b) {
                prop_assert!(same(&a, &b), "{} and {} share a text", a, b);
            }
        }

        #[test]
        fn a_whole_float_and_its_integer_are_one(whole in -(1i64 << 53)..(1i64 << 53)) {
            #[expect(clippy::cast_precision_loss, reason = "every integer of the range is exact as a float")]
            let float = Value::from(whole as f64);
            prop_assert_eq!(canonical_text(&float), canonical_text(&Value::from(whole)));
        }

        #[test]
        fn neighbouring_integers_never_share_a_text(integer in any::<u64>()) {
            let (this, next) = (Value::from(integer), Value::from(integer.wrapping_add(1)));
            prop_assert_ne!(canonical_text(&this), canonical_text(&next));
        }
    }
}
