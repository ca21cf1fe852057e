//! A type that is no kit, and a tool in place of one.

use haft::toolkit::Toolkit;
use haft::{compose, tool};

#[tool]
fn search() {}

fn main() {
    let _kit: Toolkit = compose![Search];
}
