//! The context by value, or mutable.

use haft::tool;
use haft::tool::Cx;

#[tool]
fn first(cx: Cx) -> String {
    cx.call_id().to_string()
}

#[tool]
fn second(cx: &mut Cx) -> String {
    cx.call_id().to_string()
}

fn main() {}
