//! Status sets.

use std::fmt;
use std::str::FromStr;

/// A range of HTTP statuses: `404`, `4xx` or `500-503`.
///
/// ```
/// use haft_tools::http::StatusSet;
///
/// let missing: StatusSet = "4xx".parse()?;
/// assert!(missing.contains(404) && !missing.contains(500));
/// # Ok::<_, haft_tools::http::InvalidStatusSet>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatusSet {
    first: u16,
    last: u16,
}

/// A text that is not a status set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no set of statuses; write a status such as `404`, a class such as `4xx`, or a range such as `500-503`"
)]
#[non_exhaustive]
pub struct InvalidStatusSet {
    /// The text.
    pub text: String,
}

impl StatusSet {
    /// Creates a set with one status.
    #[must_use]
    pub const fn one(status: u16) -> Self {
        Self { first: status, last: status }
    }

    /// Creates the set for a class: 4 for the statuses from 400 to 499.
    #[must_use]
    pub const fn class(class: u8) -> Self {
        Self { first: class as u16 * 100, last: class as u16 * 100 + 99 }
    }

    /// Creates a set with all statuses from the first to the last.
    #[must_use]
    pub const fn range(first: u16, last: u16) -> Self {
        Self { first, last }
    }

    /// Reports whether the set contains the status.
    #[must_use]
    pub const fn contains(self, status: u16) -> bool {
        self.first <= status && status <= self.last
    }

    /// Returns the number of statuses.
    pub(super) const fn len(self) -> u16 {
        self.last.saturating_sub(self.first)
    }
}

impl FromStr for StatusSet {
    type Err = InvalidStatusSet;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| InvalidStatusSet { text: text.chars().take(40).collect() })
    }
}

fn parse(text: &str) -> Option<StatusSet> {
    if let Some(class) = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")) {
        let class = class.parse().ok().filter(|class| (1..=5).contains(class))?;
        return Some(StatusSet::class(class));
    }
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (status(first)?, status(last)?),
        None => (status(text)?, status(text)?),
    };
    (first <= last).then_some(StatusSet { first, last })
}

fn status(text: &str) -> Option<u16> {
    let is_digits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|status| is_digits && (100..=599).contains(status))
}

impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else if self.first.is_multiple_of(100) && self.last == self.first + 99 {
            write!(f, "{}xx", self.first / 100)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StatusSet;

    #[test]
    fn sets_are_parsed_and_written() {
        for text in ["404", "4xx", "500-503", "100-599"] {
            assert_eq!(text.parse::<StatusSet>().unwrap().to_string(), text);
        }
        assert_eq!("5XX".parse::<StatusSet>().unwrap(), StatusSet::class(5));
        let range: StatusSet = "500-503".parse().unwrap();
        let contained: Vec<u16> = (498..506).filter(|status| range.contains(*status)).collect();
        assert_eq!(contained, [500, 501, 502, 503]);
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in ["", "x", "40", "4040", "099", "600", "6xx", "0xx", "xx", "503-500", "400-", "-400", "+404", " 404"]
        {
            let error = text.parse::<StatusSet>().unwrap_err();
            assert!(error.to_string().contains("is no set of statuses"), "{text}");
        }
    }
}
