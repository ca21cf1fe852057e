//! Dates in headers, in the three forms that HTTP requires readers to accept.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const SECONDS_PER_DAY: u64 = 24 * 60 * 60;
/// The seconds in a mean Gregorian year.
const SECONDS_PER_YEAR: u64 = 31_556_952;

/// Reads a date. The weekday's name is not checked. The current time completes two-digit years.
pub(super) fn http_date(text: &str, now: SystemTime) -> Option<SystemTime> {
    let words: Vec<&str> = text.split([' ', ',', '-', ':']).filter(|word| !word.is_empty()).collect();
    // `Sun, 06 Nov 1994 08:49:37 GMT` or `Sunday, 06-Nov-94 08:49:37 GMT`, and `Sun Nov  6 08:49:37 1994`
    let ([_, day, month, year, hour, minute, second, "GMT"] | [_, month, day, hour, minute, second, year]) = words[..]
    else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let year = match year.len() {
        4 => digits(year)?,
        2 => full_year(digits(year)?, now),
        _ => return None,
    };
    // The second 60 is a leap second.
    let time = (bounded(hour, 23)? * 60 + bounded(minute, 59)?) * 60 + bounded(second, 60)?;
    let days = days_since_epoch(year, month as u64, bounded(day, 31)?)?;
    UNIX_EPOCH.checked_add(Duration::from_secs(days * SECONDS_PER_DAY + time))
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn bounded(text: &str, most: u64) -> Option<u64> {
    digits(text).filter(|number| *number <= most && text.len() <= 2)
}

/// Completes a two-digit year: this century's year, unless that is more than 50 years ahead.
fn full_year(year: u64, now: SystemTime) -> u64 {
    let now = 1970 + now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / SECONDS_PER_YEAR;
    let year = now / 100 * 100 + year;
    if year > now + 50 { year - 100 } else { year }
}

/// Returns the days from 1 January 1970 to a Gregorian date, or `None` for earlier days.
fn days_since_epoch(year: u64, month: u64, day: u64) -> Option<u64> {
    // Years that begin in March have their leap day at the end, so a formula gives the days before each month.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day.checked_sub(1)?;
    // The days from 1 March of the year 0 to the epoch.
    days.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use super::http_date;

    fn seconds(text: &str, now: u64) -> Option<u64> {
        let date: Option<SystemTime> = http_date(text, UNIX_EPOCH + Duration::from_secs(now));
        date.map(|date| date.duration_since(UNIX_EPOCH).unwrap().as_secs())
    }

    #[test]
    fn the_three_forms_are_read() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(seconds(text, 784_000_000), Some(784_111_777), "{text}");
        }
    }

    #[test]
    fn days_are_counted_over_leap_years() {
        for (text, days) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 11_016),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 11_017),
            ("Fri, 31 Dec 2100 00:00:00 GMT", 47_846),
        ] {
            assert_eq!(seconds(text, 0), Some(days * 86_400), "{text}");
        }
    }

    #[test]
    fn years_of_two_digits_are_completed_by_the_current_time() {
        let year_2026 = 1_780_000_000;
        assert_eq!(seconds("Sunday, 06-Nov-94 08:49:37 GMT", year_2026), Some(784_111_777));
        assert_eq!(seconds("Friday, 01-Jan-27 00:00:00 GMT", year_2026), Some(1_798_761_600));
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "",
            "tomorrow",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nor 1994 08:49:37 GMT",
            "Sun, 06 Nov 199 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 0000 08:49:37 GMT",
            "Sun, 06 Nov 1994 +8:49:37 GMT",
            "Sun, 006 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(seconds(text, 0), None, "{text}");
        }
    }
}
