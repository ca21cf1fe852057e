//! Services that are not borrowed.

use haft::tool;

struct ApiKey(String);

#[tool]
fn first(#[service] key: ApiKey) -> usize {
    key.0.len()
}

#[tool]
fn second(#[service] key: &mut ApiKey) -> usize {
    key.0.len()
}

fn main() {}
