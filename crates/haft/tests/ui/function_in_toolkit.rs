//! The function in place of its type.

use haft::{tool, toolkit};
use haft::toolkit::Toolkit;

#[tool]
fn get_weather() {}

fn main() {
    let _kit: Toolkit = toolkit![get_weather];
}
