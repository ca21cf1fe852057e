//! A tool of a provider without its settings.

use haft::toolkit::Toolkit;
use haft::{tool, toolkit};

#[tool(provider = "vendor.search")]
struct Search {
    region: String,
}

fn main() {
    let _kit: Toolkit = toolkit![Search];
}
