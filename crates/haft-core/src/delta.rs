//! The deltas of a model's answer while it streams.
//!
//! Deltas are for displaying an answer while it arrives. Nothing may be run or stored from them: only the [`Turn`] that
//! ends the stream is complete.

use serde::{Deserialize, Deserializer, Serialize};

use crate::call::CallId;
use crate::tagged::{self, ReadVariant, TaggedEnum};
use crate::turn::Turn;
use crate::usage::Usage;

/// One piece of an answer that is still streaming, tagged by `type`.
///
/// ```
/// use haft_core::Delta;
/// use serde_json::json;
///
/// let delta = Delta::TextDelta { text: "Hel".to_owned() };
/// assert_eq!(serde_json::to_value(&delta)?, json!({"type": "text_delta", "text": "Hel"}));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    TextDelta {
        /// The text that was added.
        text: String,
    },
    /// More reasoning.
    ReasoningDelta {
        /// The text that was added.
        text: String,
        /// The form of the reasoning: the full text or a summary.
        form: ReasoningForm,
    },
    /// More of a refusal.
    RefusalDelta {
        /// The text that was added.
        text: String,
    },
    /// The start of a call.
    ToolCallStart {
        /// The id of the call.
        call_id: CallId,
        /// The name of the tool.
        name: String,
    },
    /// More argument text of a call.
    ToolCallArgsDelta {
        /// The id of the call.
        call_id: CallId,
        /// The text that was added.
        arguments: String,
    },
    /// The end of a call's arguments. It may still not run: the turn can be cut off after it.
    ToolCallEnd {
        /// The id of the call.
        call_id: CallId,
    },
    /// The usage of the turn so far. Replaces earlier updates.
    UsageUpdate(Usage),
    /// The end of the stream: the complete turn.
    TurnComplete(Box<Turn>),
}

/// The form of reasoning that a delta adds to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningForm {
    /// The full text.
    #[default]
    Text,
    /// A summary.
    Summary,
}

impl Delta {
    /// Creates the delta that ends a stream.
    #[must_use]
    pub fn complete(turn: Turn) -> Self {
        Self::TurnComplete(Box::new(turn))
    }
}

impl TaggedEnum for Delta {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("text_delta", |members| Ok(Self::TextDelta { text: members.take("text")? })),
        ("reasoning_delta", |members| {
            Ok(Self::ReasoningDelta { text: members.take("text")?, form: members.take_or_default("form")? })
        }),
        ("refusal_delta", |members| Ok(Self::RefusalDelta { text: members.take("text")? })),
        ("tool_call_start", |members| {
            Ok(Self::ToolCallStart { call_id: members.take("call_id")?, name: members.take("name")? })
        }),
        ("tool_call_args_delta", |members| {
            Ok(Self::ToolCallArgsDelta { call_id: members.take("call_id")?, arguments: members.take("arguments")? })
        }),
        ("tool_call_end", |members| Ok(Self::ToolCallEnd { call_id: members.take("call_id")? })),
        ("usage_update", |members| members.take_all().map(Self::UsageUpdate)),
        ("turn_complete", |members| members.take_all().map(Self::TurnComplete)),
    ];
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::finish::Finish;
    use crate::item::Item;

    #[test]
    fn every_delta_has_its_form() {
        let turn = Turn::new(vec![Item::assistant("hi")], Finish::Stop).usage(Usage::new(1, 2));
        let mut complete = serde_json::to_value(&turn).unwrap();
        complete["type"] = json!("turn_complete");
        let mut usage = serde_json::to_value(Usage::new(1, 2)).unwrap();
        usage["type"] = json!("usage_update");
        let (call_id, name) = (CallId::from("c1"), "add".to_owned());
        let table = [
            (Delta::TextDelta { text: "a".to_owned() }, json!({"type": "text_delta", "text": "a"})),
            (
                Delta::ReasoningDelta { text: "a".to_owned(), form: ReasoningForm::Summary },
                json!({"type": "reasoning_delta", "text": "a", "form": "summary"}),
            ),
            (Delta::RefusalDelta { text: "a".to_owned() }, json!({"type": "refusal_delta", "text": "a"})),
            (
                Delta::ToolCallStart { call_id: call_id.clone(), name },
                json!({"type": "tool_call_start", "call_id": "c1", "name": "add"}),
            ),
            (
                Delta::ToolCallArgsDelta { call_id: call_id.clone(), arguments: "{\"a".to_owned() },
                json!({"type": "tool_call_args_delta", "call_id": "c1", "arguments": "{\"a"}),
            ),
            (Delta::ToolCallEnd { call_id }, json!({"type": "tool_call_end", "call_id": "c1"})),
            (Delta::UsageUpdate(Usage::new(1, 2)), usage),
            (Delta::complete(turn), complete),
        ];
        for (delta, written) in table {
            assert_eq!(serde_json::to_value(&delta).unwrap(), written);
            assert_eq!(serde_json::from_value::<Delta>(written).unwrap(), delta);
        }
    }
}
