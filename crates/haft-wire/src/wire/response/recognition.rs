//! Finds a body's wire by its objects' members.
//!
//! Each wire's folder declares by which members it is recognised. Only member names and types at the root are read, and
//! those in an error; everything below is skipped without recursion. What was read before a fault counts, so that a
//! truncated body is recognised too. A body's texts decide nothing, except where a provider names an object's type with
//! them.
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
/// The number of members to keep. No response has so many.
const MOST_MEMBERS: usize = 256;

/// The marks that a wire's bodies are recognised by. The first wire that recognises a body counts, so each excludes the others' forms.
pub(crate) struct Recognition {
    /// Recognises a response, or a chunk that looks like one.
    pub(crate) is_response: Mark,
    /// Recognises an event that names its type.
    pub(crate) is_event: Mark,
    /// Recognises an error.
    pub(crate) is_error: Mark,
    /// Set if the API streams chunks as a JSON list.
    pub(crate) streams_lists: bool,
}

type Mark = fn(&BodyMembers<'_>) -> bool;

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
    let mut members = BodyMembers::default();
    let read = members.read(&mut json);
    // If something follows an object, these are lines, which is how calls look.
    if read.is_ok() && json.end().is_err() {
        return None;
    }
    members.wire_by(|wire| wire.is_response).or_else(|| members.wire_by(|wire| wire.is_error))
}

fn event(data: &str) -> Option<KnownWire> {
    let mut members = BodyMembers::default();
    let _ = members.read(&mut serde_json::Deserializer::from_str(data));
    let marks: [fn(&Recognition) -> Mark; 3] = [|wire| wire.is_event, |wire| wire.is_response, |wire| wire.is_error];
    marks.into_iter().find_map(|mark| members.wire_by(mark))
}

/// Returns a list's wire by its first element.
fn first_chunk(body: &str) -> Option<KnownWire> {
    let mut members = BodyMembers::default();
    let _ = serde_json::Deserializer::from_str(body).deserialize_seq(First(&mut members));
    let wire = members.wire_by(|wire| wire.is_response).or_else(|| members.wire_by(|wire| wire.is_error));
    wire.filter(|wire| wire.recognition().streams_lists)
}

/// The members by which an object is recognised. Null ones are left out.
#[derive(Debug, Default)]
pub(crate) struct BodyMembers<'b> {
    found: Vec<(Place, Text<'b>, MemberValue<'b>)>,
    has_name: bool,
}

/// The object that a member belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Root,
    /// The member `error` at the root.
    Error,
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

impl<'b> BodyMembers<'b> {
    fn read<D: Deserializer<'b>>(&mut self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(Object(Place::Root, |place, name, value| self.note(place, name, value)))
    }

    fn note(&mut self, place: Place, name: Text<'b>, value: MemberValue<'b>) {
        if matches!(value, MemberValue::Null) {
            return;
        }
        self.has_name |= place == Place::Root && name.as_str() == "name";
        if self.found.len() < MOST_MEMBERS {
            self.found.push((place, name, value));
        }
    }

    /// Returns the first wire with this mark.
    fn wire_by(&self, mark: fn(&Recognition) -> Mark) -> Option<KnownWire> {
        let mut wires = KnownWire::ALL.into_iter().filter(|_| !self.has_name);
        wires.find(|wire| mark(&wire.recognition())(self))
    }

    /// Returns a text at the root; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        let text = self.values(Place::Root, name).filter_map(|value| match value {
            MemberValue::Text(text) => Some(text.as_str()),
            _ => None,
        });
        text.last().unwrap_or_default()
    }

    pub(crate) fn has_text(&self, name: &str) -> bool {
        self.values(Place::Root, name).any(|value| matches!(value, MemberValue::Text(_)))
    }

    pub(crate) fn has_number(&self, name: &str) -> bool {
        self.values(Place::Root, name).any(|value| matches!(value, MemberValue::Number))
    }

    pub(crate) fn has_list(&self, name: &str) -> bool {
        self.values(Place::Root, name).any(|value| matches!(value, MemberValue::List))
    }

    pub(crate) fn has_object(&self, name: &str) -> bool {
        self.values(Place::Root, name).any(|value| matches!(value, MemberValue::Object))
    }

    /// Reports whether there is an error: an object, or a text.
    pub(crate) fn has_error(&self) -> bool {
        self.has_object("error") || self.has_text("error")
    }

    /// Reports whether the error has Google's form: an object with a numeric `code` or a `status`.
    pub(crate) fn has_google_error(&self) -> bool {
        let has_code = self.values(Place::Error, "code").any(|value| matches!(value, MemberValue::Number));
        has_code || self.values(Place::Error, "status").any(|value| matches!(value, MemberValue::Text(_)))
    }

    fn values(&self, place: Place, name: &str) -> impl Iterator<Item = &MemberValue<'b>> {
        let is_it = move |found: &&(Place, Text<'b>, MemberValue<'b>)| found.0 == place && found.1.as_str() == name;
        self.found.iter().filter(is_it).map(|(_, _, value)| value)
    }
}

/// Reads an object's members, and notes each as soon as its value's type is known.
struct Object<N>(Place, N);

impl<'de, N: FnMut(Place, Text<'de>, MemberValue<'de>)> Visitor<'de> for Object<N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(place, mut note) = self;
        while let Some(name) = map.next_key::<Text<'de>>()? {
            map.next_value_seed(Member { place, name, note: &mut note })?;
        }
        Ok(())
    }
}

/// Reads one member's value.
struct Member<'n, 'b, N> {
    place: Place,
    name: Text<'b>,
    note: &'n mut N,
}

impl<'de, N: FnMut(Place, Text<'de>, MemberValue<'de>)> DeserializeSeed<'de> for Member<'_, 'de, N> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, N: FnMut(Place, Text<'de>, MemberValue<'de>)> Member<'_, 'de, N> {
    fn note(self, value: MemberValue<'de>) {
        (self.note)(self.place, self.name, value);
    }
}

impl<'de, N: FnMut(Place, Text<'de>, MemberValue<'de>)> Visitor<'de> for Member<'_, 'de, N> {
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
        let Self { place, name, note } = self;
        let is_error = place == Place::Root && name.as_str() == "error";
        note(place, name, MemberValue::Object);
        while let Some(name) = map.next_key::<Text<'de>>()? {
            if is_error {
                map.next_value_seed(Member { place: Place::Error, name, note: &mut *note })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Reads a list's first element and skips the others.
struct First<'m, 'b>(&'m mut BodyMembers<'b>);

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
