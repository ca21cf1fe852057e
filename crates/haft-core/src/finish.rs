//! The reason why a response ended.
//!
//! For a tool layer only one property matters: whether the response is complete. A response that was cut off may end in
//! the middle of a call, so none of its calls may run. An unknown reason counts as cut off.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The reason why a response ended. Serialised as its name, for example `"tool_calls"`.
///
/// ```
/// use haft_core::Finish;
///
/// assert!(!Finish::ToolCalls.is_cut_off());
/// assert!(Finish::Length.is_cut_off());
/// assert!(Finish::from("solar_flare").is_cut_off());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Finish {
    /// The model finished.
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The output limit or the context window was reached.
    Length,
    /// A content filter stopped the response.
    ContentFilter,
    /// The model, or a safety system, declined to continue.
    Refusal,
    /// The provider paused a long turn; sending it back continues it.
    Pause,
    /// The provider failed during the response.
    Error,
    /// A reason that this version does not know.
    Other(String),
}

impl Finish {
    /// All known reasons.
    pub const ALL: [Self; 7] =
        [Self::Stop, Self::ToolCalls, Self::Length, Self::ContentFilter, Self::Refusal, Self::Pause, Self::Error];

    /// Returns the name, as it is serialised.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
            Self::Pause => "pause",
            Self::Error => "error",
            Self::Other(name) => name,
        }
    }

    /// Reports whether the response may have been cut off, so that none of its calls may run.
    ///
    /// Only `stop`, `tool_calls` and `pause` guarantee a complete response.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        match self {
            Self::Stop | Self::ToolCalls | Self::Pause => false,
            Self::Length | Self::ContentFilter | Self::Refusal | Self::Error | Self::Other(_) => true,
        }
    }
}

impl fmt::Display for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<&str> for Finish {
    fn from(name: &str) -> Self {
        Self::ALL.into_iter().find(|finish| finish.as_str() == name).unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}

impl Serialize for Finish {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Finish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::from(name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_name_and_cut_off_flag() {
        let table = [
            ("stop", false),
            ("tool_calls", false),
            ("length", true),
            ("content_filter", true),
            ("refusal", true),
            ("pause", false),
            ("error", true),
        ];
        for (finish, (name, cut_off)) in Finish::ALL.iter().zip(table) {
            assert_eq!(finish.as_str(), name);
            assert_eq!(finish.is_cut_off(), cut_off, "{name}");
            assert_eq!(&serde_json::from_value::<Finish>(name.into()).unwrap(), finish);
        }
    }

    #[test]
    fn an_unknown_reason_is_kept_and_counts_as_cut_off() {
        let read: Finish = serde_json::from_str(r#""max_tool_calls""#).unwrap();
        assert_eq!(read, Finish::Other("max_tool_calls".to_owned()));
        assert!(read.is_cut_off());
        assert_eq!(serde_json::to_string(&read).unwrap(), r#""max_tool_calls""#);
    }
}
