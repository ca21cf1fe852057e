//! The format version in every value that leaves the process.
//!
//! Calls, results, turns and requests are stored in databases and sent between machines that are not upgraded at the
//! same time. Formats of older versions are read. A newer format is rejected: a reader never guesses the meaning of
//! fields it does not know.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

/// The format version of a stored value, in a field called `v`. It takes no space in memory.
///
/// It is written as a number. Every version up to the current one is read, an absent version counts as the first, and a
/// newer one is rejected:
///
/// ```
/// use haft_core::ToolCall;
///
/// let call: ToolCall = serde_json::from_str(r#"{"call_id":"c1","name":"add","arguments":"{}"}"#)?;
/// assert_eq!(serde_json::to_value(&call)?["v"], 1);
///
/// let newer = serde_json::from_str::<ToolCall>(r#"{"v":2,"call_id":"c1","name":"add","arguments":"{}"}"#);
/// assert!(newer.unwrap_err().to_string().contains("written by a newer version (2); this one reads up to 1"));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatVersion(());

impl FormatVersion {
    /// The oldest version, which is assumed for values without a version.
    pub const FIRST: u64 = 1;
    /// The version that is written, and the newest that is read.
    pub const CURRENT: u64 = 1;
}

/// The reason why a version cannot be read.
#[derive(Debug, PartialEq, thiserror::Error)]
enum Unreadable {
    #[error("written by a newer version ({found}); this one reads up to {current}")]
    Newer { found: u64, current: u64 },
    #[error("{0} is not a format version; the first one is {first}", first = FormatVersion::FIRST)]
    NoVersion(Number),
}

/// Checks that a reader whose newest version is `current` can read this one.
fn check(found: &Number, current: u64) -> Result<(), Unreadable> {
    match found.as_u64() {
        None | Some(..FormatVersion::FIRST) => Err(Unreadable::NoVersion(found.clone())),
        Some(found) if found > current => Err(Unreadable::Newer { found, current }),
        Some(_) => Ok(()),
    }
}

impl Serialize for FormatVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(Self::CURRENT)
    }
}

/// Reads a [`Number`], which passes unchanged through every buffer of serde, regardless of how `serde_json` stores its
/// digits.
impl<'de> Deserialize<'de> for FormatVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        check(&Number::deserialize(deserializer)?, Self::CURRENT).map_err(D::Error::custom)?;
        Ok(Self(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_no_space() {
        assert_eq!(size_of::<FormatVersion>(), 0);
    }

    #[test]
    fn reads_what_it_writes() {
        let text = serde_json::to_string(&FormatVersion::default()).unwrap();
        assert_eq!(text, "1");
        assert_eq!(serde_json::from_str::<FormatVersion>(&text).unwrap(), FormatVersion::default());
    }

    #[test]
    fn every_version_up_to_the_current_one_is_read_and_a_newer_one_is_not() {
        for current in FormatVersion::FIRST..5 {
            for found in FormatVersion::FIRST..=current {
                assert_eq!(check(&found.into(), current), Ok(()), "{found} by {current}");
            }
            let newer = Unreadable::Newer { found: current + 1, current };
            assert_eq!(check(&(current + 1).into(), current), Err(newer));
            assert_eq!(check(&0.into(), current), Err(Unreadable::NoVersion(0.into())));
        }
    }

    #[test]
    fn rejects_unknown_versions() {
        let read = |text: &str| serde_json::from_str::<FormatVersion>(text).unwrap_err().to_string();
        assert_eq!(read("2"), "written by a newer version (2); this one reads up to 1");
        for not_a_version in ["0", "-1", "1.5"] {
            assert!(read(not_a_version).contains("is not a format version"), "{not_a_version}");
        }
        for not_a_number in ["null", "\"1\"", "{}"] {
            assert!(read(not_a_number).contains("invalid type"), "{not_a_number}");
        }
    }
}
