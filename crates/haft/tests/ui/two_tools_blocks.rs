//! Two blocks of tools on one type.

use haft::tools;

struct Desk;

#[tools]
impl Desk {
    #[tool]
    fn open(&self) {}
}

#[tools]
impl Desk {
    #[tool]
    fn close(&self) {}
}

fn main() {}
