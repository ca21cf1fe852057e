//! A function inside an `impl` block without a receiver.

use haft::tool;

struct Station;

impl Station {
    #[tool]
    fn measure(days: u8) -> u8 {
        days
    }
}

fn main() {}
