//! An answer's calls.
//!
//! By the specification every call fragment has its `index`, and the first one its id and name. Servers leave out any
//! of these. Without an index, a fragment belongs to the call with its id; one with a name begins a call, and one
//! without continues the last. The first id and the first name win, and arguments that arrive before the name wait for
//! it. Two calls must never become one.

use std::collections::HashMap;

use haft_core::{CallId, Delta};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::wire::openai_chat::lenient::{LenientCount, LenientObject, LenientText, ReadArguments};
use crate::wire::response::turn_builder::TurnBuilder;

/// A call, or a fragment of one.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AnswerCall<'b> {
    index: LenientCount,
    #[serde(borrow)]
    id: LenientText<'b>,
    #[serde(borrow)]
    function: LenientObject<AnswerFunction<'b>>,
    #[serde(borrow)]
    custom: LenientObject<AnswerCustom<'b>>,
    extra_content: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AnswerFunction<'b> {
    #[serde(borrow)]
    name: LenientText<'b>,
    #[serde(borrow)]
    arguments: ReadArguments<'b>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AnswerCustom<'b> {
    #[serde(borrow)]
    name: LenientText<'b>,
    #[serde(borrow)]
    input: LenientText<'b>,
}

/// The members that a fragment has.
struct Fragment<'f> {
    index: Option<u64>,
    id: Option<&'f str>,
    name: Option<&'f str>,
    arguments: String,
    is_function: bool,
    /// A custom tool's text; its JSON becomes the arguments.
    custom_input: Option<String>,
}

/// An answer's calls in progress, in the order they began.
pub(super) struct CallList {
    provider: String,
    turn: usize,
    calls: Vec<OpenChatCall>,
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
}

#[derive(Default)]
struct OpenChatCall {
    id: Option<String>,
    name: Option<String>,
    /// The id under which the call was begun.
    begun: Option<CallId>,
    /// True if a function is called, whose name may be missing.
    is_function: bool,
    /// Arguments that arrived before the name.
    waiting: String,
    /// True if the arguments so far may be a whole object.
    ends_object: bool,
}

impl CallList {
    pub(super) fn new(provider: &str, turn: usize) -> Self {
        let (by_index, by_id) = (HashMap::new(), HashMap::new());
        Self { provider: provider.to_owned(), turn, calls: Vec::new(), by_index, by_id }
    }

    /// Adds a delta's fragments.
    pub(super) fn add(&mut self, turn: &mut TurnBuilder, fragments: Vec<AnswerCall<'_>>, deltas: &mut Vec<Delta>) {
        let count = fragments.len();
        for (at, mut call) in fragments.into_iter().enumerate() {
            let extra = call.extra_content.take();
            let AnswerCall { index, id, function, custom, .. } = call;
            let is_function = function.0.is_some();
            let (function, custom) = (function.0.unwrap_or_default(), custom.0);
            let name = function.name.get().or_else(|| custom.as_ref().and_then(|custom| custom.name.get()));
            let custom_input = custom.as_ref().map(|custom| custom.input.get().unwrap_or_default().to_owned());
            let arguments = match &custom_input {
                // The text as a JSON string, as the Responses API has it.
                Some(input) => Value::from(input.as_str()).to_string(),
                None => function.arguments.into_text().unwrap_or_default(),
            };
            let fragment = Fragment { index: index.0, id: id.get(), name, arguments, is_function, custom_input };
            let siblings = if count > 1 { Some(at) } else { None };
            let position = self.position(&fragment, siblings);
            self.extend(position, fragment, turn, deltas);
            if let (Some(id), Some(extra)) = (self.calls[position].begun.clone(), extra) {
                self.keep(turn, &id, "extra_content", extra);
            }
        }
    }

    /// Ends all calls. A call whose name never arrived gets an empty one, so that the model learns that there is no
    /// such tool.
    pub(super) fn end(&mut self, turn: &mut TurnBuilder, deltas: &mut Vec<Delta>) {
        for position in 0..self.calls.len() {
            if self.calls[position].is_function {
                self.begin(position, "", turn, deltas);
            }
        }
        deltas.extend(self.calls.drain(..).filter_map(|call| call.begun).map(|id| turn.call_end(id)));
    }

    /// Returns the position of the call that a fragment belongs to, beginning the call if needed. `at` is the
    /// fragment's place among several in the same delta.
    fn position(&mut self, fragment: &Fragment<'_>, at: Option<usize>) -> usize {
        let known = match fragment.index {
            Some(index) => self.by_index.get(&index).copied().filter(|at| !self.begins_another(*at, fragment)),
            None => self.position_without_index(fragment, at),
        };
        known.unwrap_or_else(|| {
            self.calls.push(OpenChatCall::default());
            let position = self.calls.len() - 1;
            if let Some(index) = fragment.index {
                self.by_index.insert(index, position);
            }
            position
        })
    }

    fn position_without_index(&self, fragment: &Fragment<'_>, at: Option<usize>) -> Option<usize> {
        if let Some(known) = fragment.id.and_then(|id| self.by_id.get(id)) {
            return Some(*known);
        }
        let last = self.calls.len().checked_sub(1)?;
        let open = &self.calls[last];
        match (fragment.id, fragment.name) {
            (None, None) => Some(at.filter(|at| *at <= last).unwrap_or(last)),
            // The rest of a call whose head arrived in pieces.
            (None, Some(_)) => (open.name.is_none() && at.is_none()).then_some(last),
            (Some(_), _) => (open.id.is_none() && open.name.is_none() && at.is_none()).then_some(last),
        }
    }

    /// Reports whether a fragment with a call's index belongs to another call. Some servers send whole calls that all
    /// have index zero.
    fn begins_another(&self, at: usize, fragment: &Fragment<'_>) -> bool {
        let open = &self.calls[at];
        match (fragment.name, fragment.id, &open.id) {
            (None, ..) => false,
            (Some(_), Some(id), Some(known)) => id != known,
            (Some(name), ..) => match &open.name {
                None => false,
                Some(known) => known != name || (open.ends_object && fragment.arguments.trim_start().starts_with('{')),
            },
        }
    }

    fn extend(&mut self, position: usize, fragment: Fragment<'_>, turn: &mut TurnBuilder, deltas: &mut Vec<Delta>) {
        let open = &mut self.calls[position];
        open.is_function |= fragment.is_function;
        if let (None, Some(id)) = (&open.id, fragment.id) {
            open.id = Some(id.to_owned());
            // An id that two calls share identifies the first.
            self.by_id.entry(id.to_owned()).or_insert(position);
        }
        if let Some(name) = fragment.name {
            self.begin(position, name, turn, deltas);
        }
        let open = &mut self.calls[position];
        if let Some(last) = fragment.arguments.trim_end().chars().next_back() {
            open.ends_object = last == '}';
        }
        match &open.begun {
            _ if fragment.arguments.is_empty() => {}
            Some(id) => deltas.push(turn.call_arguments(id.clone(), fragment.arguments)),
            None => open.waiting.push_str(&fragment.arguments),
        }
        if let (Some(id), Some(input)) = (open.begun.clone(), fragment.custom_input) {
            self.keep(turn, &id, "custom_input", input.into());
        }
    }

    /// Begins a call, unless it has begun.
    fn begin(&mut self, position: usize, name: &str, turn: &mut TurnBuilder, deltas: &mut Vec<Delta>) {
        let open = &mut self.calls[position];
        if open.begun.is_some() {
            return;
        }
        // If the server sends no id, assign one that occurs nowhere else in the history.
        let own = open.id.as_deref().filter(|id| self.by_id.get(*id) == Some(&position)).map(CallId::from);
        let id = own.unwrap_or_else(|| CallId::from(format!("call_{}_{position}", self.turn)));
        deltas.push(turn.call_start(id.clone(), name));
        if !open.waiting.is_empty() {
            deltas.push(turn.call_arguments(id.clone(), std::mem::take(&mut open.waiting)));
        }
        open.name = Some(name.to_owned());
        open.begun = Some(id);
    }

    /// Keeps call data that the server demands back.
    fn keep(&self, turn: &mut TurnBuilder, id: &CallId, member: &str, value: Value) {
        if let Some(call) = turn.call_mut(id) {
            let data = call.provider_data.entry(&*self.provider).or_insert_with(|| json!({}));
            data[member] = value;
        }
    }
}
