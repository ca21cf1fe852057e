//! A blocking function that returns a stream.

use haft::tool;
use haft::tool::Outputs;

#[tool(blocking)]
fn count() -> Outputs<u8> {
    loop {}
}

fn main() {}
