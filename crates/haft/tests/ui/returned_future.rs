//! A function that returns a future in place of being `async`.

use std::pin::Pin;

use haft::tool;

#[tool]
fn wait() -> Pin<Box<dyn Future<Output = u8> + Send>> {
    Box::pin(async { 1 })
}

fn main() {}
