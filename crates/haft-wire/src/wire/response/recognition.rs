//! Finds a body's wire by its objects' members.
//!
//! Only member names and types at the root are read, and those in an error; everything below is skipped without
//! recursion. What was read before a fault counts, so that a truncated body is recognised too. A body's texts decide
//! nothing, except where a provider names an object's type with them.
//!
//! A call from a plain file must never count as a response. Such a call has a `name` at its root, which no response
//! has.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::wire::known_wire::KnownWire;
use crate::wire::response::saved_body::BodyForm;
use crate::wire::response::text::Text;

/// The number of server-sent event lines to read. Only a few are preceded by so many comments and unknown events.
const LINES: usize = 256;

/// The Messages API's events that no other API has.
const ANTHROPIC_EVENTS: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];

/// Returns a body's wire.
pub(crate) fn recognise(body: &str) -> Option<KnownWire> {
    let body = body.strip_prefix('\u{feff}').unwrap_or(body);
    match BodyForm::of(body) {
        BodyForm::Whole => whole(body),
        BodyForm::Array => first_chunk(body),
        BodyForm::Events => body.lines().take(LINES).filter_map(data).find_map(event),
    }
}

/// Returns the data in an event line.
fn data(line: &str) -> Option<&str> {
    line.strip_prefix("data:").map(str::trim)
}

fn whole(body: &str) -> Option<KnownWire> {
    let mut json = serde_json::Deserializer::from_str(body);
    let mut marks = Marks::default();
    let read = marks.read(&mut json);
    // If something follows an object, these are lines, which is how calls look.
    if read.is_ok() && json.end().is_err() {
        return None;
    }
    marks.of_response().or_else(|| marks.of_error())
}

fn event(data: &str) -> Option<KnownWire> {
    let mut marks = Marks::default();
    let _ = marks.read(&mut serde_json::Deserializer::from_str(data));
    marks.of_event().or_else(|| marks.of_response()).or_else(|| marks.of_error())
}

/// Returns a list's wire by its first element. Only Gemini streams as a list.
fn first_chunk(body: &str) -> Option<KnownWire> {
    let mut marks = Marks::default();
    let _ = serde_json::Deserializer::from_str(body).deserialize_seq(First(&mut marks));
    marks.of_response().or_else(|| marks.of_error()).filter(|wire| *wire == KnownWire::Gemini)
}

/// The members by which an object is recognised.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent members, each of which is there or not")]
struct Marks<'b> {
    object: Option<Text<'b>>,
    kind: Option<Text<'b>>,
    has_choices: bool,
    has_output: bool,
    has_status: bool,
    has_model: bool,
    has_end: bool,
    has_candidates: bool,
    has_name: bool,
    has_sequence_number: bool,
    error: Option<ErrorForm>,
}

/// An error's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorForm {
    /// An object or a text, as from most providers.
    Plain,
    /// An object with a numeric `code` or a `status`, as from Google.
    Google,
}

/// A member's value, as far as it matters.
#[derive(Debug)]
enum MemberValue<'b> {
    Text(Text<'b>),
    Number,
    List,
    Object,
    Null,
    Other,
}

impl<'b> Marks<'b> {
    fn read<D: Deserializer<'b>>(&mut self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(RootMembers(|name: &str, value| self.note(name, value)))
    }

    fn note(&mut self, name: &str, value: MemberValue<'b>) {
        match (name, value) {
            (_, MemberValue::Null) => {}
            ("object", MemberValue::Text(text)) => self.object = Some(text),
            ("type", MemberValue::Text(text)) => self.kind = Some(text),
            ("status", MemberValue::Text(_)) => self.has_status = true,
            ("model", MemberValue::Text(_)) => self.has_model = true,
            ("choices", MemberValue::List) => self.has_choices = true,
            ("output", MemberValue::List) => self.has_output = true,
            ("candidates", MemberValue::List) | ("usageMetadata" | "promptFeedback", MemberValue::Object) => {
                self.has_candidates = true;
            }
            ("stop_reason", MemberValue::Text(_)) | ("usage", MemberValue::Object) => self.has_end = true,
            ("sequence_number", MemberValue::Number) => self.has_sequence_number = true,
            ("name", _) => self.has_name = true,
            // An error's members are noted with this prefix.
            ("error", MemberValue::Object | MemberValue::Text(_)) => {
                self.error.get_or_insert(ErrorForm::Plain);
            }
            ("error.code", MemberValue::Number) | ("error.status", MemberValue::Text(_)) => {
                self.error = Some(ErrorForm::Google);
            }
            _ => {}
        }
    }

    fn object(&self) -> &str {
        self.object.as_ref().map_or("", Text::as_str)
    }

    fn kind(&self) -> &str {
        self.kind.as_ref().map_or("", Text::as_str)
    }

    /// Returns the wire for a response, or for a chunk that looks like one.
    fn of_response(&self) -> Option<KnownWire> {
        let is_message = self.kind() == "message" && (self.has_model || self.has_end);
        match self.object() {
            _ if self.has_name => None,
            "response" => Some(KnownWire::OpenAi),
            "chat.completion" | "chat.completion.chunk" => Some(KnownWire::OpenAiChat),
            "" if self.has_candidates => Some(KnownWire::Gemini),
            "" if self.has_choices => Some(KnownWire::OpenAiChat),
            "" if is_message => Some(KnownWire::Anthropic),
            "" if self.has_output && self.has_status => Some(KnownWire::OpenAi),
            _ => None,
        }
    }

    /// Returns the wire for an event that names its type.
    fn of_event(&self) -> Option<KnownWire> {
        match self.kind() {
            _ if self.has_name => None,
            kind if kind.starts_with("response.") => Some(KnownWire::OpenAi),
            kind if ANTHROPIC_EVENTS.contains(&kind) => Some(KnownWire::Anthropic),
            "error" if self.has_sequence_number || self.error.is_none() => Some(KnownWire::OpenAi),
            _ => None,
        }
    }

    /// Returns an error's wire.
    fn of_error(&self) -> Option<KnownWire> {
        match (self.error?, self.kind()) {
            _ if self.has_name => None,
            (_, "error") => Some(KnownWire::Anthropic),
            (ErrorForm::Google, _) => Some(KnownWire::Gemini),
            (ErrorForm::Plain, _) => Some(KnownWire::OpenAi),
        }
    }
}

/// Reads an object's members, and notes each as soon as its value's type is known.
struct RootMembers<N>(N);

impl<'de, N: FnMut(&str, MemberValue<'de>)> Visitor<'de> for RootMembers<N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Text<'_>>()? {
            map.next_value_seed(Member { name: name.as_str(), note: &mut self.0 })?;
        }
        Ok(())
    }
}

/// Reads one member's value.
struct Member<'n, N> {
    name: &'n str,
    note: &'n mut N,
}

impl<'de, N: FnMut(&str, MemberValue<'de>)> DeserializeSeed<'de> for Member<'_, N> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, N: FnMut(&str, MemberValue<'de>)> Member<'_, N> {
    fn note(self, value: MemberValue<'de>) {
        (self.note)(self.name, value);
    }
}

impl<'de, N: FnMut(&str, MemberValue<'de>)> Visitor<'de> for Member<'_, N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<(), E> {
        self.note(MemberValue::Text(Text(text.into())));
        Ok(())
    }

    // The texts that types are named by have no escapes.
    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.note(MemberValue::Text(Text::default()));
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.note(MemberValue::Other);
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.note(MemberValue::Number);
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.note(MemberValue::Number);
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.note(MemberValue::Number);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.note(MemberValue::Null);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.note(MemberValue::List);
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (is_error, note) = (self.name == "error", self.note);
        note(self.name, MemberValue::Object);
        while let Some(name) = map.next_key::<Text<'_>>()? {
            match name.as_str() {
                "code" if is_error => map.next_value_seed(Member { name: "error.code", note: &mut *note })?,
                "status" if is_error => map.next_value_seed(Member { name: "error.status", note: &mut *note })?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads a list's first element and skips the others.
struct First<'m, 'b>(&'m mut Marks<'b>);

impl<'de> Visitor<'de> for First<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        list.next_element_seed(self).map(|_| ())
    }
}

impl<'de> DeserializeSeed<'de> for First<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        self.0.read(json)
    }
}
