//! A `Result` whose error is neither a failure nor an error.

use haft::tool;

struct Broken;

#[tool]
fn get_weather() -> Result<u8, Broken> {
    Err(Broken)
}

fn main() {}
