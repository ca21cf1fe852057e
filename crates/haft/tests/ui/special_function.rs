//! Functions with qualifiers that a tool can't have.

use haft::tool;

#[tool]
const fn first() {}

#[tool]
unsafe fn second() {}

#[tool]
extern "C" fn third() {}

#[tool]
struct Fourth;

fn main() {}
