//! Functions that are more than plain ones.

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
