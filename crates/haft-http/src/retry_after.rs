//! The time that a server asks its clients to wait.

mod date;

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::RETRY_AFTER;

use self::date::http_date;

/// The longest wait to return. Longer ones are mistakes, or quotas that no request should wait for.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
const RETRY_AFTER_MS: &str = "retry-after-ms";

/// Returns the time to wait before another request, from a response's headers: `retry-after-ms`, which some model
/// providers send, or else `retry-after` in seconds or as a date.
///
/// The result is at most one day; a date in the past means no wait. Values that are neither a number nor a date are
/// ignored.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use haft_http::{HeaderMap, HeaderValue, retry_after};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", HeaderValue::from_static("Thu, 01 Jan 1970 00:01:00 GMT"));
/// assert_eq!(retry_after(&headers, UNIX_EPOCH), Some(Duration::from_secs(60)));
/// headers.insert("retry-after-ms", HeaderValue::from_static("1500"));
/// assert_eq!(retry_after(&headers, UNIX_EPOCH), Some(Duration::from_millis(1500)));
/// ```
#[must_use]
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim());
    let wait = text(RETRY_AFTER_MS).and_then(|value| number(value, 1000.0)).or_else(|| {
        let value = text(RETRY_AFTER.as_str())?;
        number(value, 1.0).or_else(|| Some(http_date(value, now)?.duration_since(now).unwrap_or_default()))
    });
    wait.map(|wait| wait.min(LONGEST))
}

/// Reads a number of units, with or without a fraction. The standard has whole seconds only, but servers write both.
fn number(value: &str, units_per_second: f64) -> Option<Duration> {
    let is_decimal = value.starts_with(|c: char| c.is_ascii_digit())
        && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = is_decimal.then_some(value)?.parse::<f64>().ok()? / units_per_second;
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::{LONGEST, retry_after};

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn wait(headers: &[(&'static str, &str)], now: u64) -> Option<Duration> {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        retry_after(&headers.iter().map(pair).collect::<HeaderMap>(), at(now))
    }

    #[test]
    fn seconds_and_milliseconds_are_read() {
        assert_eq!(wait(&[("retry-after", "7")], 0), Some(Duration::from_secs(7)));
        assert_eq!(wait(&[("retry-after", " 0.5 ")], 0), Some(Duration::from_millis(500)));
        assert_eq!(wait(&[("retry-after-ms", "250")], 0), Some(Duration::from_millis(250)));
        assert_eq!(wait(&[("retry-after-ms", "250"), ("retry-after", "7")], 0), Some(Duration::from_millis(250)));
        assert_eq!(wait(&[("retry-after-ms", "soon"), ("retry-after", "7")], 0), Some(Duration::from_secs(7)));
        assert_eq!(wait(&[("retry-after", "0")], 0), Some(Duration::ZERO));
    }

    #[test]
    fn nonsense_is_ignored_and_long_waits_are_capped() {
        assert_eq!(wait(&[], 0), None);
        for value in ["", "-1", "soon", "NaN", "inf", "1e3", "+5", ".5", "1.2.3", "0x10", "7 s"] {
            assert_eq!(wait(&[("retry-after", value)], 0), None, "{value}");
        }
        for value in ["86401", "99999999999999999999999999999999999999999"] {
            assert_eq!(wait(&[("retry-after", value)], 0), Some(LONGEST), "{value}");
        }
        assert_eq!(wait(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")], 0), Some(LONGEST));
    }

    #[test]
    fn dates_are_relative_to_the_time_passed_in() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(wait(&[("retry-after", date)], 784_111_777 - 30), Some(Duration::from_secs(30)));
        assert_eq!(wait(&[("retry-after", date)], 784_111_777 + 30), Some(Duration::ZERO));
    }
}
