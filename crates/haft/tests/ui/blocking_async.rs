//! `blocking` on a function that is `async`.

use haft::tool;

#[tool(blocking)]
async fn wait() {}

fn main() {}
