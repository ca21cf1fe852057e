//! Settings of a handler on tools that have none.

use haft::tool;

#[tool(signal, emits = u8, blocking, args = 3)]
struct Escalate {
    #[schemars(length(min = 1))]
    reason: String,
}

#[tool(interaction, refine = checked, to_model = shown)]
struct AskUser {
    question: String,
}

#[tool(provider = "vendor.search", refine = checked, concurrency = 2)]
struct Search;

fn main() {}
