//! A struct that says nothing of its kind, and one with settings of a handler.

use haft::tool;

#[tool]
struct Escalate {
    reason: String,
}

#[tool(signal, timeout = "5s", success = String)]
struct Done;

#[tool(provider = "vendor.search", approval = "always")]
#[derive(serde::Serialize)]
struct Search<T> {
    region: T,
}

fn main() {}
