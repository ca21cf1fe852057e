//! TOML text as JSON, and where its keys are.
//!
//! The text is converted once, without places. Only a fault needs a place, and then the text is parsed again: a file
//! without faults pays nothing for them.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::settings::{IMPORT_ENTRY, TOOL_ENTRY};
use super::source::MAX_FAULTS;

/// The maximum nesting. Parameter schemas in a toolbox's tables stay far below it.
const MAX_DEPTH: usize = 64;

/// The largest text whose syntax errors are all reported. For a larger one only the first is, because every byte may be
/// an error.
const MAX_RECOVERED: usize = 64 * 1024;

/// The most syntax errors to report: if there are many, most follow from one.
const MAX_SYNTAX_FAULTS: usize = 10;

/// A fault at a place in the text, which is not located yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextFault {
    pub(crate) place: TextPlace,
    pub(crate) message: String,
}

/// A place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextPlace {
    /// The text as a whole.
    Whole,
    /// The byte at an offset.
    Offset(usize),
    /// The value at a JSON Pointer, or the nearest existing one around it.
    Value(String),
    /// The key of the value at a JSON Pointer.
    Key(String),
}

impl TextFault {
    pub(crate) fn at(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: TextPlace::Value(pointer.into()), message: message.into() }
    }

    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { place: TextPlace::Whole, message: message.into() }
    }

    pub(crate) fn at_key(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: TextPlace::Key(pointer.into()), message: message.into() }
    }
}

impl TextFault {
    /// Reports whether the fault may be at a value or inside it. A fault at the root may be anywhere: it stands for
    /// others, which are not listed.
    pub(crate) fn is_inside(&self, pointer: &str) -> bool {
        match &self.place {
            TextPlace::Value(own) | TextPlace::Key(own) => {
                own.is_empty() || own.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            TextPlace::Whole | TextPlace::Offset(_) => true,
        }
    }
}

impl TextPlace {
    /// Returns the JSON Pointer to the toolbox entry that contains the place.
    pub(crate) fn entry(&self) -> Option<&str> {
        let (Self::Value(pointer) | Self::Key(pointer)) = self else { return None };
        let mut slashes = pointer.match_indices('/').map(|(at, _)| at);
        let (_, toolbox, sort, name) = (slashes.next()?, slashes.next()?, slashes.next()?, slashes.next()?);
        let is_entry =
            &pointer[..toolbox] == "/toolbox" && [TOOL_ENTRY, IMPORT_ENTRY].contains(&&pointer[sort + 1..name]);
        is_entry.then(|| &pointer[..slashes.next().unwrap_or(pointer.len())])
    }
}

/// Parses TOML into JSON. Keys keep their order.
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, Vec<TextFault>> {
    let root = match DeTable::parse(text) {
        Ok(root) => root,
        Err(first) => return Err(syntax_faults(text, first)),
    };
    let mut conversion = JsonConversion { path: Vec::new(), faults: Vec::new() };
    let json = conversion.table(root.get_ref());
    if conversion.faults.is_empty() { Ok(json) } else { Err(conversion.faults) }
}

fn syntax_faults(text: &str, first: toml::de::Error) -> Vec<TextFault> {
    let errors = if text.len() <= MAX_RECOVERED { DeTable::parse_recoverable(text).1 } else { vec![first] };
    let fault = |error: &toml::de::Error| TextFault {
        place: error.span().map_or(TextPlace::Whole, |span| TextPlace::Offset(span.start)),
        message: format!("invalid TOML: {}", error.message()),
    };
    first_of_runs(text, errors).iter().take(MAX_SYNTAX_FAULTS).map(fault).collect()
}

/// Keeps the first error in each run on adjacent lines: after a missing bracket, every line is an error.
fn first_of_runs(text: &str, mut errors: Vec<toml::de::Error>) -> Vec<toml::de::Error> {
    let offset = |error: &toml::de::Error| error.span().map_or(0, |span| span.start.min(text.len()));
    errors.sort_by_key(offset);
    let (mut line, mut counted) = (0, 0);
    let mut before = None;
    errors.retain(|error| {
        let at = offset(error);
        line += text.as_bytes()[counted..at].split(|byte| *byte == b'\n').skip(1).count();
        counted = at;
        let is_first = before.is_none_or(|before| line > before + 1);
        before = Some(line);
        is_first
    });
    errors
}

/// Converts a tree to JSON.
struct JsonConversion<'t> {
    /// The keys on the way to the value.
    path: Vec<TomlStep<'t>>,
    faults: Vec<TextFault>,
}

enum TomlStep<'t> {
    Key(&'t str),
    Index(usize),
}

impl<'t> JsonConversion<'t> {
    fn table(&mut self, table: &'t DeTable<'_>) -> Map<String, Value> {
        let mut map = Map::with_capacity(table.len());
        for (key, value) in table {
            let value = self.inside(TomlStep::Key(key.get_ref()), value.get_ref());
            map.insert(key.get_ref().to_string(), value);
        }
        map
    }

    fn inside(&mut self, step: TomlStep<'t>, value: &'t DeValue<'_>) -> Value {
        self.path.push(step);
        let json = if self.path.len() > MAX_DEPTH {
            self.fault(format!("nested more than {MAX_DEPTH} levels deep; use fewer"))
        } else {
            self.value(value)
        };
        self.path.pop();
        json
    }

    fn value(&mut self, value: &'t DeValue<'_>) -> Value {
        match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(bool) => Value::Bool(*bool),
            DeValue::Integer(integer) => match self::integer(integer) {
                Some(number) => Value::Number(number),
                None => self.fault(format!("the integer {integer} is beyond 64 bits; use a smaller one")),
            },
            DeValue::Float(float) => match self::float(float) {
                Some(number) => Value::Number(number),
                None => self.fault(format!("the number {float} has no JSON form; use a finite one")),
            },
            DeValue::Datetime(datetime) => {
                self.fault(format!("the date {datetime} has no JSON form; write it as a string, in quotes"))
            }
            DeValue::Array(items) => {
                let items = items.iter().enumerate();
                Value::Array(items.map(|(at, item)| self.inside(TomlStep::Index(at), item.get_ref())).collect())
            }
            DeValue::Table(table) => Value::Object(self.table(table)),
        }
    }

    /// Adds a fault at the current value. The value that stands in for it is never used.
    fn fault(&mut self, message: String) -> Value {
        let pointer = self.path.iter().fold(String::new(), |pointer, step| match step {
            TomlStep::Key(key) => member(&pointer, key),
            TomlStep::Index(at) => format!("{pointer}/{at}"),
        });
        if self.faults.len() <= MAX_FAULTS {
            self.faults.push(TextFault::at(pointer, message));
        }
        Value::Null
    }
}

fn integer(integer: &DeInteger<'_>) -> Option<Number> {
    let (digits, radix) = (integer.as_str(), integer.radix());
    let signed = i64::from_str_radix(digits, radix).map(Number::from);
    signed.or_else(|_| u64::from_str_radix(digits, radix).map(Number::from)).ok()
}

fn float(float: &DeFloat<'_>) -> Option<Number> {
    float.as_str().parse().ok().and_then(Number::from_f64)
}

/// Returns a member's JSON Pointer.
pub(crate) fn member(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Returns a JSON Pointer's keys.
pub(crate) fn keys(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~"))
}

/// A text's tree, for the places of its keys.
pub(crate) struct TextPlaces<'t> {
    root: Option<Spanned<DeTable<'t>>>,
}

impl<'t> TextPlaces<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { root: DeTable::parse(text).ok() }
    }

    /// Returns places without a tree, for faults that need none.
    pub(crate) fn none() -> Self {
        Self { root: None }
    }

    /// Returns a place's offset and its key as TOML writes it.
    pub(crate) fn find(&self, place: &TextPlace) -> (Option<usize>, String) {
        match place {
            TextPlace::Whole => (None, String::new()),
            TextPlace::Offset(offset) => (Some(*offset), String::new()),
            TextPlace::Value(pointer) => {
                let (found, key) = self.walk(pointer);
                (Some(found.value.start), key)
            }
            TextPlace::Key(pointer) => {
                let (found, key) = self.walk(pointer);
                (Some(found.key.start), key)
            }
        }
    }

    fn walk(&self, pointer: &str) -> (TomlSpans, String) {
        let mut found = TomlSpans { key: 0..0, value: 0..0 };
        let mut name = String::new();
        let mut here = self.root.as_ref().map(|root| TomlNode::Table(root.get_ref()));
        for key in keys(pointer) {
            let next = match here {
                Some(TomlNode::Table(table)) => {
                    push_key(&mut name, &key);
                    table.get_key_value(key.as_str()).map(|(key, value)| (key.span(), value))
                }
                Some(TomlNode::Array(items)) => {
                    name.push_str(&format!("[{key}]"));
                    key.parse().ok().and_then(|at: usize| items.get(at)).map(|value| (value.span(), value))
                }
                None => {
                    push_key(&mut name, &key);
                    None
                }
            };
            here = next.and_then(|(key, value)| {
                found = TomlSpans { key, value: value.span() };
                TomlNode::of(value.get_ref())
            });
        }
        (found, name)
    }
}

/// A key's and its value's places.
struct TomlSpans {
    key: Range<usize>,
    value: Range<usize>,
}

#[derive(Clone, Copy)]
enum TomlNode<'t> {
    Table(&'t DeTable<'t>),
    Array(&'t [Spanned<DeValue<'t>>]),
}

impl<'t> TomlNode<'t> {
    fn of(value: &'t DeValue<'t>) -> Option<Self> {
        match value {
            DeValue::Table(table) => Some(Self::Table(table)),
            DeValue::Array(items) => Some(Self::Array(items)),
            _ => None,
        }
    }
}

/// Adds a key as TOML writes it: in quotes, unless it is bare.
fn push_key(name: &mut String, key: &str) {
    if !name.is_empty() {
        name.push('.');
    }
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !key.is_empty() && key.bytes().all(is_bare) {
        name.push_str(key);
    } else {
        name.push_str(&format!("{key:?}"));
    }
}
