//! A result that borrows.

use haft::tool;

struct ApiKey(String);

#[tool]
fn key(#[service] key: &ApiKey) -> &str {
    &key.0
}

fn main() {}
