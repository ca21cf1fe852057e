//! The texts of problems: one sentence each, for a model to act on.

use serde_json::Value;

use super::document::Instance;
use super::keyword::union::{VariantFormMismatch, Variants};
use super::node::Property;
use super::problem::{AllowedValues, CustomProblem, Problem};
use super::types::{JsonType, Types};
use crate::issue::{CharBoundary, Issue};

/// The longest excerpt of a value, in bytes.
const EXCERPT: usize = 60;

/// The parts of a value that its description needs.
pub(super) struct DescribedValue {
    json_type: JsonType,
    excerpt: String,
}

impl DescribedValue {
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

/// Returns the issue for a problem of the value at `pointer`.
pub(super) fn issue(problem: &Problem<'_>, found: DescribedValue, pointer: String) -> Issue {
    let (keyword, expected, message) = words(problem, &found);
    let (expected, message) = (cut(expected), cut(message));
    Issue { pointer, keyword: keyword.into(), expected, found: found.excerpt, message }
}

/// Returns the issue that stands for those beyond the limit of the list.
pub(super) fn too_many(listed: usize) -> Issue {
    Issue::new("", "maxIssues", format!("there are more problems than the {listed} that are listed"))
}

/// Returns the issue for a check that ran out of budget.
///
/// If even a short value exceeds the budget, the schema is at fault, and no other value helps.
pub(super) fn too_costly(bytes: usize) -> Issue {
    const SHORT: usize = 4_096;
    let message = if bytes > SHORT {
        "checking this value takes more work than its size allows; send a smaller or simpler value"
    } else {
        "the schema takes more work to check this value than its size allows; this is a fault of the schema"
    };
    Issue::new("", "budget", message).expected("a value that can be checked")
}

/// The longest text of an issue, in bytes: patterns and literals may be as long as their schema.
const LONGEST: usize = 1_024;

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary_at(LONGEST));
        text.push('…');
        // A rejection may contain many issues.
        text.shrink_to_fit();
    }
    text
}

/// Returns the part of a text that an issue may contain, so that no more than that is copied.
pub(super) fn clipped(part: &str) -> &str {
    &part[..part.floor_char_boundary_at(LONGEST.min(part.len()))]
}

fn shortened(text: &str) -> String {
    if text.len() <= EXCERPT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary_at(EXCERPT)])
}

/// Returns an excerpt of a value: strings in quotes, arrays and objects by their size.
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

/// Returns a string in quotes, truncated to an excerpt.
pub(super) fn excerpt_of_text(text: &str) -> String {
    if text.len() > EXCERPT {
        return format!("{}…", in_quotes(&text[..text.floor_char_boundary_at(EXCERPT)]));
    }
    in_quotes(text)
}

/// Returns a string as JSON, truncated to what an issue may contain.
pub(super) fn in_quotes(text: &str) -> String {
    let text = clipped(text);
    if text.bytes().any(|byte| matches!(byte, b'"' | b'\\') || byte < b' ') {
        return Value::from(text).to_string();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    quoted.push_str(text);
    quoted.push('"');
    quoted
}

/// The keyword of an issue about an integer that would have to be rounded.
pub const INEXACT: &str = "exact";

/// Returns the issue for an integer that cannot be read without rounding.
pub(super) fn inexact(pointer: String, integer: &str) -> Issue {
    const LONGEST: usize = 60;
    let (shown, rest) = integer.split_at(integer.floor_char_boundary_at(LONGEST));
    let more = if rest.is_empty() { "" } else { "…" };
    let message = format!("the integer {shown}{more} is beyond 64 bits and can't be read exactly; send a smaller one");
    Issue::new(pointer, INEXACT, message).expected("an integer of at most 64 bits").found(format!("{shown}{more}"))
}

fn words(problem: &Problem<'_>, found: &DescribedValue) -> (&'static str, String, String) {
    let DescribedValue { json_type, excerpt: found } = found;
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
        Problem::OneOf { keyword, listed, count } => {
            let message = ["must be ", one_of(*count), listed, ", not ", found].concat();
            (keyword, listed.to_string(), message)
        }
        Problem::Length { keyword, bound, count, length } => {
            let expected = format!("{bound} {}", counted(*count, "character"));
            let message = format!("must have {expected}, and has {length}");
            (keyword, expected, message)
        }
        Problem::Pattern(pattern) => {
            let pattern = clipped(pattern);
            ("pattern", pattern.to_owned(), format!("must match the pattern {pattern}, and {found} does not"))
        }
        Problem::TooFewItems(min) => size("minItems", "at least", *min, "item", found),
        Problem::TooManyItems(max) => size("maxItems", "at most", *max, "item", found),
        Problem::NotUnique => {
            ("uniqueItems", "different items".to_owned(), "must not contain the same item twice".to_owned())
        }
        Problem::Missing(name, types) => missing(name, *types),
        Problem::Unknown(name, properties, nearest) => unknown(name, properties, *nearest),
        Problem::Tag(names) => {
            let expected = listed(names);
            let message = ["must be ", one_of(names.count), &expected, ", not ", found].concat();
            ("enum", expected, message)
        }
        Problem::Keys(keys) => {
            let expected = list(keys.iter().map(|key| format!("{:?}", clipped(key))));
            let message = format!("must have exactly one key, which is {}{expected}", one_of(keys.len()));
            ("oneOf", expected, message)
        }
        Problem::Variant(variants, form_mismatch) => variant(variants, form_mismatch.as_ref(), found),
        Problem::TooFewKeys(min) => size("minProperties", "at least", *min, "key", found),
        Problem::TooManyKeys(max) => size("maxProperties", "at most", *max, "key", found),
        Problem::NoBranch { keyword, count } => (
            keyword,
            format!("one of {count} forms"),
            format!("matches none of the {count} forms that are allowed here; look at the schema of this value"),
        ),
        Problem::SeveralBranches => (
            "oneOf",
            "exactly one form".to_owned(),
            "matches several of the forms that are allowed here, and must match exactly one".to_owned(),
        ),
        Problem::Custom { keyword, words } => {
            let CustomProblem { expected, message } = words();
            (keyword, expected, message)
        }
    }
}

fn size(keyword: &'static str, bound: &str, count: usize, what: &str, found: &str) -> (&'static str, String, String) {
    let expected = format!("{bound} {}", counted(count, what));
    let message = ["must have ", &expected, ", and is ", found].concat();
    (keyword, expected, message)
}

/// Returns a count with its unit: "1 item", "2 items".
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
    let expected = format!("the key {:?}", clipped(name));
    let message = [&expected, &*kind, " is missing and must be given"].concat();
    ("required", expected, message)
}

fn unknown(name: &str, properties: &[Property], nearest: Option<&str>) -> (&'static str, String, String) {
    let names = properties.iter().map(|property| clipped(&property.name));
    let quoted = excerpt_of_text(name);
    let message = if properties.is_empty() {
        ["the key ", &quoted, " is not allowed: this object takes no keys; leave it out"].concat()
    } else if let Some(close) = nearest {
        format!("the key {quoted} is not allowed; did you mean {close:?}?")
    } else {
        let allowed = list(names);
        ["the key ", &quoted, " is not allowed; leave it out (allowed: ", &allowed, ")"].concat()
    };
    ("additionalProperties", "only declared keys".to_owned(), message)
}

/// Returns the text for a value that is no variant. A variant written in the form of another is the most likely
/// mistake, and has a text of its own.
fn variant(
    Variants { plain, keys }: &Variants<'_>,
    form_mismatch: Option<&VariantFormMismatch<'_>>,
    found: &str,
) -> (&'static str, String, String) {
    let (plain_names, key_names) = (listed(plain), listed(keys));
    let objects = ["an object with exactly one key, ", one_of(keys.count), &key_names].concat();
    let expected = [one_of(plain.count), &plain_names, ", or ", &objects].concat();
    let message = match form_mismatch {
        Some(VariantFormMismatch::LacksContent(name)) => {
            format!("{0} needs a value: send an object with {0} as its one key", in_quotes(name))
        }
        Some(VariantFormMismatch::HasContent(name)) => {
            format!("{0} takes no value: send the string {0} alone", in_quotes(name))
        }
        None => ["must be ", &expected, ", not ", found].concat(),
    };
    ("oneOf", expected, message)
}

fn one_of(count: usize) -> &'static str {
    if count == 1 { "" } else { "one of " }
}

/// Returns a list of values in words: the first few, and the number of the others.
pub(super) fn listed(AllowedValues { first, count }: &AllowedValues<'_>) -> String {
    list_of(first.iter(), *count)
}

fn list<I: AsRef<str>>(items: impl ExactSizeIterator<Item = I>) -> String {
    let count = items.len();
    list_of(items, count)
}

/// Lists the first few of `count` items.
fn list_of<I: AsRef<str>>(items: impl Iterator<Item = I>, count: usize) -> String {
    let more = count.saturating_sub(AllowedValues::MOST);
    let mut text = String::with_capacity(64);
    for (at, item) in items.take(AllowedValues::MOST).enumerate() {
        if text.len() > LONGEST {
            return text;
        }
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
