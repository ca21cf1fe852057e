//! Streams: server-sent events as deltas and a turn.
//!
//! Deltas are made from the events as they arrive. The turn is not: the last event contains the whole response, which
//! is read as if it had not been streamed, so both ways lead to the same turn. Servers that leave the output out of it
//! have sent each item when it was done. For servers that don't even do that, the turn is made from the deltas.

mod event;
mod open_item;

use std::collections::{BTreeMap, HashMap, HashSet};

use haft_core::{Delta, ReasoningForm};
use haft_schema::JsonText;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use self::event::{EventBody, is_progress, kept};
use self::open_item::{OpenFunctionCall, OpenItem};
use super::error::ResponsesError;
use super::response::{ItemReader, OutputKind, ResponseBody, citation};
use crate::wire::response::depth;
use crate::wire::response::text::Text;
use crate::wire::response::turn_builder::TurnBuilder;
use crate::wire::{ReadContext, StreamReader, WireEvent};
use crate::wire_error::ReadError;

/// The data with which some servers end every stream.
const END: &str = "[DONE]";
/// The key bits that hold the position in an item. The others hold the item's position.
const CONTENT_BITS: u32 = 20;
/// The first position for items without one. No response has so many items.
const UNSTATED: u64 = 1 << 43;

/// Reads one response's events.
pub(super) struct EventReader {
    provider: String,
    context: ReadContext,
    /// The turn as the deltas have it.
    live: TurnBuilder,
    open: HashMap<u64, OpenItem>,
    /// Item positions by id, for events without a position.
    positions: HashMap<String, u64>,
    /// The position of the item that began last.
    last: u64,
    /// The positions at which an item began.
    begun: HashSet<u64>,
    /// The position for the next item without one.
    next: u64,
    /// The keys of texts and refusals that a piece has arrived for.
    streamed: HashSet<u64>,
    /// The key whose piece arrived last.
    last_streamed: Option<u64>,
    /// The items that are done, as JSON.
    done: BTreeMap<u64, String>,
    is_complete: bool,
}

impl EventReader {
    pub(super) fn new(provider: &str, context: &ReadContext) -> Self {
        Self {
            provider: provider.to_owned(),
            context: context.clone(),
            live: TurnBuilder::new(context),
            open: HashMap::new(),
            positions: HashMap::new(),
            last: 0,
            begun: HashSet::new(),
            next: UNSTATED,
            streamed: HashSet::new(),
            last_streamed: None,
            done: BTreeMap::new(),
            is_complete: false,
        }
    }

    fn read(&mut self, event: WireEvent<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let Some(mut body) = EventBody::read(event.data)? else {
            deltas.push(kept(&self.provider, event)?);
            return Ok(());
        };
        // A position that no response can have says nothing.
        body.output_index = body.output_index.filter(|at| *at < UNSTATED);
        let event_type = match (&body.event_type, event.name) {
            (Some(event_type), _) => event_type.as_str(),
            (None, _) if body.error.is_some() => "error",
            (None, Some(name)) => name,
            (None, None) => "",
        };
        match (event_type, &body) {
            ("response.output_text.delta", EventBody { delta: Some(text), .. }) => {
                let key = self.mark_streamed(&body);
                deltas.push(self.live.text_at(key, text.as_str()));
            }
            ("response.refusal.delta", EventBody { delta: Some(text), .. }) => {
                let key = self.mark_streamed(&body);
                deltas.push(self.live.refusal_at(key, text.as_str()));
            }
            (
                "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta",
                EventBody { delta: Some(fragment), .. },
            ) => self.arguments(self.position(&body), fragment.as_str(), deltas),
            ("response.function_call_arguments.done", EventBody { arguments: Some(whole), .. })
            | ("response.custom_tool_call_input.done", EventBody { input: Some(whole), .. }) => {
                self.whole_arguments(self.position(&body), whole.as_str(), deltas);
            }
            (
                "response.mcp_call_arguments.delta" | "response.code_interpreter_call_code.delta",
                EventBody { delta: Some(fragment), .. },
            ) => {
                if let Some(OpenItem::ProviderCall(id)) = self.open.get(&self.position(&body)) {
                    deltas.push(self.live.provider_call_arguments(id.clone(), fragment.as_str()));
                }
            }
            ("response.reasoning_summary_text.delta", EventBody { delta: Some(text), .. }) => {
                self.begin_paragraph(&body);
                deltas.push(self.live.reasoning_at(self.position(&body), ReasoningForm::Summary, text.as_str()));
            }
            ("response.reasoning_text.delta", EventBody { delta: Some(text), .. }) => {
                let position = self.position(&body);
                self.reasoning_is_streamed(position);
                deltas.push(self.live.reasoning_at(position, ReasoningForm::Text, text.as_str()));
            }
            ("response.reasoning_summary_part.added", _) => self.begin_paragraph(&body),
            ("response.output_text.done", EventBody { text: Some(text), .. }) => self.whole_text(&body, text, deltas),
            ("response.refusal.done", EventBody { refusal: Some(text), .. }) => {
                if !self.is_streamed(self.key(&body)) {
                    let key = self.mark_streamed(&body);
                    deltas.push(self.live.refusal_at(key, text.as_str()));
                }
            }
            ("response.output_text.annotation.added", EventBody { annotation: Some(annotation), .. }) => {
                if let Ok(annotation @ Value::Object(_)) = serde_json::from_str(annotation.get()) {
                    let citation = citation(&self.provider, annotation);
                    deltas.push(self.live.citation_at(self.key(&body), citation));
                }
            }
            ("response.output_item.added", EventBody { item: Some(item), .. }) => {
                let item = read_item(item.get())?;
                self.begin(self.begun_position(body.output_index, &item), &item, deltas);
            }
            ("response.output_item.done", EventBody { item: Some(item), .. }) => {
                let (json, item) = (item.get(), read_item(item.get())?);
                self.finish_item(self.done_position(body.output_index, &item), item, json, deltas);
            }
            ("response.image_generation_call.partial_image", _) => self.partial_image(&body, event, deltas)?,
            (
                "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled",
                EventBody { response: Some(response), .. },
            ) => self.complete(event_type, response.get(), deltas)?,
            ("error", _) => return Err(ReadError::Provider(ResponsesError::of_event(event.data).into_report())),
            _ if is_progress(event_type) => {}
            _ => deltas.push(kept(&self.provider, event)?),
        }
        Ok(())
    }

    /// Returns the position of the item that an event belongs to. Some servers write another id in every event, so an
    /// unknown id says nothing.
    fn position(&self, event: &EventBody<'_>) -> u64 {
        let by_id = event.item_id.as_ref().and_then(|id| self.positions.get(id.as_str()).copied());
        by_id.or(event.output_index).unwrap_or(self.last)
    }

    /// Returns the position for an item that begins. If a server states the same position for two items, they are still
    /// two.
    fn begun_position(&self, stated: Option<u64>, item: &Map<String, Value>) -> u64 {
        let is_free = |at: &u64| !self.begun.contains(at);
        self.known_position(item).or(stated.filter(is_free)).unwrap_or(self.next)
    }

    /// Returns a finished item's position.
    fn done_position(&self, stated: Option<u64>, item: &Map<String, Value>) -> u64 {
        let is_open = |at: &u64| !self.done.contains_key(at);
        let last = Some(self.last).filter(|at| stated.is_none() && self.begun.contains(at));
        let known = self.known_position(item).filter(|at| is_open(at) || stated.is_none_or(|stated| stated == *at));
        known.or(stated.filter(is_open)).or(last.filter(is_open)).unwrap_or(self.next)
    }

    fn known_position(&self, item: &Map<String, Value>) -> Option<u64> {
        text_of(item, "id").and_then(|id| self.positions.get(id).copied())
    }

    /// Returns the key of the part that an event belongs to.
    fn key(&self, event: &EventBody<'_>) -> u64 {
        part_key(self.position(event), event.content_index.unwrap_or(0))
    }

    fn is_streamed(&self, key: u64) -> bool {
        self.streamed.contains(&key)
    }

    fn mark_streamed(&mut self, event: &EventBody<'_>) -> u64 {
        let key = self.key(event);
        if self.last_streamed != Some(key) {
            self.last_streamed = Some(key);
            self.streamed.insert(key);
        }
        key
    }

    /// Adds a text that no piece has arrived for.
    fn whole_text(&mut self, event: &EventBody<'_>, text: &Text<'_>, deltas: &mut Vec<Delta>) {
        if !text.as_str().is_empty() && !self.is_streamed(self.key(event)) {
            let key = self.mark_streamed(event);
            deltas.push(self.live.text_at(key, text.as_str()));
        }
    }

    /// Adds to a call's arguments. If the call has not begun, they wait for it.
    fn arguments(&mut self, position: u64, fragment: &str, deltas: &mut Vec<Delta>) {
        match self.open.entry(position).or_insert_with(|| OpenItem::Early(String::new())) {
            OpenItem::Early(early) => early.push_str(fragment),
            OpenItem::Call(call) => call.add(&mut self.live, fragment, deltas),
            _ => {}
        }
    }

    /// Adds the arguments of a call that no piece has arrived for.
    fn whole_arguments(&mut self, position: u64, whole: &str, deltas: &mut Vec<Delta>) {
        let is_new = match self.open.get(&position) {
            None => true,
            Some(OpenItem::Early(early)) => early.is_empty(),
            Some(OpenItem::Call(call)) => !call.is_streamed(),
            Some(_) => false,
        };
        if is_new && !whole.is_empty() {
            self.arguments(position, whole, deltas);
        }
    }

    /// Begins the summary paragraph that an event belongs to, unless it has begun.
    fn begin_paragraph(&mut self, event: &EventBody<'_>) {
        let position = self.position(event);
        let index = event.summary_index.unwrap_or(0);
        let open = self.open.entry(position).or_insert(OpenItem::Reasoning { paragraphs: 0, has_text: false });
        if let OpenItem::Reasoning { paragraphs, .. } = open
            && *paragraphs <= index
        {
            *paragraphs = index.saturating_add(1);
            self.live.summary_paragraph(position);
        }
    }

    fn reasoning_is_streamed(&mut self, position: u64) {
        let open = self.open.entry(position).or_insert(OpenItem::Reasoning { paragraphs: 0, has_text: false });
        if let OpenItem::Reasoning { has_text, .. } = open {
            *has_text = true;
        }
    }

    /// Begins an item, unless it has begun. A call without an id or a name begins when it is done.
    fn begin(&mut self, position: u64, item: &Map<String, Value>, deltas: &mut Vec<Delta>) {
        self.last = position;
        self.next += u64::from(position == self.next);
        if let Some(id) = text_of(item, "id") {
            self.positions.insert(id.to_owned(), position);
        }
        let is_new = self.begun.insert(position);
        let kind = OutputKind::of(item, &self.context.tools);
        let early = match self.open.get_mut(&position) {
            Some(OpenItem::Early(early)) => std::mem::take(early),
            Some(_) if !is_new => return,
            // Its pieces arrived before it.
            Some(OpenItem::Reasoning { .. }) if matches!(kind, OutputKind::Reasoning) => return,
            Some(_) | None => String::new(),
        };
        let open = match kind {
            OutputKind::Function | OutputKind::Custom | OutputKind::Local(..) => {
                match OpenFunctionCall::begin(&mut self.live, kind, item, deltas) {
                    Some(mut call) => {
                        if !early.is_empty() {
                            call.add(&mut self.live, &early, deltas);
                        }
                        OpenItem::Call(call)
                    }
                    None => OpenItem::Early(early),
                }
            }
            OutputKind::Provider(name) => match text_of(item, "id") {
                Some(id) => {
                    deltas.push(self.live.provider_call_start(id, self.provider.as_str(), name));
                    OpenItem::ProviderCall(id.into())
                }
                None => OpenItem::Other,
            },
            OutputKind::Reasoning => OpenItem::Reasoning { paragraphs: 0, has_text: false },
            OutputKind::Message | OutputKind::Approval | OutputKind::Unknown => OpenItem::Other,
        };
        self.open.insert(position, open);
    }

    /// Ends an item: adds what was not streamed, and keeps the whole for the turn.
    fn finish_item(&mut self, position: u64, item: Map<String, Value>, json: &str, deltas: &mut Vec<Delta>) {
        self.begin(position, &item, deltas);
        match self.open.get_mut(&position) {
            Some(OpenItem::Call(call)) => call.end(&mut self.live, &item, deltas),
            Some(OpenItem::ProviderCall(id)) => {
                let (id, is_error) = (id.clone(), super::response::is_failed(&item));
                if let Ok(output) = JsonText::parse(json) {
                    deltas.push(self.live.provider_call_output(id, output, is_error));
                }
            }
            Some(OpenItem::Reasoning { paragraphs: 0, has_text: false }) => {
                self.whole_reasoning(position, &item, deltas);
            }
            _ if text_of(&item, "type") == Some("message") => self.whole_message(position, item, deltas),
            _ => {}
        }
        self.done.insert(position, json.to_owned());
    }

    /// Adds a message's texts that no piece has arrived for, and ends it.
    fn whole_message(&mut self, position: u64, mut item: Map<String, Value>, deltas: &mut Vec<Delta>) {
        let content = item.shift_remove("content");
        for (index, part) in content.as_ref().and_then(Value::as_array).into_iter().flatten().enumerate() {
            let key = part_key(position, index as u64);
            if self.is_streamed(key) {
                continue;
            }
            let text = |member: &str| part.get(member).and_then(Value::as_str).filter(|text| !text.is_empty());
            if let Some(text) = text("text") {
                deltas.push(self.live.text_at(key, text));
            } else if let Some(refusal) = text("refusal") {
                deltas.push(self.live.refusal_at(key, refusal));
            }
            self.streamed.insert(key);
        }
        self.live.end_message(Map::new());
    }

    /// Adds reasoning that no piece has arrived for.
    fn whole_reasoning(&mut self, position: u64, item: &Map<String, Value>, deltas: &mut Vec<Delta>) {
        let texts = |member: &str| {
            let parts = item.get(member).and_then(Value::as_array).into_iter().flatten();
            parts.filter_map(|part| part.get("text").and_then(Value::as_str)).filter(|text| !text.is_empty())
        };
        for text in texts("summary") {
            self.live.summary_paragraph(position);
            deltas.push(self.live.reasoning_at(position, ReasoningForm::Summary, text));
        }
        for text in texts("content") {
            deltas.push(self.live.reasoning_at(position, ReasoningForm::Text, text));
        }
        self.open.insert(position, OpenItem::Reasoning { paragraphs: 0, has_text: true });
    }

    /// Reports an unfinished image as the output so far.
    fn partial_image(
        &mut self,
        body: &EventBody<'_>,
        event: WireEvent<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReadError> {
        let position = self.position(body);
        deltas.push(match (self.open.get(&position), JsonText::parse(event.data)) {
            (Some(OpenItem::ProviderCall(id)), Ok(output)) => {
                Delta::ProviderCallOutput { call_id: id.clone(), output, is_error: false }
            }
            _ => kept(&self.provider, event)?,
        });
        Ok(())
    }

    fn complete(&mut self, event_type: &str, response: &str, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let response = ResponseBody::read(response)?.or_status(event_type);
        response.ensure_success()?;
        let mut turn = TurnBuilder::new(&self.context);
        let reader = ItemReader::new(&self.provider, &self.context);
        let output = response.output.as_deref().unwrap_or_default();
        if !output.is_empty() {
            for item in output {
                reader.read(&mut turn, item.get())?;
            }
            self.finish_unseen(output, deltas)?;
        } else if !self.done.is_empty() {
            for item in self.done.values() {
                reader.read(&mut turn, item)?;
            }
        } else {
            self.end_calls(deltas)?;
            turn = std::mem::take(&mut self.live);
        }
        let usage = response.usage();
        let turn = response.finish(&self.provider, turn);
        self.is_complete = true;
        deltas.extend(usage.map(Delta::UsageUpdate));
        deltas.push(Delta::complete(turn));
        Ok(())
    }

    /// Adds what was not streamed from the whole response's items, so that the deltas contain all of it.
    fn finish_unseen(&mut self, output: &[&RawValue], deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        if self.done.len() >= output.len() {
            return Ok(());
        }
        for (position, json) in (0..).zip(output) {
            let item = read_item(json.get())?;
            let position = self.known_position(&item).unwrap_or(position);
            if !self.done.contains_key(&position) {
                self.finish_item(position, item, json.get(), deltas);
            }
        }
        Ok(())
    }

    /// Ends the calls in a stream that contains no whole item. A call with only arguments can't be answered, and must
    /// not be lost.
    fn end_calls(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let mut positions: Vec<u64> = self.open.keys().copied().collect();
        positions.sort_unstable();
        for position in positions {
            match self.open.get_mut(&position) {
                Some(OpenItem::Call(call)) => call.end(&mut self.live, &Map::new(), deltas),
                Some(OpenItem::Early(_)) => {
                    return Err(ReadError::invalid("the stream contains a call without an id or a name"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl StreamReader for EventReader {
    fn event(&mut self, event: WireEvent<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let data = event.data.trim();
        if self.is_complete || data.is_empty() || data == END {
            return Ok(());
        }
        depth::check(data)?;
        self.read(event, deltas)
    }

    fn end(&mut self, _: &mut Vec<Delta>) -> Result<(), ReadError> {
        if self.is_complete { Ok(()) } else { Err(ReadError::Incomplete) }
    }
}

/// Returns the key for an item's part.
fn part_key(position: u64, content_index: u64) -> u64 {
    (position << CONTENT_BITS) | (content_index & ((1 << CONTENT_BITS) - 1))
}

fn read_item(json: &str) -> Result<Map<String, Value>, ReadError> {
    serde_json::from_str(json).map_err(|error| ReadError::json("an item of the stream", error))
}

fn text_of<'i>(item: &'i Map<String, Value>, member: &str) -> Option<&'i str> {
    item.get(member).and_then(Value::as_str)
}
