//! Items whose end has not arrived.

use std::borrow::Cow;

use haft_core::{CallId, Delta};
use serde_json::{Map, Value};

use crate::wire::openai_responses::response::{OutputKind, required};
use crate::wire::response::turn_builder::TurnBuilder;

/// An item whose end has not arrived, as far as deltas need it.
#[derive(Debug)]
pub(super) enum OpenItem {
    /// Arguments that arrived before their call.
    Early(String),
    Call(OpenFunctionCall),
    ProviderCall(CallId),
    Reasoning {
        /// The number of summary paragraphs that began.
        paragraphs: u64,
        has_text: bool,
    },
    Other,
}

/// A call whose end has not arrived.
#[derive(Debug)]
pub(super) struct OpenFunctionCall {
    call_id: CallId,
    kind: OutputKind,
    is_streamed: bool,
    is_ended: bool,
}

impl OpenFunctionCall {
    /// Begins a call if its item has an id and a name.
    pub(super) fn begin(
        live: &mut TurnBuilder,
        kind: OutputKind,
        item: &Map<String, Value>,
        deltas: &mut Vec<Delta>,
    ) -> Option<Self> {
        let call_id = CallId::from(required(item, "call_id").ok()?);
        let name = match kind {
            OutputKind::Local(_, name) => name,
            _ => required(item, "name").ok()?,
        };
        deltas.push(live.call_start(call_id.clone(), name));
        Some(Self { call_id, kind, is_streamed: false, is_ended: false })
    }

    /// Reports whether a piece of the arguments has arrived.
    pub(super) fn is_streamed(&self) -> bool {
        self.is_streamed
    }

    /// Adds to the arguments. A custom tool's text is written as a JSON string.
    pub(super) fn add(&mut self, live: &mut TurnBuilder, fragment: &str, deltas: &mut Vec<Delta>) {
        if self.is_ended {
            return;
        }
        let text = match self.kind {
            OutputKind::Custom => {
                let quoted = Value::from(fragment).to_string();
                let from = usize::from(self.is_streamed);
                quoted[from..quoted.len() - 1].to_owned()
            }
            _ => fragment.to_owned(),
        };
        self.is_streamed = true;
        deltas.push(live.call_arguments(self.call_id.clone(), text));
    }

    /// Ends the call, adding its arguments if no piece has arrived.
    pub(super) fn end(&mut self, live: &mut TurnBuilder, item: &Map<String, Value>, deltas: &mut Vec<Delta>) {
        if self.is_ended {
            return;
        }
        if !self.is_streamed {
            match self.kind {
                OutputKind::Local(form, _) => {
                    let arguments = Value::Object(form.arguments_of(item)).to_string();
                    self.add(live, &arguments, deltas);
                }
                OutputKind::Custom => {
                    self.add(live, item.get("input").and_then(Value::as_str).unwrap_or_default(), deltas);
                }
                _ => {
                    let arguments = match item.get("arguments") {
                        Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
                        None | Some(Value::Null) => Cow::Borrowed(""),
                        Some(other) => Cow::Owned(other.to_string()),
                    };
                    self.add(live, &arguments, deltas);
                }
            }
        }
        if matches!(self.kind, OutputKind::Custom) {
            deltas.push(live.call_arguments(self.call_id.clone(), "\""));
        }
        self.is_ended = true;
        deltas.push(live.call_end(self.call_id.clone()));
    }
}
