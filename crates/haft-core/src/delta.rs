//! A model's answer while it streams, as deltas.
//!
//! Deltas are for displaying an answer while it arrives. Nothing may be run or stored from them: only the [`Turn`] that
//! ends the stream is complete. A delta with an unknown type is kept and passed on.

mod unknown;

use haft_schema::JsonText;
use serde::{Deserialize, Deserializer, Serialize};

pub use self::unknown::UnknownDelta;
use crate::call::CallId;
use crate::citation::Citation;
use crate::tagged::{self, ReadVariant, TaggedEnum, UnknownTag};
use crate::turn::Turn;
use crate::usage::Usage;

/// One piece from an answer that is still streaming, tagged by `type`.
///
/// Text, reasoning and refusals arrive in *parts*: pieces with the same `part` belong together, and pieces of different
/// parts may be interleaved. Parts are numbered from zero in the order in which they begin, over the whole answer; the
/// number says nothing about the position in the turn. In JSON the part zero is omitted. Calls are told apart by their
/// ids instead.
///
/// ```
/// use haft_core::Delta;
/// use serde_json::json;
///
/// assert_eq!(serde_json::to_value(Delta::text("Hel"))?, json!({"type": "text_delta", "text": "Hel"}));
/// let second = Delta::TextDelta { text: "lo".to_owned(), part: 1 };
/// assert_eq!(serde_json::to_value(&second)?, json!({"type": "text_delta", "text": "lo", "part": 1}));
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
        /// The part that it belongs to.
        #[serde(skip_serializing_if = "is_first")]
        part: usize,
    },
    /// More reasoning.
    ReasoningDelta {
        /// The text that was added.
        text: String,
        /// The reasoning's form: the full text or a summary.
        form: ReasoningForm,
        /// The part that it belongs to. Each paragraph in a summary is one.
        #[serde(skip_serializing_if = "is_first")]
        part: usize,
    },
    /// More refusal text.
    RefusalDelta {
        /// The text that was added.
        text: String,
        /// The part that it belongs to.
        #[serde(skip_serializing_if = "is_first")]
        part: usize,
    },
    /// A citation in a text.
    CitationDelta {
        /// The citation.
        citation: Citation,
        /// The part that the text belongs to.
        #[serde(skip_serializing_if = "is_first")]
        part: usize,
    },
    /// A call starts.
    ToolCallStart {
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        name: String,
    },
    /// More argument text for a call.
    ToolCallArgsDelta {
        /// The call's id.
        call_id: CallId,
        /// The text that was added.
        arguments: String,
    },
    /// A call's arguments are complete. The call may still not run: the turn can be cut off after it.
    ToolCallEnd {
        /// The call's id.
        call_id: CallId,
    },
    /// A call that the provider executes starts.
    ProviderCallStart {
        /// The call's id. An implementation assigns one where the provider has none.
        call_id: CallId,
        /// The tool's name.
        name: String,
    },
    /// More argument text for a call that the provider executes.
    ProviderCallArgsDelta {
        /// The call's id.
        call_id: CallId,
        /// The text that was added.
        arguments: String,
    },
    /// The output that a provider's call returned. A later one for the same call replaces it.
    ProviderCallOutput {
        /// The call's id.
        call_id: CallId,
        /// The output, in the provider's format.
        output: JsonText,
        /// True if the provider reported a failure.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// The turn's usage so far. Replaces earlier updates.
    UsageUpdate(Usage),
    /// The stream ends: the complete turn.
    TurnComplete(Box<Turn>),
    /// A delta whose type this version does not know, kept whole.
    #[serde(untagged)]
    Unknown(Box<UnknownDelta>),
}

/// The reasoning form that a delta adds to.
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
    /// Creates a text delta in the first part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::TextDelta { text: text.into(), part: 0 }
    }

    /// Creates the delta that ends a stream.
    #[must_use]
    pub fn complete(turn: Turn) -> Self {
        Self::TurnComplete(Box::new(turn))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_first(part: &usize) -> bool {
    *part == 0
}

impl TaggedEnum for Delta {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("text_delta", |members| {
            Ok(Self::TextDelta { text: members.take("text")?, part: members.take_or_default("part")? })
        }),
        ("reasoning_delta", |members| {
            Ok(Self::ReasoningDelta {
                text: members.take("text")?,
                form: members.take_or_default("form")?,
                part: members.take_or_default("part")?,
            })
        }),
        ("refusal_delta", |members| {
            Ok(Self::RefusalDelta { text: members.take("text")?, part: members.take_or_default("part")? })
        }),
        ("citation_delta", |members| {
            Ok(Self::CitationDelta { citation: members.take("citation")?, part: members.take_or_default("part")? })
        }),
        ("tool_call_start", |members| {
            Ok(Self::ToolCallStart { call_id: members.take("call_id")?, name: members.take("name")? })
        }),
        ("tool_call_args_delta", |members| {
            Ok(Self::ToolCallArgsDelta { call_id: members.take("call_id")?, arguments: members.take("arguments")? })
        }),
        ("tool_call_end", |members| Ok(Self::ToolCallEnd { call_id: members.take("call_id")? })),
        ("provider_call_start", |members| {
            Ok(Self::ProviderCallStart { call_id: members.take("call_id")?, name: members.take("name")? })
        }),
        ("provider_call_args_delta", |members| {
            Ok(Self::ProviderCallArgsDelta { call_id: members.take("call_id")?, arguments: members.take("arguments")? })
        }),
        ("provider_call_output", |members| {
            Ok(Self::ProviderCallOutput {
                call_id: members.take("call_id")?,
                output: members.take("output")?,
                is_error: members.take_or_default("is_error")?,
            })
        }),
        ("usage_update", |members| members.take_all().map(Self::UsageUpdate)),
        ("turn_complete", |members| members.take_all().map(Self::TurnComplete)),
    ];
    const UNKNOWN: UnknownTag<Self> = UnknownTag::Kept(|object| Self::Unknown(Box::new(object.into())));
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
            (Delta::text("a"), json!({"type": "text_delta", "text": "a"})),
            (Delta::TextDelta { text: "a".to_owned(), part: 7 }, json!({"type": "text_delta", "text": "a", "part": 7})),
            (
                Delta::ReasoningDelta { text: "a".to_owned(), form: ReasoningForm::Summary, part: 0 },
                json!({"type": "reasoning_delta", "text": "a", "form": "summary"}),
            ),
            (
                Delta::ReasoningDelta { text: "a".to_owned(), form: ReasoningForm::Text, part: 1 },
                json!({"type": "reasoning_delta", "text": "a", "form": "text", "part": 1}),
            ),
            (Delta::RefusalDelta { text: "a".to_owned(), part: 0 }, json!({"type": "refusal_delta", "text": "a"})),
            (
                Delta::CitationDelta { citation: Citation::url("https://a.example"), part: 2 },
                json!({"type": "citation_delta", "citation": {"url": "https://a.example"}, "part": 2}),
            ),
            (
                Delta::ProviderCallStart { call_id: call_id.clone(), name: "search".to_owned() },
                json!({"type": "provider_call_start", "call_id": "c1", "name": "search"}),
            ),
            (
                Delta::ProviderCallArgsDelta { call_id: call_id.clone(), arguments: "{".to_owned() },
                json!({"type": "provider_call_args_delta", "call_id": "c1", "arguments": "{"}),
            ),
            (
                Delta::ProviderCallOutput {
                    call_id: call_id.clone(),
                    output: json!({"hits": 1}).into(),
                    is_error: false,
                },
                json!({"type": "provider_call_output", "call_id": "c1", "output": {"hits": 1}}),
            ),
            (
                Delta::ProviderCallOutput { call_id: call_id.clone(), output: JsonText::null(), is_error: true },
                json!({"type": "provider_call_output", "call_id": "c1", "output": null, "is_error": true}),
            ),
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
    /// Reads a delta of each known type with an invalid member.
    #[test]
    fn a_known_delta_with_an_invalid_member_is_an_error() {
        for wrong in [
            json!({"type": "text_delta"}),
            json!({"type": "text_delta", "text": "a", "part": -1}),
            json!({"type": "text_delta", "text": "a", "part": "1"}),
            json!({"type": "text_delta", "text": "a", "part": null}),
            json!({"type": "citation_delta", "part": 1}),
            json!({"type": "provider_call_start", "call_id": "c1"}),
            json!({"type": "provider_call_output", "call_id": "c1"}),
            json!({"text": "a"}),
            json!("text_delta"),
        ] {
            assert!(serde_json::from_value::<Delta>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_delta_is_kept_whole() {
        let written = json!({"b": [1, null], "type": "mood_delta", "part": "x", "a": {"type": "text_delta"}});
        let delta: Delta = serde_json::from_value(written.clone()).unwrap();
        let Delta::Unknown(unknown) = &delta else { panic!("{delta:?}") };
        assert_eq!((unknown.delta_type(), unknown.json()), ("mood_delta", &written));
        assert_eq!(serde_json::to_string(&delta).unwrap(), written.to_string(), "in the same order");
    }
}
