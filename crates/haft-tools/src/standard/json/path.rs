//! Paths: a JSONPath or a JSON Pointer.

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::json_path::{JsonPathError, cheap_path};
use crate::standard::failure::StandardFailure;

/// A path that is cheap to evaluate.
#[derive(Debug)]
pub(super) enum QueryPath {
    Pointer(String),
    Path(JsonPath),
}

impl QueryPath {
    /// Reads a JSON Pointer or a JSONPath.
    pub(super) fn parse(text: &str) -> Result<Self, StandardFailure> {
        if text.is_empty() || text.starts_with('/') {
            return Ok(Self::Pointer(text.to_owned()));
        }
        if !text.starts_with('$') {
            let message = "the path must begin with $ (JSONPath) or / (JSON Pointer)";
            return Err(StandardFailure::new("invalid_path", message).at(1));
        }
        let path = cheap_path(text).map_err(|error| {
            let (reason, position) = match error {
                JsonPathError::Invalid { position, .. } => ("invalid_path", position),
                JsonPathError::TooComplex { position, .. } => ("path_too_complex", position),
            };
            StandardFailure::new(reason, error.to_string()).at(position)
        })?;
        Ok(Self::Path(path))
    }

    /// Selects a document's values.
    pub(super) fn select<'d>(&self, document: &'d Value) -> Result<Vec<&'d Value>, StandardFailure> {
        match self {
            Self::Path(path) => Ok(path.query(document).all()),
            Self::Pointer(pointer) => match document.pointer(pointer) {
                Some(value) => Ok(vec![value]),
                None => Err(StandardFailure::new("not_found", "there is no value at this JSON Pointer")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use haft_executor::Failure;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::json_path::MAX_MULTIPLICITY;

    #[test]
    fn ordinary_paths_are_accepted() {
        for path in [
            "$",
            "$.a.b[0]",
            "$..a[*]",
            "$['a..b..c', \"$?*\"]",
            "$.a[0,1,2,3,4,5,6,7]",
            "$.a[?@.b == 'x' && (@.c > 1 || !@.d)].e",
            "$[?length(@.name) > 3]",
            "$[?count(@.*) > 1]",
            "$.a[1:10:2]",
        ] {
            assert!(QueryPath::parse(path).is_ok(), "{path}: {:?}", QueryPath::parse(path));
        }
    }

    #[test]
    fn paths_that_multiply_work_are_rejected() {
        for (path, problem) in [
            ("$..a..b", "only one `..`"),
            ("$..*..*", "only one `..`"),
            (&*format!("${}", "[*,*]".repeat(7)), "too many selectors"),
            ("$[?@..a]", "inside of a filter"),
            ("$[?$.a == 1]", "inside of a filter"),
            ("$[?@[?@.a]]", "inside of a filter"),
            ("$[?match(@.a, 'x')]", "match()"),
            ("$[?search (@.a, 'x')]", "invalid"),
            ("$[?@[*][*][*]]", "too many `*`"),
            (&*format!("$[?{}@.a{}]", "(".repeat(100), ")".repeat(100)), "nested too deep"),
            (&*format!("${}", "[?@.a]".repeat(5)), "too many filters"),
            ("a.b", "must begin with"),
            ("$.", "invalid"),
            ("$['a", "invalid"),
            ("$[", "invalid"),
        ] {
            let message = QueryPath::parse(path).unwrap_err().message();
            assert!(message.contains(problem), "{path}: {message}");
        }
    }

    proptest! {
        #[test]
        fn no_path_panics_and_selection_stays_in_proportion(parts in prop::collection::vec(
            prop::sample::select(vec![
                "$", ".", "..", "a", "*", "[", "]", "[*]", "[*,*]", "[0]", "[?", "@", "@.a", "(", ")", "==", "1", "'x'", "&&",
                "'", "\\", ",", "?", "[0:2]", " ", "count(", "length(", "match(",
            ]),
            0..24,
        )) {
            let text = format!("${}", parts.concat());
            let document = json!({"a": [{"a": [1, 2, {"a": 3}]}, [[1], [2]], "x"], "b": {"a": {"a": {"a": []}}}});
            if let Ok(path) = QueryPath::parse(&text) {
                let nodes = 20;
                prop_assert!(path.select(&document).map_or(0, |found| found.len()) <= nodes * MAX_MULTIPLICITY, "{}", text);
            }
        }
    }
}
