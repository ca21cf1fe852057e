//! Problems in words: one sentence each, for a model to act on.

use serde_json::Value;

use super::document::Instance;
use super::keyword::union::{Slip, Variants};
use super::node::Property;
use super::problem::Problem;
use super::seen::Seen;
use super::types::{JsonType, Types};
use crate::issue::{CharBoundary, Issue};
use crate::nearest::nearest;

/// The longest piece of a value that is quoted, in bytes.
const EXCERPT: usize = 60;
/// The number of names or literals that are listed.
const LISTED: usize = 12;

/// A value as far as words need it.
pub(super) struct Found {
    json_type: JsonType,
    excerpt: String,
}

impl Found {
    pub(super) fn of(value: Instance<'_>) -> Self {
        let excerpt = match value.kind() {
            JsonType::String => excerpt_of_text(&value.string().unwrap_or_default()),
            JsonType::Array => excerpt_of_array(value.len()),
            JsonType::Object => excerpt_of_object(value.len()),
            JsonType::Null | JsonType::Boolean | JsonType::Number => shortened(value.raw()),
        };
        Self { json_type: value.kind(), excerpt }
    }
}

/// Returns the issue for a problem of what was found at a place.
pub(super) fn issue(problem: &Problem<'_>, found: Found, pointer: String) -> Issue {
    let (keyword, expected, message) = words(problem, &found);
    let (expected, message) = (cut(expected), cut(message));
    Issue { pointer, keyword: keyword.into(), expected, found: found.excerpt, message }
}

/// Returns the issue that stands for those beyond the ones that are listed.
pub(super) fn too_many(listed: usize) -> Issue {
    Issue::new("", "maxIssues", format!("there are more problems than the {listed} that are listed"))
}

/// Returns the issue for a check that was given up.
pub(super) fn too_costly() -> Issue {
    let message = "checking this value takes more work than its size allows; send a smaller or simpler value";
    Issue::new("", "budget", message).expected("a value that can be checked")
}

/// The longest text of an issue, in bytes: patterns and literals may be as long as their schema.
const LONGEST: usize = 1_024;

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary_at(LONGEST));
        text.push('…');
    }
    text
}

fn shortened(text: &str) -> String {
    if text.len() <= EXCERPT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary_at(EXCERPT)])
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
pub(super) fn in_quotes(text: &str) -> String {
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
        Problem::Is { keyword, expected } => {
            let message = ["must be ", expected, ", and is ", found].concat();
            (keyword, expected.to_string(), message)
        }
        Problem::OneOf { keyword, literals } => {
            let expected = list(literals.iter());
            let message = ["must be ", one_of(literals.len()), &expected, ", not ", found].concat();
            (keyword, expected, message)
        }
        Problem::Length { keyword, bound, count, length } => {
            let expected = format!("{bound} {}", counted(*count, "character"));
            let message = format!("must have {expected}, and has {length}");
            (keyword, expected, message)
        }
        Problem::Pattern(pattern) => {
            ("pattern", (*pattern).to_owned(), format!("must match the pattern {pattern}, and {found} does not"))
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
        Problem::NoBranch { keyword, count } => (
            keyword,
            format!("one of {count} forms"),
            format!("fits none of the {count} forms that are allowed here; look at the schema of this value"),
        ),
        Problem::SeveralBranches => (
            "oneOf",
            "exactly one form".to_owned(),
            "fits several of the forms that are allowed here, and must fit exactly one".to_owned(),
        ),
        Problem::Said { keyword, expected, message } => (keyword, expected.clone(), message.clone()),
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
