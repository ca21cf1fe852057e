//! A type that is no tool, in a toolkit.

use haft::toolkit;
use haft::toolkit::Toolkit;

struct Weather;

fn main() {
    let _kit: Toolkit = toolkit![Weather];
}
