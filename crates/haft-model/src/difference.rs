//! The first difference between two JSON values.
//!
//! Scripted and recorded models compare the request that they receive with the one that they expect, and must report
//! the difference so that it is found in a long conversation: the first location, as a JSON Pointer, with both values
//! cut to a readable length. The order of keys is ignored, and numbers are compared by value: `1` equals `1.0`.

use std::fmt;

use serde_json::{Map, Number, Value};

/// The extent to which a value must equal the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The whole value.
    Whole,
    /// The members of the expected value: an object may have further keys. Lists must have the expected length.
    Part,
}

/// A location that a comparison ignores: a JSON Pointer in which `*` matches any key or index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IgnoredPath(Vec<String>);

/// The first difference between two values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    pointer: String,
    expected: Option<Value>,
    found: Option<Value>,
}

/// Returns the first location at which `found` differs from `expected`; `None` if there is none.
pub(crate) fn difference(
    expected: &Value,
    found: &Value,
    extent: Extent,
    ignored: &[IgnoredPath],
) -> Option<Difference> {
    Comparison { extent, ignored, path: Vec::new() }.compare(Some(expected), Some(found))
}

/// Returns at most `most` characters of a text from the byte `start`, with an ellipsis where text is left out.
pub(crate) fn excerpt(text: &str, start: usize, most: usize) -> String {
    let rest = text.get(start..).unwrap_or(text);
    let before = if start > 0 { "…" } else { "" };
    match rest.char_indices().nth(most) {
        Some((end, _)) => format!("{before}{}…", &rest[..end]),
        None => format!("{before}{rest}"),
    }
}

/// The maximum number of characters of a value in a message.
pub(crate) const MOST_SHOWN: usize = 160;

/// The number of equal characters in a message before the first difference.
const LEAD: usize = 30;

impl IgnoredPath {
    /// Reads a pointer. The leading slash is optional.
    pub(crate) fn new(pointer: &str) -> Self {
        let segments = pointer.strip_prefix('/').or(Some(pointer).filter(|pointer| !pointer.is_empty()));
        let unescape = |segment: &str| segment.replace("~1", "/").replace("~0", "~");
        Self(segments.map(|segments| segments.split('/').map(unescape).collect()).unwrap_or_default())
    }

    fn is_at(&self, path: &[String]) -> bool {
        let same = |(pattern, segment): (&String, &String)| pattern == "*" || pattern == segment;
        self.0.len() == path.len() && self.0.iter().zip(path).all(same)
    }
}

impl Difference {
    /// Prefixes the location, for values that are members of larger ones.
    pub(crate) fn inside(mut self, pointer: &str) -> Self {
        self.pointer.insert_str(0, pointer);
        self
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
        let (expected, found) = (text(&self.expected), text(&self.found));
        let start = start_of(&expected, &found);
        let location = if self.pointer.is_empty() { "the root" } else { &self.pointer };
        let (expected, found) = (excerpt(&expected, start, MOST_SHOWN), excerpt(&found, start, MOST_SHOWN));
        write!(f, "at {location} expected {expected}, found {found}")
    }
}

/// A comparison in progress.
struct Comparison<'c> {
    extent: Extent,
    ignored: &'c [IgnoredPath],
    path: Vec<String>,
}

impl Comparison<'_> {
    fn compare(&mut self, expected: Option<&Value>, found: Option<&Value>) -> Option<Difference> {
        if self.ignored.iter().any(|ignored| ignored.is_at(&self.path)) {
            return None;
        }
        match (expected, found) {
            (Some(Value::Object(expected)), Some(Value::Object(found))) => self.compare_objects(expected, found),
            (Some(Value::Array(expected)), Some(Value::Array(found))) => self.compare_lists(expected, found),
            (Some(Value::Number(a)), Some(Value::Number(b))) if same_number(a, b) => None,
            (expected, found) if expected == found => None,
            (expected, found) => Some(Difference {
                pointer: self.path.iter().flat_map(|segment| ["/".to_owned(), escape(segment)]).collect(),
                expected: expected.cloned(),
                found: found.cloned(),
            }),
        }
    }

    fn compare_objects(&mut self, expected: &Map<String, Value>, found: &Map<String, Value>) -> Option<Difference> {
        let of_expected = expected.iter().map(|(key, value)| (key, Some(value), found.get(key)));
        let extra = found.iter().filter(|(key, _)| self.extent == Extent::Whole && !expected.contains_key(*key));
        let of_found = extra.map(|(key, value)| (key, None, Some(value)));
        let members: Vec<_> = of_expected.chain(of_found).collect();
        members.into_iter().find_map(|(key, expected, found)| self.at(key.clone(), expected, found))
    }

    fn compare_lists(&mut self, expected: &[Value], found: &[Value]) -> Option<Difference> {
        let longest = expected.len().max(found.len());
        (0..longest).find_map(|index| self.at(index.to_string(), expected.get(index), found.get(index)))
    }

    fn at(&mut self, segment: String, expected: Option<&Value>, found: Option<&Value>) -> Option<Difference> {
        self.path.push(segment);
        let difference = self.compare(expected, found);
        self.path.pop();
        difference
    }
}

/// Compares integers by their digits and other numbers as floats.
fn same_number(a: &Number, b: &Number) -> bool {
    let is_integer = |number: &Number| number.is_i64() || number.is_u64();
    if is_integer(a) && is_integer(b) { a == b } else { a.as_f64() == b.as_f64() }
}

fn escape(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

/// Returns the byte from which two texts are quoted: shortly before the first difference.
fn start_of(a: &str, b: &str) -> usize {
    let shared: Vec<usize> =
        a.char_indices().zip(b.chars()).take_while(|((_, a), b)| a == b).map(|((at, _), _)| at).collect();
    shared.len().checked_sub(LEAD).and_then(|lead| shared.get(lead)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn whole(expected: &Value, found: &Value) -> Option<String> {
        difference(expected, found, Extent::Whole, &[]).map(|difference| difference.to_string())
    }

    fn part(expected: &Value, found: &Value) -> Option<String> {
        difference(expected, found, Extent::Part, &[]).map(|difference| difference.to_string())
    }

    #[test]
    fn the_order_of_keys_and_the_notation_of_numbers_are_ignored() {
        let expected: Value = serde_json::from_str(r#"{"a": 1, "b": [2.0, 3e0]}"#).unwrap();
        let found: Value = serde_json::from_str(r#"{"b": [2, 3], "a": 1.0}"#).unwrap();
        assert_eq!(whole(&expected, &found), None);
        assert_eq!(
            whole(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)).unwrap(),
            "at the root expected 9007199254740993, found 9007199254740992"
        );
    }

    #[test]
    fn the_first_difference_is_reported_with_both_values() {
        let expected = json!({"a/b": [{"~": 1}, {"c": "x"}], "z": 1});
        let found = json!({"a/b": [{"~": 2}, {"c": "y"}], "z": 2});
        assert_eq!(whole(&expected, &found).unwrap(), "at /a~1b/0/~0 expected 1, found 2");
    }

    #[test]
    fn a_missing_or_extra_member_is_nothing_on_the_other_side() {
        assert_eq!(whole(&json!({"a": 1}), &json!({})).unwrap(), "at /a expected 1, found nothing");
        assert_eq!(whole(&json!({}), &json!({"a": null})).unwrap(), "at /a expected nothing, found null");
        assert_eq!(whole(&json!([1]), &json!([1, 2])).unwrap(), "at /1 expected nothing, found 2");
        assert_eq!(whole(&json!([1, 2]), &json!([1])).unwrap(), "at /1 expected 2, found nothing");
    }

    #[test]
    fn a_part_may_have_more_keys_but_not_more_elements() {
        let found = json!({"a": [{"b": 1, "c": 2}], "d": 3});
        assert_eq!(part(&json!({"a": [{"b": 1}]}), &found), None);
        assert_eq!(part(&json!({"a": [{"b": 2}]}), &found).unwrap(), "at /a/0/b expected 2, found 1");
        assert_eq!(part(&json!({"a": []}), &found).unwrap(), r#"at /a/0 expected nothing, found {"b":1,"c":2}"#);
        assert_eq!(part(&json!({"e": null}), &found).unwrap(), "at /e expected null, found nothing");
    }

    #[test]
    fn locations_can_be_ignored() {
        let (expected, found) = (json!({"a": [{"id": 1}, {"id": 2}], "b": 1}), json!({"a": [{"id": 3}], "c": 2}));
        let except = |pointers: &[&str]| {
            let ignored: Vec<_> = pointers.iter().map(|pointer| IgnoredPath::new(pointer)).collect();
            difference(&expected, &found, Extent::Whole, &ignored).map(|difference| difference.pointer)
        };
        assert_eq!(except(&[]).unwrap(), "/a/0/id");
        assert_eq!(except(&["/a/0"]).unwrap(), "/a/1");
        assert_eq!(except(&["/a/*/id"]).unwrap(), "/a/1");
        assert_eq!(except(&["/a/*", "b"]).unwrap(), "/c");
        assert_eq!(except(&["/a", "/b", "/c"]), None);
        assert_eq!(except(&["/a/0/id/deeper"]).unwrap(), "/a/0/id");
        assert_eq!(except(&[""]), None);
    }

    #[test]
    fn long_values_are_quoted_at_their_difference() {
        let long = "€".repeat(1_000);
        let text = whole(&json!(format!("{long}a{long}")), &json!(format!("{long}b"))).unwrap();
        assert!(text.contains("€a€") && text.contains("€b\""), "{text}");
        assert!(text.chars().count() < 2 * MOST_SHOWN + 100, "{text}");
    }
}
