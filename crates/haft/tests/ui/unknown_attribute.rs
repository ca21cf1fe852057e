//! Arguments and attributes that do not exist.

use haft::tool;

#[tool(read_only, colour = "red")]
fn get_weather(#[validate(range(min = 1))] days: u8, #[services] key: &u8) -> u8 {
    days + key
}

fn main() {}
