//! Problems in words: one sentence each, for a model to act on.

use serde_json::Value;

use super::explain::Problem;
use super::node::Property;
use super::number::{NumberFault, Width};
use super::path::Path;
use super::seen::Seen;
use super::string::StringFault;
use super::types::{JsonType, Types};
use super::variant::{Slip, Variants};
use crate::issue::{CharBoundary, Issue};
use crate::nearest::nearest;

/// The longest piece of a value that is quoted, in bytes.
const EXCERPT: usize = 60;
/// How many names or literals are listed.
const LISTED: usize = 12;

/// A value as far as words need it.
pub(super) struct Found {
    json_type: JsonType,
    excerpt: String,
}

impl Found {
    pub(super) fn of(value: &Value) -> Self {
        Self { json_type: JsonType::of(value), excerpt: excerpt(value) }
    }

    /// An array with this many items.
    pub(super) fn array(items: usize) -> Self {
        Self { json_type: JsonType::Array, excerpt: excerpt_of_array(items) }
    }

    /// An object with this many keys.
    pub(super) fn object(keys: usize) -> Self {
        Self { json_type: JsonType::Object, excerpt: excerpt_of_object(keys) }
    }
}

/// The issue for a problem of what was found at `path`.
pub(super) fn issue(problem: &Problem<'_>, found: Found, path: &Path<'_>) -> Issue {
    let (keyword, expected, message) = words(problem, &found);
    Issue { pointer: path.pointer(), keyword: keyword.into(), expected, found: found.excerpt, message }
}

/// A value, or its beginning, as it may be quoted: strings in quotes, containers by their size.
pub(crate) fn excerpt(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(bool) => bool.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => excerpt_of_text(text),
        Value::Array(items) => excerpt_of_array(items.len()),
        Value::Object(map) => excerpt_of_object(map.len()),
    }
}

fn excerpt_of_array(items: usize) -> String {
    format!("an array of {items}")
}

fn excerpt_of_object(keys: usize) -> String {
    format!("an object with {}", counted(keys, "key"))
}

/// A string, or its beginning, in quotes.
pub(super) fn excerpt_of_text(text: &str) -> String {
    if text.len() > EXCERPT {
        return format!("{}…", in_quotes(&text[..text.floor_char_boundary_at(EXCERPT)]));
    }
    in_quotes(text)
}

/// A string as JSON.
fn in_quotes(text: &str) -> String {
    if text.bytes().any(|byte| matches!(byte, b'"' | b'\\') || byte < b' ') {
        return Value::from(text).to_string();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    quoted.push_str(text);
    quoted.push('"');
    quoted
}

fn words(problem: &Problem<'_>, found: &Found) -> (&'static str, String, String) {
    let Found { json_type, excerpt: found } = found;
    match problem {
        Problem::Never => ("false", "nothing".to_owned(), "no value is allowed here".to_owned()),
        Problem::Type(types) => {
            let expected = types.describe();
            let message = ["must be ", &expected, ", not ", json_type.name()].concat();
            ("type", expected, message)
        }
        Problem::Number(fault) => number(fault, found),
        Problem::String(fault) => string(fault, found),
        Problem::Literal(literals) => {
            let expected = list(literals.iter().map(ToString::to_string));
            let keyword = if literals.len() == 1 { "const" } else { "enum" };
            let message = ["must be ", one_of(literals.len()), &expected, ", not ", found].concat();
            (keyword, expected, message)
        }
        Problem::TooFewItems(min) => size("minItems", "at least", *min, "item", found),
        Problem::TooManyItems(max) => size("maxItems", "at most", *max, "item", found),
        Problem::NotUnique => {
            ("uniqueItems", "different items".to_owned(), "must not hold the same item twice".to_owned())
        }
        Problem::Missing(name, types) => missing(name, *types),
        Problem::Unknown(name, properties, seen) => unknown(name, properties, seen),
        Problem::Tag(names) => {
            let expected = list(names.iter().map(|name| in_quotes(name)));
            let message = ["must be ", one_of(names.len()), &expected, ", not ", found].concat();
            ("enum", expected, message)
        }
        Problem::Keys(keys) => {
            let expected = list(keys.iter().map(|key| format!("{key:?}")));
            let message = format!("must have exactly one key, which is {}{expected}", one_of(keys.len()));
            ("oneOf", expected, message)
        }
        Problem::Variant(variants, slip) => variant(variants, slip.as_ref(), found),
        Problem::TooFewKeys(min) => size("minProperties", "at least", *min, "key", found),
        Problem::TooManyKeys(max) => size("maxProperties", "at most", *max, "key", found),
        Problem::NoBranch(count) => (
            "anyOf",
            format!("one of {count} forms"),
            format!("fits none of the {count} forms that are allowed here; look at the schema of this value"),
        ),
        Problem::SeveralBranches => (
            "oneOf",
            "exactly one form".to_owned(),
            "fits several of the forms that are allowed here, and must fit exactly one".to_owned(),
        ),
    }
}

fn number(fault: &NumberFault, found: &str) -> (&'static str, String, String) {
    let (keyword, expected) = match fault {
        NumberFault::NotInteger => ("type", "an integer".to_owned()),
        NumberFault::Inexact => {
            let message =
                format!("{found} can't be taken exactly; write the integer with all its digits, within 64 bits");
            return ("type", "an exact integer".to_owned(), message);
        }
        NumberFault::Minimum(bound) => ("minimum", format!("at least {bound}")),
        NumberFault::Maximum(bound) => ("maximum", format!("at most {bound}")),
        NumberFault::ExclusiveMinimum(bound) => ("exclusiveMinimum", format!("more than {bound}")),
        NumberFault::ExclusiveMaximum(bound) => ("exclusiveMaximum", format!("less than {bound}")),
        NumberFault::MultipleOf(divisor) => ("multipleOf", format!("a multiple of {divisor}")),
        NumberFault::Width(Width::Integer { min, max, .. }) => ("format", format!("an integer from {min} to {max}")),
        NumberFault::Width(Width::Signed128) => ("format", "a signed 128-bit integer".to_owned()),
        NumberFault::Width(Width::Unsigned128) => ("format", "an unsigned 128-bit integer".to_owned()),
        NumberFault::Width(Width::Float32) => ("format", "a single-precision number".to_owned()),
    };
    let message = ["must be ", &expected, ", and is ", found].concat();
    (keyword, expected, message)
}

fn string(fault: &StringFault<'_>, found: &str) -> (&'static str, String, String) {
    match fault {
        StringFault::Literal(literals) => {
            let expected = list(literals.iter().map(|literal| in_quotes(literal)));
            let keyword = if literals.len() == 1 { "const" } else { "enum" };
            let message = ["must be ", one_of(literals.len()), &expected, ", not ", found].concat();
            (keyword, expected, message)
        }
        StringFault::TooShort { min, length } => {
            let expected = format!("at least {}", counted(*min, "character"));
            let message = format!("must have {expected}, and has {length}");
            ("minLength", expected, message)
        }
        StringFault::TooLong { max, length } => {
            let expected = format!("at most {}", counted(*max, "character"));
            let message = format!("must have {expected}, and has {length}");
            ("maxLength", expected, message)
        }
        StringFault::Pattern(pattern) => {
            ("pattern", (*pattern).to_owned(), format!("must match the pattern {pattern}, and {found} does not"))
        }
    }
}

fn size(keyword: &'static str, bound: &str, count: usize, what: &str, found: &str) -> (&'static str, String, String) {
    let expected = format!("{bound} {}", counted(count, what));
    let message = ["must have ", &expected, ", and is ", found].concat();
    (keyword, expected, message)
}

/// "1 item", "2 items".
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn missing(name: &str, types: Types) -> (&'static str, String, String) {
    let kind = if types.contains(Types::ALL) || types.is_empty() {
        String::new()
    } else {
        [" (", &types.describe(), ")"].concat()
    };
    let expected = format!("the key {name:?}");
    let message = [&expected, &*kind, " is missing and must be given"].concat();
    ("required", expected, message)
}

fn unknown(name: &str, properties: &[Property], seen: &Seen) -> (&'static str, String, String) {
    let names = || properties.iter().map(|property| &*property.name);
    let absent = names().enumerate().filter(|(at, _)| !seen.contains(*at)).map(|(_, name)| name);
    let quoted = excerpt_of_text(name);
    let message = if properties.is_empty() {
        ["the key ", &quoted, " is not allowed: this object takes no keys; leave it out"].concat()
    } else if let Some(close) = nearest(name, absent).first() {
        format!("the key {quoted} is not allowed; did you mean {close:?}?")
    } else {
        let allowed = list(names());
        ["the key ", &quoted, " is not allowed; leave it out (allowed: ", &allowed, ")"].concat()
    };
    ("additionalProperties", "only declared keys".to_owned(), message)
}

/// A variant named in the form of another is the likeliest mistake, and told apart.
fn variant(
    Variants { plain, keys }: &Variants<'_>,
    slip: Option<&Slip<'_>>,
    found: &str,
) -> (&'static str, String, String) {
    let plain_names = list(plain.iter().map(|name| in_quotes(name)));
    let key_names = list(keys.iter().map(|key| in_quotes(key)));
    let objects = ["an object with exactly one key, ", one_of(keys.len()), &key_names].concat();
    let expected = [one_of(plain.len()), &plain_names, ", or ", &objects].concat();
    let message = match slip {
        Some(Slip::LacksContent(name)) => {
            format!("{0} needs a value: send an object with {0} as its one key", in_quotes(name))
        }
        Some(Slip::HasContent(name)) => format!("{0} takes no value: send the string {0} alone", in_quotes(name)),
        None => ["must be ", &expected, ", not ", found].concat(),
    };
    ("oneOf", expected, message)
}

fn one_of(count: usize) -> &'static str {
    if count == 1 { "" } else { "one of " }
}

fn list<I: AsRef<str>>(items: impl ExactSizeIterator<Item = I>) -> String {
    let more = items.len().saturating_sub(LISTED);
    let mut text = String::with_capacity(64);
    for (at, item) in items.take(LISTED).enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(item.as_ref());
    }
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
