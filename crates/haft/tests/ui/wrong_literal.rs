//! Values of the wrong kind.

use haft::tool;

#[tool(
    name = 7,
    timeout = "soon",
    readonly = "yes",
    concurrency = "alone",
    emit_buffer = 0,
    failure_mode = "panic",
    approval = 3,
    overflow = "truncate"
)]
fn get_weather() {}

#[tool(name = "")]
fn nameless() {}

#[tool(output_cap = 3 - 3)]
fn capped() {}

fn main() {}
