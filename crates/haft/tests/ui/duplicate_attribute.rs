//! An argument given twice.

use haft::tool;

#[tool(name = "a", readonly, name = "b")]
fn get_weather() {}

fn main() {}
