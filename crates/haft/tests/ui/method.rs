//! Methods.

use haft::tool;

struct Station;

impl Station {
    #[tool]
    fn measure(&self, days: u8) -> u8 {
        days
    }

    #[tool]
    fn build(days: u8) -> Self {
        let _ = days;
        Station
    }
}

fn main() {}
