//! Tools of different kinds with one name.

use haft::toolkit::Toolkit;
use haft::{tool, toolkit};

#[tool]
fn escalate() {}

/// Hand over to a person.
#[tool(signal, name = "escalate")]
struct HandOver {
    reason: String,
}

#[tool(provider = "vendor.escalate_2025", name = "escalate")]
struct Hosted {
    region: String,
}

fn main() {
    let _kit: Toolkit = toolkit![Escalate, HandOver, Hosted { region: "eu".to_owned() }];
}
