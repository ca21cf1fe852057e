//! A type that is no tool, in a toolkit.

use haft::{Toolkit, toolkit};

struct Weather;

fn main() {
    let _kit: Toolkit = toolkit![Weather];
}
