//! Reading JSON text into a tree, noting what must not be in it.
//!
//! Duplicate keys and forbidden keys are noted and reading goes on, so that a refusal can name all of them at once.
//! Nesting beyond the limit and malformed JSON end it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::OnceLock;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::de::Read;
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use super::explain::MOST_ISSUES;
use super::limit::{DuplicateKeys, HELD_DEPTH, Limits};
use super::message::excerpt_of_text;
use super::path::Path;
use crate::issue::Issue;

/// Reads text, gives the tree (if there is one) and everything that was wrong with the text itself.
pub(crate) fn read(text: &[u8], limits: &Limits) -> (Option<Value>, Vec<Issue>) {
    if text.len() > limits.max_bytes {
        return (None, vec![too_long(text.len(), limits.max_bytes)]);
    }
    read_noting(serde_json::Deserializer::from_slice(text), Notes::new(*limits))
}

/// The same for text that is known to be Unicode.
pub(super) fn read_str(text: &str, limits: &Limits) -> (Option<Value>, Vec<Issue>) {
    if text.len() > limits.max_bytes {
        return (None, vec![too_long(text.len(), limits.max_bytes)]);
    }
    read_noting(serde_json::Deserializer::from_str(text), Notes::new(*limits))
}

/// Reads text that is held here: as long as it is, and as deep as a tree may be.
pub(crate) fn read_written(text: &str) -> (Option<Value>, Vec<Issue>) {
    let notes = Notes { depth: HELD_DEPTH, ..Notes::new(Limits::default()) };
    read_noting(serde_json::Deserializer::from_str(text), notes)
}

/// A tree from any deserializer. `Value` itself would take an object with one of the [private](PRIVATE) keys for what it
/// holds.
pub(crate) fn tree<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let notes = Notes { depth: HELD_DEPTH, ..Notes::new(Limits::default()) };
    TreeSeed { notes: &notes, depth: 0, inside: Inside::Other, path: &Path::Root }.deserialize(deserializer)
}

fn read_noting<'de, R: Read<'de>>(
    mut deserializer: serde_json::Deserializer<R>,
    notes: Notes,
) -> (Option<Value>, Vec<Issue>) {
    deserializer.disable_recursion_limit();
    let seed = TreeSeed { notes: &notes, depth: 0, inside: Inside::Other, path: &Path::Root };
    let tree = seed.deserialize(&mut deserializer).and_then(|tree| deserializer.end().map(|()| tree));
    let mut faults = notes.faults.into_inner();
    match tree {
        Ok(tree) => (Some(tree), faults),
        Err(error) => {
            if !notes.stopped.get() {
                faults.push(malformed(&error));
            }
            (None, faults)
        }
    }
}

/// The issue for text that is too long to be read at all.
pub(super) fn too_long(bytes: usize, max: usize) -> Issue {
    Issue::new("", "maxBytes", format!("the JSON text has {bytes} bytes and may have at most {max}; send less"))
        .expected(format!("at most {max} bytes"))
        .found(format!("{bytes} bytes"))
}

fn malformed(error: &serde_json::Error) -> Issue {
    if error.to_string().starts_with("number out of range") {
        let message = format!("a number is larger than any reader takes ({error}); send a smaller one");
        return Issue::new("", "json", message).expected("numbers within the range of a 64-bit float");
    }
    Issue::new("", "json", format!("not valid JSON: {error}; send one complete JSON value")).expected("valid JSON")
}

/// How the keys begin by which `serde_json` marks what it hands to itself.
pub(super) const PRIVATE: &str = "$serde_json::private::";

/// Whether `serde_json` hands something to itself under this name: raw JSON, or, if they are exact in this build, numbers.
pub(super) fn is_private(name: &str) -> bool {
    name.strip_prefix(PRIVATE) == Some("RawValue") || number_token() == Some(name)
}

/// What an object is the value of; only a `constructor` matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Inside {
    Constructor,
    Other,
}

impl Inside {
    /// What the value of `key` is inside of.
    #[inline]
    pub(super) fn key(key: &str) -> Self {
        if key == "constructor" { Self::Constructor } else { Self::Other }
    }

    /// Whether `key` reaches for an object's prototype, as programs in other languages may let it, or is one of those
    /// by which `serde_json` hands JSON text to itself, unchecked.
    #[inline]
    pub(super) fn forbids(self, key: &str) -> bool {
        key == "__proto__" || (self == Self::Constructor && key == "prototype") || key.starts_with(PRIVATE)
    }
}

/// What was noticed while reading.
pub(super) struct Notes {
    limits: Limits,
    /// How deep values may nest.
    depth: usize,
    pub(super) faults: RefCell<Vec<Issue>>,
    stopped: Cell<bool>,
    /// Whether some whole number was written as a float.
    pub(super) saw_whole_float: Cell<bool>,
}

impl Notes {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            depth: limits.depth(),
            faults: RefCell::default(),
            stopped: Cell::new(false),
            saw_whole_float: Cell::new(false),
        }
    }

    fn note(&self, issue: Issue) {
        let mut faults = self.faults.borrow_mut();
        if faults.len() < MOST_ISSUES {
            faults.push(issue);
        }
    }
}

/// Reads one value into a tree.
#[derive(Clone, Copy)]
pub(super) struct TreeSeed<'a> {
    pub(super) notes: &'a Notes,
    pub(super) depth: usize,
    pub(super) inside: Inside,
    pub(super) path: &'a Path<'a>,
}

impl<'de> DeserializeSeed<'de> for TreeSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl TreeSeed<'_> {
    pub(super) fn deeper<E: Error>(&self) -> Result<usize, E> {
        let max = self.notes.depth;
        if self.depth < max {
            return Ok(self.depth + 1);
        }
        self.notes.stopped.set(true);
        let message = format!("nests deeper than {max} levels; send a flatter value");
        self.notes.note(Issue::new(self.path.pointer(), "maxDepth", message).expected(format!("at most {max} levels")));
        Err(E::custom("too deep"))
    }

    /// A number that came as text; none if it is beyond what every other reader of JSON calls a number.
    fn number(&self, text: &str) -> Option<Value> {
        let number: Number = serde_json::from_str(text).ok()?;
        let float = number.as_f64()?;
        if !(number.is_i64() || number.is_u64()) && float.fract() == 0.0 {
            self.notes.saw_whole_float.set(true);
        }
        Some(Value::Number(number))
    }
}

impl<'de> Visitor<'de> for TreeSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if value.fract() == 0.0 {
            self.notes.saw_whole_float.set(true);
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let depth = self.deeper()?;
        let mut items = Vec::new();
        loop {
            let path = Path::Index(self.path, items.len());
            let seed = TreeSeed { depth, inside: Inside::Other, path: &path, ..self };
            match access.next_element_seed(seed)? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let mut first = access.next_key::<String>()?;
        if number_token().is_some() && first.as_deref() == number_token() {
            let text: String = access.next_value()?;
            return self.number(&text).ok_or_else(|| A::Error::custom("number out of range"));
        }
        let depth = self.deeper()?;
        while let Some(key) = first {
            let path = Path::Key(self.path, &key);
            if self.inside.forbids(&key) {
                let message = format!("the key {} is not allowed in any object; leave it out", quoted(&key));
                self.notes.note(Issue::new(path.pointer(), "forbiddenKey", message));
            }
            let value = access.next_value_seed(TreeSeed { depth, inside: Inside::key(&key), path: &path, ..self })?;
            match map.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(value);
                }
                Entry::Occupied(mut place) => {
                    if self.notes.limits.duplicate_keys == DuplicateKeys::Refuse {
                        let path = Path::Key(self.path, place.key());
                        let message =
                            format!("the key {} stands twice in this object; give it once", quoted(place.key()));
                        self.notes.note(Issue::new(path.pointer(), "duplicateKey", message));
                    }
                    place.insert(value);
                }
            }
            first = access.next_key()?;
        }
        Ok(Value::Object(map))
    }
}

/// The key under which `serde_json` hands over a number when its `arbitrary_precision` is on somewhere in the build;
/// asked of the crate itself once, by reading a number and looking at what comes.
pub(super) fn number_token() -> Option<&'static str> {
    struct Probe;
    impl<'de> Visitor<'de> for Probe {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number")
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let key = access.next_key()?;
            access.next_value::<String>()?;
            Ok(key)
        }
    }
    static TOKEN: OnceLock<Option<String>> = OnceLock::new();
    TOKEN.get_or_init(|| serde_json::Deserializer::from_str("0.5").deserialize_any(Probe).unwrap_or(None)).as_deref()
}

fn quoted(key: &str) -> String {
    excerpt_of_text(key)
}
