//! More than one context.

use haft::tool;
use haft::tool::Cx;

#[tool]
fn ids(a: &Cx, b: &haft::tool::Cx) -> String {
    format!("{}{}", a.call_id(), b.call_id())
}

fn main() {}
