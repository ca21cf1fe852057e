//! Request metadata as OpenAI's APIs take it: a few short texts.

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::wire::Dropped;

/// The most pairs.
const MAX_PAIRS: usize = 16;
/// The most characters in a key.
const MAX_KEY_CHARS: usize = 64;
/// The most characters in a value.
const MAX_VALUE_CHARS: usize = 512;

/// Metadata, with values other than text as JSON text.
pub(crate) struct Pairs<'r>(Vec<(&'r str, Cow<'r, str>)>);

impl<'r> Pairs<'r> {
    /// Returns the metadata within the APIs' limits, and reports the rest.
    pub(crate) fn of(metadata: &'r Map<String, Value>, dropped: &mut Vec<Dropped>) -> Self {
        let mut pairs = Vec::with_capacity(metadata.len().min(MAX_PAIRS));
        for (key, value) in metadata {
            let text = value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
            let reason = if pairs.len() == MAX_PAIRS {
                format!("the API takes {MAX_PAIRS} entries")
            } else if key.chars().count() > MAX_KEY_CHARS || text.chars().count() > MAX_VALUE_CHARS {
                format!("the API takes keys of {MAX_KEY_CHARS} and values of {MAX_VALUE_CHARS} characters")
            } else {
                pairs.push((key.as_str(), text));
                continue;
            };
            dropped.push(Dropped::setting(format!("metadata.{key}"), reason));
        }
        Self(pairs)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (*key, value)))
    }
}
