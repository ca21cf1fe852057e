//! A blocking function that returns a stream.

use haft::{Outputs, tool};

#[tool(blocking)]
fn count() -> Outputs<u8> {
    loop {}
}

fn main() {}
