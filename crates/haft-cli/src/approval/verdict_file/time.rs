//! Times as people write them: `2026-05-01T10:00:00Z`, or with an offset, as in RFC 3339.

use std::ops::RangeInclusive;

use haft::conversation::Timestamp;

/// Reads a time. A fraction counts to the millisecond.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    let mut rest = text;
    let year = number(&mut rest, 4, 1970..=9999)?;
    let month = after(&mut rest, "-", 1..=12)?;
    let day = after(&mut rest, "-", 1..=days_in(year, month))?;
    rest = rest.strip_prefix(['T', 't', ' '])?;
    let hour = number(&mut rest, 2, 0..=23)?;
    let minute = after(&mut rest, ":", 0..=59)?;
    let second = after(&mut rest, ":", 0..=60)?;
    let millis = fraction(&mut rest)?;
    let offset = offset(rest)?;
    let days = days_before(year, month) + day - 1;
    let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second;
    Some(Timestamp::from_unix_millis(u64::try_from(seconds * 1000 + millis).ok()?))
}

/// Takes a number of exactly so many digits.
fn number(rest: &mut &str, digits: usize, range: RangeInclusive<i64>) -> Option<i64> {
    let (text, behind) = rest.split_at_checked(digits)?;
    let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())??;
    *rest = behind;
    range.contains(&number).then_some(number)
}

fn after(rest: &mut &str, sign: &str, range: RangeInclusive<i64>) -> Option<i64> {
    *rest = rest.strip_prefix(sign)?;
    number(rest, 2, range)
}

/// Takes the milliseconds of a fraction, if there is one.
fn fraction(rest: &mut &str) -> Option<i64> {
    let Some(behind) = rest.strip_prefix('.') else { return Some(0) };
    let end = behind.find(|character: char| !character.is_ascii_digit()).unwrap_or(behind.len());
    let digits: String = behind[..end].chars().chain("00".chars()).take(3).collect();
    *rest = &behind[end..];
    if end == 0 { None } else { digits.parse().ok() }
}

/// Returns the minutes by which a time zone is ahead.
fn offset(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (sign, mut rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let hours = number(&mut rest, 2, 0..=23)?;
    let minutes = after(&mut rest, ":", 0..=59)?;
    rest.is_empty().then_some(sign * (hours * 60 + minutes))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 1970 to a month's first day.
fn days_before(year: i64, month: i64) -> i64 {
    let years: i64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    years + (1..month).map(|month| days_in(year, month)).sum::<i64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_offsets() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-05-01T10:00:00Z", 1_777_629_600_000),
            ("2026-05-01T12:30:00+02:30", 1_777_629_600_000),
            ("2026-05-01 10:00:00.1239-00:00", 1_777_629_600_123),
            ("2026-05-01t10:00:00.5z", 1_777_629_600_500),
            ("2024-02-29T23:59:60Z", 1_709_251_200_000),
        ] {
            assert_eq!(read(text).map(Timestamp::unix_millis), Some(millis), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in [
            "",
            "now",
            "2026-05-01",
            "2026-05-01T10:00",
            "2026-05-01T10:00:00",
            "2026-05-01T10:00:00.Z",
            "2026-13-01T10:00:00Z",
            "2026-02-29T10:00:00Z",
            "2026-05-01T24:00:00Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "2026-05-01T10:00:00+2:00",
            "2026-05-01T10:00:00Zx",
            "+026-05-01T10:00:00Z",
            "20２6-05-01T10:00:00Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
