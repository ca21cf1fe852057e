//! A text's records: the objects in a JSON array, in JSON lines, or a single one, each with its place.
//!
//! Faults are collected, so that one look at the report is enough. Values keep the text in which they were written.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use haft::serde_json::value::RawValue;
use haft::serde_json::{self, Deserializer as JsonDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use crate::error::{Excerpt, Fault};
use crate::input::TextInput;

/// The least similarity, from 0 to 1, at which the most similar known word is suggested.
const SIMILAR: f64 = 0.7;

/// The number of faults after which reading ends.
pub(crate) const MAX_FAULTS: usize = 100;

/// The largest text, in bytes, whose faults show their place in it. A fault has a copy of its text.
const MAX_SHOWN: usize = 256 * 1024;

/// One object in a text.
#[derive(Debug)]
pub(crate) struct Record<'t> {
    input: &'t TextInput,
    /// The object's JSON Pointer, or before it the number of its line.
    pointer: String,
    span: Range<usize>,
    members: Vec<Member<'t>>,
}

/// One member of an object.
#[derive(Debug)]
pub(crate) struct Member<'t> {
    pub(crate) key: Cow<'t, str>,
    /// The value, as it was written.
    pub(crate) json: &'t str,
    span: Range<usize>,
}

/// Reads a text's records. `what` is a record's name, such as `call`.
pub(crate) fn read<'t>(input: &'t TextInput, what: &str) -> Result<Vec<Record<'t>>, Vec<Fault>> {
    let text = input.text.as_str();
    let values = match text.trim_start().chars().next() {
        None => return Err(vec![Fault::new(format!("{} is empty", quoted(&input.origin))).advice(expected(what))]),
        Some('[') => elements(input).map_err(|fault| vec![fault])?,
        Some(_) => objects(input)?,
    };
    let (mut records, mut faults) = (Vec::new(), Vec::new());
    for (pointer, json) in values {
        if faults.len() >= MAX_FAULTS {
            break;
        }
        match Record::new(input, pointer, json, what) {
            Ok(record) => records.push(record),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(records) } else { Err(faults) }
}

/// Returns an array's elements with their pointers.
fn elements(input: &TextInput) -> Result<Vec<(String, &str)>, Fault> {
    let values: Vec<&RawValue> = serde_json::from_str(&input.text).map_err(|error| invalid_json(input, 0, &error))?;
    Ok(values.into_iter().enumerate().map(|(at, value)| (format!("/{at}"), value.get())).collect())
}

/// Returns the values in a text that is one value, or one value per line.
fn objects(input: &TextInput) -> Result<Vec<(String, &str)>, Vec<Fault>> {
    let text = input.text.as_str();
    let first_line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_one_line = text.trim().lines().count() == 1;
    // A value written on several lines does not end with the first one.
    if is_one_line || serde_json::from_str::<&RawValue>(first_line).is_err() {
        let values: Result<Vec<&RawValue>, _> = JsonDeserializer::from_str(text).into_iter().collect();
        let values = values.map_err(|error| vec![invalid_json(input, 0, &error)])?;
        let is_single = values.len() == 1;
        let pointer = |at: usize| if is_single { String::new() } else { format!("/{at}") };
        return Ok(values.into_iter().enumerate().map(|(at, value)| (pointer(at), value.get())).collect());
    }
    let (mut values, mut faults) = (Vec::new(), Vec::new());
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if faults.len() >= MAX_FAULTS {
            break;
        }
        if !line.trim().is_empty() {
            match serde_json::from_str::<&RawValue>(line) {
                Ok(value) => values.push((format!("/{}", values.len()), value.get())),
                Err(error) => faults.push(invalid_json(input, offset, &error)),
            }
        }
        offset += line.len();
    }
    if faults.is_empty() { Ok(values) } else { Err(faults) }
}

impl<'t> Record<'t> {
    fn new(input: &'t TextInput, pointer: String, json: &'t str, what: &str) -> Result<Self, Fault> {
        let span = span_in(&input.text, json);
        if !json.starts_with('{') {
            let at = if pointer.is_empty() { String::new() } else { format!("`{pointer}`: ") };
            let message = format!("{at}a {what} is an object, not {}", kind_of(json));
            return Err(fault_in(input, message, span).advice(expected(what)));
        }
        let Members(pairs) = serde_json::from_str(json).map_err(|error| invalid_json(input, span.start, &error))?;
        let member = |(key, value): (Cow<'t, str>, &'t RawValue)| {
            let json = value.get();
            let place = match &key {
                // With the quotes around it.
                Cow::Borrowed(key) => widen(span_in(&input.text, key)),
                Cow::Owned(_) => span_in(&input.text, json),
            };
            Member { key, json, span: place }
        };
        Ok(Self { input, pointer, span, members: pairs.into_iter().map(member).collect() })
    }

    /// Returns the keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.key.as_ref())
    }

    /// Returns a member's value as it was written; of several, the last.
    pub(crate) fn get(&self, key: &str) -> Option<&Member<'t>> {
        self.members.iter().rev().find(|member| member.key == key)
    }

    /// Reads a member.
    pub(crate) fn read<T: Deserialize<'t>>(&self, key: &str, expected: &str) -> Result<Option<T>, Fault> {
        let Some(member) = self.get(key) else { return Ok(None) };
        serde_json::from_str(member.json).map(Some).map_err(|error| {
            // The position would be that in the value.
            let text = error.to_string();
            let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
            let found = kind_of(member.json);
            let reason = if reason.starts_with("invalid type") { format!("not {found}") } else { reason.to_owned() };
            self.fault_at(member, format!("`{key}` must be {expected}: {reason}"))
        })
    }

    /// Returns the faults for members that are unknown or occur twice.
    pub(crate) fn unknown_members(&self, known: &[&str]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            let key = member.key.as_ref();
            if !known.contains(&key) {
                let advice = match nearest(key, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the keys are {}", known.map_quoted()),
                };
                faults.push(self.fault_at(member, format!("there is no key `{key}`")).advice(advice));
            } else if self.members[..at].iter().any(|earlier| earlier.key == member.key) {
                faults.push(self.fault_at(member, format!("the key `{key}` is there twice")).advice("remove one"));
            }
        }
        faults
    }

    /// Returns a fault of the object.
    pub(crate) fn fault(&self, message: impl fmt::Display) -> Fault {
        let at = if self.pointer.is_empty() { String::new() } else { format!("`{}`: ", self.pointer) };
        fault_in(self.input, format!("{at}{message}"), self.span.clone())
    }

    /// Returns a fault of one of its members.
    pub(crate) fn fault_at(&self, member: &Member<'_>, message: impl fmt::Display) -> Fault {
        let key = member.key.replace('~', "~0").replace('/', "~1");
        fault_in(self.input, format!("`{}/{key}`: {message}", self.pointer), member.span.clone())
    }
}

/// An object's members in order, including those that repeat a key.
pub(crate) struct Members<'t>(pub(crate) Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            members.push((key, map.next_value()?));
        }
        Ok(Members(members))
    }
}

/// A key, borrowed from the text unless it has escapes.
struct Key<'t>(Cow<'t, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// Returns the most similar word.
pub(crate) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let likeness = |known: &str| strsim::jaro_winkler(&word.to_lowercase(), known);
    let best = known.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(best) >= SIMILAR).then_some(best)
}

/// Words in backticks, joined by commas.
pub(crate) trait MapQuoted {
    /// Returns the words.
    fn map_quoted(&self) -> String;
}

impl<T: AsRef<str>> MapQuoted for [T] {
    fn map_quoted(&self) -> String {
        self.iter().map(|word| format!("`{}`", word.as_ref())).collect::<Vec<_>>().join(", ")
    }
}

/// Returns a text's name for a sentence.
pub(crate) fn quoted(origin: &str) -> String {
    if origin == "standard input" { origin.to_owned() } else { format!("`{origin}`") }
}

fn expected(what: &str) -> String {
    format!("expected are a JSON array of {what}s, one {what}, or a {what} per line")
}

fn invalid_json(input: &TextInput, offset: usize, error: &serde_json::Error) -> Fault {
    let message = format!("{} is not valid JSON", quoted(&input.origin));
    if input.text.len() > MAX_SHOWN {
        let line = lines(&input.text[..offset]) + error.line().max(1);
        let text = error.to_string();
        let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
        return Fault::new(format!("{message}: line {line}, column {}: {reason}", error.column()));
    }
    Fault::new(message).excerpt(input.json_excerpt(offset, error))
}

/// Returns a fault at a place in a text.
fn fault_in(input: &TextInput, message: String, span: Range<usize>) -> Fault {
    if input.text.len() > MAX_SHOWN {
        let before = &input.text[..span.start];
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let (origin, line) = (&input.origin, lines(before) + 1);
        return Fault::new(format!("{origin}:{line}:{column}: {message}"));
    }
    // Only a long object's first line is marked.
    let end = input.text[span.clone()].find('\n').map_or(span.end, |length| span.start + length);
    let (origin, text) = (input.origin.clone(), input.text.clone());
    Fault::new(message).excerpt(Excerpt { origin, text, span: span.start..end, label: String::new() })
}

/// Counts line breaks.
fn lines(text: &str) -> usize {
    text.matches('\n').count()
}

/// Returns where a part of a text is.
fn span_in(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
    start..(start + part.len()).min(text.len())
}

fn widen(span: Range<usize>) -> Range<usize> {
    span.start.saturating_sub(1)..span.end + 1
}

/// Returns a JSON value's type, with its article.
pub(crate) fn kind_of(json: &str) -> &'static str {
    match json.trim_start().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "`null`",
        Some(_) => "a number",
        None => "nothing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> TextInput {
        TextInput { origin: "calls.json".to_owned(), text: text.to_owned() }
    }

    fn pointers(text: &str) -> Vec<String> {
        read(&input(text), "call").unwrap().into_iter().map(|record| record.pointer).collect()
    }

    #[test]
    fn an_array_an_object_and_lines_are_read() {
        assert_eq!(pointers(r#"[{"a": 1}, {"b": 2}]"#), ["/0", "/1"]);
        assert_eq!(pointers("{\n  \"a\": 1\n}\n"), [""]);
        assert_eq!(pointers("{\"a\": 1}\n\n{\"b\": 2}\n"), ["/0", "/1"]);
        assert_eq!(pointers("{\"a\":\n1}\n{\"b\":\n2}"), ["/0", "/1"]);
        assert!(pointers("[]").is_empty());
    }

    #[test]
    fn every_bad_line_is_reported_at_its_place() {
        let bad = input("{\"a\": 1}\n{\"b\": }\n{\"c\": 3}\n{d}\n");
        let faults = read(&bad, "call").unwrap_err();
        let at: Vec<&str> =
            faults.iter().map(|fault| &bad.text[fault.excerpt.as_ref().unwrap().span.clone()]).collect();
        assert_eq!(at, ["}", "d"]);
    }

    #[test]
    fn values_that_are_no_objects_are_rejected() {
        let bad = input(r#"[{"a": 1}, 7, "x"]"#);
        let messages: Vec<String> = read(&bad, "call").unwrap_err().into_iter().map(|fault| fault.message).collect();
        assert_eq!(messages, ["`/1`: a call is an object, not a number", "`/2`: a call is an object, not a string"]);
    }

    #[test]
    fn members_have_places_and_pointers() {
        let text = input(r#"[{"naem": "x", "name": 1, "name": 2, "a/b": 3}]"#);
        let records = read(&text, "call").unwrap();
        let faults = records[0].unknown_members(&["name", "arguments"]);
        let shown: Vec<String> = faults.iter().map(|fault| fault.message.clone()).collect();
        assert_eq!(
            shown,
            [
                "`/0/naem`: there is no key `naem`",
                "`/0/name`: the key `name` is there twice",
                "`/0/a~1b`: there is no key `a/b`"
            ]
        );
        assert_eq!(&text.text[faults[0].excerpt.as_ref().unwrap().span.clone()], "\"naem\"");
        assert_eq!(faults[0].advice, ["did you mean `name`?"]);
        assert_eq!(records[0].get("name").unwrap().json, "2");
    }

    #[test]
    fn a_large_text_is_not_copied_into_its_faults() {
        let lines = format!("{{\"a\": \"{}\"}}\n{{\"b\": }}\n{}", "x".repeat(MAX_SHOWN), "{\n".repeat(2 * MAX_FAULTS));
        let faults = read(&input(&lines), "call").unwrap_err();
        assert_eq!(faults.len(), MAX_FAULTS);
        assert!(faults.iter().all(|fault| fault.excerpt.is_none()));
        assert_eq!(faults[0].message, "`calls.json` is not valid JSON: line 2, column 7: expected value");
        let array = input(&format!("[{{\"b\": 1}}, \"{}\",\n  7]", "x".repeat(MAX_SHOWN)));
        let messages: Vec<String> = read(&array, "call").unwrap_err().into_iter().map(|fault| fault.message).collect();
        assert_eq!(messages[1], "calls.json:2:3: `/2`: a call is an object, not a number");
    }
}
