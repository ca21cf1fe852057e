//! Parameters without a name.

use haft::tool;

#[tool]
fn distance((x, y): (i32, i32), _: u8) -> i32 {
    x - y
}

fn main() {}
