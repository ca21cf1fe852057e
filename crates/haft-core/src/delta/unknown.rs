//! Deltas of a type that this version does not know.
//!
//! A recording or a log of deltas may have been written by a newer version. What that version added is kept whole and
//! written back unchanged. Nothing acts on such a delta.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::tagged::UnknownObject;

/// A delta of a type that this version does not know, as it was read.
///
/// ```
/// use haft_core::Delta;
/// use serde_json::json;
///
/// let mood = json!({"type": "mood_delta", "mood": "good"});
/// let delta: Delta = serde_json::from_value(mood.clone())?;
/// assert!(matches!(&delta, Delta::Unknown(unknown) if unknown.delta_type() == "mood_delta"));
/// assert_eq!(serde_json::to_value(&delta)?, mood);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownDelta(UnknownObject);

impl UnknownDelta {
    /// Returns the type of the delta: its `type` member.
    #[must_use]
    pub fn delta_type(&self) -> &str {
        self.0.tag()
    }

    /// Returns the whole delta.
    #[must_use]
    pub fn json(&self) -> &Value {
        self.0.json()
    }
}

impl From<UnknownObject> for UnknownDelta {
    fn from(object: UnknownObject) -> Self {
        Self(object)
    }
}

impl Serialize for UnknownDelta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}
