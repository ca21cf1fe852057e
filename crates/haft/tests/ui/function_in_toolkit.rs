//! The function in place of its type.

use haft::{Toolkit, tool, toolkit};

#[tool]
fn get_weather() {}

fn main() {
    let _kit: Toolkit = toolkit![get_weather];
}
