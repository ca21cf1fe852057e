//! More than one context.

use haft::{Cx, tool};

#[tool]
fn ids(a: &Cx, b: &haft::Cx) -> String {
    format!("{}{}", a.call_id(), b.call_id())
}

fn main() {}
