//! `json_query`.
//!
//! It accepts only paths whose work is in proportion to the document; see [`crate::json_path`].

mod location;
mod path;

use haft_executor::{Cx, DefinitionError, Tool};
use haft_schema::secure_json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::location::locations;
use self::path::QueryPath;
use super::annotate::pure;
use super::failure::StandardFailure;

/// The most characters in all returned values, as JSON.
const MAX_RESULT: usize = 200_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JsonQueryParams {
    /// The JSON document, as text.
    #[schemars(length(min = 1, max = 1_000_000))]
    json: String,
    /// A JSONPath, which begins with $, or a JSON Pointer, which is empty or begins with /.
    #[schemars(length(max = 500))]
    path: String,
    /// The maximum number of values.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    max_matches: usize,
}

fn default_limit() -> usize {
    100
}

/// The values that a path selects.
#[derive(Debug, Serialize, JsonSchema)]
struct JsonMatches {
    /// The number of all selected values.
    total: usize,
    /// The first of them.
    matches: Vec<JsonMatch>,
    /// True if there are more values than are returned.
    truncated: bool,
}

/// A selected value.
#[derive(Debug, Serialize, JsonSchema)]
struct JsonMatch {
    /// The JSON Pointer of the value.
    pointer: String,
    /// The value.
    value: Value,
}

/// Creates the tool.
pub(super) fn tool() -> Result<Tool, DefinitionError> {
    pure(Tool::new("json_query"))
        .title("Query JSON")
        .describe(
            "Selects values of a JSON document by a JSONPath (RFC 9535) such as $.store.book[?@.price < 10].title, \
             $..author, $.items[0:5] or $['a b'][*], or by a JSON Pointer such as /store/book/0. Returns each value \
             with its JSON Pointer. Filters compare members of the current value (@.a.b, @[0]) with literals by == != < \
             <= > >= && || !, and know length(), count() and value(). At most one .. per path, no .. or $ inside of \
             filters, and no match() and search(). Up to 1,000,000 characters of JSON.",
        )
        .example(json!({"json": "{\"items\": [{\"id\": 1, \"ok\": true}, {\"id\": 2}]}", "path": "$.items[?@.ok == true].id"}))
        .example(json!({"json": "[{\"a\": 1}]", "path": "/0/a"}))
        .try_blocking_handler(|params: JsonQueryParams, _cx: Cx| query(&params))
}

fn query(params: &JsonQueryParams) -> Result<JsonMatches, StandardFailure> {
    let path = QueryPath::parse(&params.path)?;
    let document = secure_json::parse(&params.json)
        .map_err(|issues| StandardFailure::new("invalid_json", format!("the document is invalid: {issues}")))?;
    let selected = path.select(&document)?;
    let total = selected.len();
    let first = &selected[..total.min(params.max_matches)];
    let mut matches = Vec::new();
    let mut size = 0;
    for (pointer, value) in locations(&document, first).into_iter().zip(first) {
        size += value.to_string().len() + pointer.len();
        if size > MAX_RESULT {
            break;
        }
        matches.push(JsonMatch { pointer, value: (*value).clone() });
    }
    if matches.is_empty() && total > 0 {
        let message = format!("the first value has more than {MAX_RESULT} characters; select parts of it");
        return Err(StandardFailure::new("result_too_large", message));
    }
    Ok(JsonMatches { total, truncated: matches.len() < total, matches })
}
